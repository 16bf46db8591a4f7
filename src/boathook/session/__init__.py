"""A host's whole session: order of moments, the stop count, tool calls from a stream, the one end."""

from boathook.session.ending import Ending, exit_on_sigterm
from boathook.session.hooks_like import HooksLike
from boathook.session.life import SessionOrderError, State
from boathook.session.session import Session
from boathook.session.toolcalls import ToolCalls

__all__ = ["Ending", "HooksLike", "Session", "SessionOrderError", "State", "ToolCalls", "exit_on_sigterm"]
