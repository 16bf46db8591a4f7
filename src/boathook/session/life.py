"""The model of a session's life: its states, and the moments that each allows."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from boathook.terms.events import NOTIFICATIONS
from boathook.terms.problem import BoathookError

if TYPE_CHECKING:
    from collections.abc import Mapping


class SessionOrderError(BoathookError, RuntimeError):
    """A moment that cannot happen at this point of any session's life."""


class State(Enum):
    """Where a session stands. A refused prompt begins no turn; a continued turn is still that turn."""

    NEW = "new"
    IDLE = "idle"
    TURN = "turn"
    ENDING = "ending"
    ENDED = "ended"


ENDING: Final = "this session is ending, and its end comes after every such moment."

BESIDE: Final = frozenset(
    {"PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"}
)
"""Lifecycle events of calls that run in parallel, so that none may wait for another's handlers."""

BEFORE_START: Final = frozenset({"SessionStart", "Notification", "input.required", "user.name.set"})
"""What may happen before the session starts: onboarding asks for a name first."""


def is_ordered(event: str) -> bool:
    """Whether the event keeps program order (S0: the awaited ones) with its likes."""
    notification = NOTIFICATIONS.get(event)
    return notification.awaited if notification else event not in BESIDE


def check_allowed(state: State, event: str, payload: Mapping[str, Any]) -> None:
    """Raise `SessionOrderError` if no host whatsoever could have this moment in this state.

    Only what is impossible is refused: a turn that failed never stops, a prompt may come
    in the middle of a turn, and agents work in the background while a session is idle.
    """
    words = _refusal(state, event, payload.get("source"))
    if words:
        raise SessionOrderError(f"{event} cannot happen now: {words}")


def _refusal(state: State, event: str, source: object) -> str | None:
    if state is State.ENDED:
        return "this session has ended. A new one needs a new Session."
    if state is State.ENDING and is_ordered(event):
        return ENDING
    if state is State.NEW and event not in BEFORE_START:
        return "this session has not started. Await start() first."
    if event == "SessionStart" and state is not State.NEW and source != "compact":
        return (
            "this session has started already. Only source 'compact' may follow; to clear or resume, "
            "end this session and start a new Session."
        )
    return None


def check_not_derived(event: str) -> None:
    """Raise `SessionOrderError` for a notification that a lifecycle event announces: it would come twice."""
    notification = NOTIFICATIONS.get(event)
    if notification and notification.derived_from:
        raise SessionOrderError(
            f"{event} is announced by {notification.derived_from}; dispatch that one alone, or it comes twice."
        )
