"""The host for LangChain agents and deepagents: one middleware."""

from boathook.hosts.langchain.dispatching import HooksLike
from boathook.hosts.langchain.middleware import HooksMiddleware
from boathook.hosts.langchain.scene import TranscriptSink
from boathook.hosts.langchain.state import HooksState, Stopped
from boathook.hosts.langchain.tool_stream import ToolStream

__all__ = ["HooksLike", "HooksMiddleware", "HooksState", "Stopped", "ToolStream", "TranscriptSink"]
