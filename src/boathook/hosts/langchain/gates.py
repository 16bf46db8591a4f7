"""Which tool calls ordinarily need a permission, and how a person is asked for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from langchain.agents.middleware.types import ToolCallRequest
from langgraph.types import interrupt

from boathook.terms.tools import wire_name

if TYPE_CHECKING:
    from langchain.agents.middleware.human_in_the_loop import DecisionType, InterruptOnConfig
    from langchain_core.messages import ToolCall

    from boathook.hosts.langchain.state import CallRecord

log = logging.getLogger("boathook")

Approval = Literal["interrupt", "deny", "allow"]
Gated = Collection[str] | Mapping[str, "bool | InterruptOnConfig"] | Callable[[ToolCallRequest], bool]

ALL_ANSWERS: Final[tuple[DecisionType, ...]] = ("approve", "edit", "reject", "respond")
HOOK_ASKS: Final = "A hook asks for your approval"
"""How the description of a request begins where a hook wanted the person to be asked."""

HINT: Final = "A PreToolUse or PermissionRequest hook can allow it."


@dataclass(frozen=True, slots=True)
class Gates:
    """What the user said needs a permission.

    `gated` holds native or wire names of tools; or, as in `interrupt_on`, a mapping from
    them; or it is a function, and a call that it fails on needs a permission.
    """

    gated: Gated

    def closed(self, request: ToolCallRequest) -> bool:
        """Whether the call needs a permission."""
        if callable(self.gated):
            return _asked(self.gated, request)
        config = self.config(request.tool_call["name"])
        when = config.get("when") if isinstance(config, Mapping) else None
        return _asked(when, request) if when else bool(config)

    def config(self, name: str) -> object:
        """Return what stands for a tool under its native or its wire name; false where nothing does."""
        if callable(self.gated):
            return False
        if isinstance(self.gated, Mapping):
            return self.gated.get(name, self.gated.get(wire_name(name), False))
        return name in self.gated or wire_name(name) in self.gated

    def answers(self, name: str) -> list[DecisionType]:
        """Return the answers that a person may give."""
        config = self.config(name)
        allowed = config.get("allowed_decisions") if isinstance(config, Mapping) else None
        return list(allowed or ALL_ANSWERS)


def _asked(predicate: Callable[[ToolCallRequest], bool], request: ToolCallRequest) -> bool:
    try:
        return bool(predicate(request))
    except Exception:
        log.exception("a predicate on %s failed, so a permission is needed", request.tool_call["name"])
        return True


def refused_for_lack_of_permission(shown: str, hint: str | None, reason: str | None) -> str:
    """Return the reason of a refusal where nobody can be asked."""
    why = f"{shown} needs a permission and nobody was asked."
    return " ".join(
        part for part in (why, f"A hook wants one: {reason}" if reason else "", hint or HINT) if part
    )


def ask(calls: Sequence[ToolCall], records: Sequence[CallRecord], gates: Gates) -> list[dict[str, Any]]:
    """Ask a person about all calls at once through LangGraph's interrupt; return one answer for each.

    The request and the answer have the shapes of LangChain's HumanInTheLoopMiddleware.
    """
    request = {
        "action_requests": [
            {"name": call["name"], "args": call["args"], "description": _description(call, record)}
            for call, record in zip(calls, records, strict=True)
        ],
        "review_configs": [
            {"action_name": call["name"], "allowed_decisions": gates.answers(call["name"])} for call in calls
        ],
    }
    answers: list[dict[str, Any]] = interrupt(request)["decisions"]
    if len(answers) != len(calls):
        raise ValueError(f"{len(answers)} decisions came for {len(calls)} tool calls that wait for one each.")
    return answers


def answered(call: ToolCall, record: CallRecord, given: dict[str, Any], gates: Gates) -> CallRecord:
    """Return the record of a call that a person has decided about. Raises `ValueError` for an answer not allowed."""
    kind = given.get("type")
    if kind not in gates.answers(call["name"]):
        allowed = ", ".join(gates.answers(call["name"]))
        raise ValueError(f"the decision {kind!r} is not allowed for {call['name']!r}; it may be: {allowed}.")
    if kind == "approve":
        return {**record, "verdict": "run"}
    if kind == "edit":
        return {**record, "verdict": "run", "edited": dict(given["edited_action"])}
    if kind == "respond":
        return {**record, "verdict": "answer", "by": "person", "reason": str(given["message"])}
    return {**record, "verdict": "refuse", "by": "person", "reason": _rejection(call, given.get("message"))}


def _rejection(call: ToolCall, message: object) -> str:
    if message:
        return f"The user rejected this call of {call['name']}: {message}"
    return (
        f"The user rejected this call of {call['name']}. It did not run; do not try it again unless they ask."
    )


def _description(call: ToolCall, record: CallRecord) -> str:
    why = f"{HOOK_ASKS}: {record['reason']}" if record["reason"] else "This needs your approval."
    return f"{why}\n\nTool: {call['name']}\nArgs: {call['args']}"
