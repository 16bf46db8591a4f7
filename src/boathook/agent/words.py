"""What a handler did, in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from boathook.terms.events import EVENTS, Block
from boathook.terms.text import excerpt
from boathook.terms.tools import wire_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.terms.outcome import Answer, Outcome

_BLOCKED: Final[Mapping[Block, str]] = {
    Block.DENY: "denied",
    Block.REFUSE: "refused",
    Block.CONTINUE: "not done yet",
    Block.FEEDBACK: "tells the model",
    Block.CONTEXT: "tells the parent",
    Block.REPORT: "cannot block here",
}
_VOTES: Final[Mapping[str, str]] = {"deny": "denied", "ask": "asks", "allow": "allowed"}


def did(event: str, outcome: Outcome) -> tuple[str, str]:
    """Return what the handler of `event` did, and its own words for it, which are not yet safe to print.

    What it says to the person is not in here: that stands in the decision's notices.
    """
    if outcome.status in ("failed", "timeout"):
        what = "timed out" if outcome.status == "timeout" else "failed"
        return what, outcome.problems[0].found if outcome.problems else outcome.stderr
    return _answered(event, outcome.answer)


def _answered(event: str, answer: Answer) -> tuple[str, str]:
    reason = answer.reason or ""
    if answer.stop:
        return "stopped everything", answer.stop_reason or ""
    if answer.permission is not None:
        return _VOTES[answer.permission], reason
    if answer.blocks and event in EVENTS:
        return _BLOCKED[EVENTS[event].block], reason
    if answer.feedback:
        return "tells the model", answer.feedback
    return ("added context", "\n".join(answer.context)) if answer.context else ("ok", "")


def subject(payload: Mapping[str, Any]) -> str:
    """Return what a moment is about, safe to print: the tool's wire name, the agent, the source, or nothing."""
    if isinstance(name := payload.get("tool_name"), str):
        return excerpt(wire_name(name), 40)
    for key in ("agent_type", "source", "reason", "trigger", "notification_type"):
        if isinstance(value := payload.get(key), str):
            return excerpt(value, 40)
    return ""


def lasting(milliseconds: float) -> str:
    """Return a duration for people: ``4 ms``, ``1.2 s``."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s"
