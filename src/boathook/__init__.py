"""Boathook: hooks for any Python agent.

Load the hooks of a session once, dispatch its moments, obey the decisions::

    hooks = Hooks.load(project=".")
    decision = await hooks.dispatch("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    if decision.permission == "deny":
        ...  # decision.reason is for the model

The way of one event: payload → match → run → answer → settle → `Decision`; read
`boathook.engine` first.
"""

from boathook.hooks import Hooks
from boathook.terms.decision import Decision
from boathook.terms.outcome import Outcome
from boathook.terms.problem import BoathookError, ConfigError, PayloadError, Problem, UnknownEventError

__all__ = [
    "BoathookError",
    "ConfigError",
    "Decision",
    "Hooks",
    "Outcome",
    "PayloadError",
    "Problem",
    "UnknownEventError",
]

__version__ = "0.1.0"
