"""The one table of events: config, matching, answers and settling all read it.

To add a lifecycle event, add one row to `EVENTS`; to add a notification, one row
to `NOTIFICATIONS`. Docs and schema are generated from, or checked against, both.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Block(Enum):
    """What exit 2, or a top-level ``decision: "block"``, means at an event."""

    DENY = "deny"  # the tool or permission is denied, the reason goes to the model
    REFUSE = "refuse"  # the prompt or the compaction does not happen
    CONTINUE = "continue"  # the turn goes on, with the reason as feedback
    FEEDBACK = "feedback"  # nothing can be undone; the reason goes to the model
    CONTEXT = "context"  # the reason becomes context for the parent, with a diagnostic
    REPORT = "report"  # nothing can be blocked here: a diagnostic

    @property
    def refuses(self) -> bool:
        """Whether blocking changes what happens next, so that `onFailure` has a meaning."""
        return self in (Block.DENY, Block.REFUSE, Block.CONTINUE)


class Verdict(Enum):
    """Where an event's answer carries its decision, beside the top-level ``decision``."""

    NONE = "none"
    TOOL = "permissionDecision"  # hookSpecificOutput.permissionDecision: allow | deny | ask | defer
    PERMISSION = "decision.behavior"  # hookSpecificOutput.decision.behavior: allow | deny


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the lifecycle table (contract section 3).

    `matched` names the payload key that a matcher is compared with; `values` is that
    key's closed vocabulary, empty where anything may stand. `keys` are the event's own
    payload keys, a trailing ``?`` marks an optional one. `timeout` is in seconds.
    `context` says whether ``additionalContext`` is used, `text` whether plain stdout is
    context. `unapplied` names fields that are recognized and checked but not applied.
    `announces` is the notification that this event stands for, see `Notification`.
    """

    name: str
    matched: str | None
    keys: tuple[str, ...]
    block: Block
    verdict: Verdict = Verdict.NONE
    values: tuple[str, ...] = ()
    timeout: float = 600.0
    context: bool = False
    text: bool = False
    unapplied: tuple[str, ...] = ()
    announces: str | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """One row of the notification table (contract section 11).

    `awaited` is false for the events that a host fires and forgets. `derived_from` is
    the lifecycle event whose dispatch announces this one too; None means that the event
    needs facts of its own and that the host must notify it. `after` says that it is
    announced only once that event was settled, and only if it was not blocked.
    """

    name: str
    keys: tuple[str, ...]
    awaited: bool
    derived_from: str | None = None
    after: bool = False


COMMON_KEYS: Final = ("session_id", "transcript_path", "cwd", "hook_event_name")
KNOWN_KEYS: Final = ("prompt_id", "permission_mode", "agent_id", "agent_type")
"""Payload keys that any lifecycle event may carry, where the host knows them."""

NOTIFICATION_TIMEOUT: Final = 5.0
"""Seconds one notification command may take (S0)."""

_TOOL = ("tool_name", "tool_input", "tool_use_id")

EVENTS: Final[Mapping[str, Event]] = {
    row.name: row
    for row in (
        Event(
            "SessionStart",
            matched="source",
            values=("startup", "resume", "clear", "compact"),
            keys=("source", "model?"),
            block=Block.REPORT,
            context=True,
            text=True,
            announces="session.start",
        ),
        Event(
            "UserPromptSubmit",
            matched=None,
            keys=("prompt",),
            block=Block.REFUSE,
            timeout=30.0,
            context=True,
            text=True,
            announces="user.prompt",
        ),
        Event(
            "PreToolUse",
            matched="tool_name",
            keys=_TOOL,
            block=Block.DENY,
            verdict=Verdict.TOOL,
            context=True,
            unapplied=("updatedInput",),
        ),
        Event(
            "PermissionRequest",
            matched="tool_name",
            keys=("tool_name", "tool_input", "permission_suggestions"),
            block=Block.DENY,
            verdict=Verdict.PERMISSION,
            unapplied=("updatedInput", "updatedPermissions"),
            announces="permission.request",
        ),
        Event(
            "PostToolUse",
            matched="tool_name",
            keys=(*_TOOL, "tool_response", "duration_ms?"),
            block=Block.FEEDBACK,
            context=True,
            unapplied=("updatedToolOutput",),
        ),
        Event(
            "PostToolUseFailure",
            matched="tool_name",
            keys=(*_TOOL, "error", "is_interrupt?", "duration_ms?"),
            block=Block.FEEDBACK,
            context=True,
        ),
        Event(
            "Notification",
            matched="notification_type",
            keys=("message", "notification_type", "title?"),
            block=Block.REPORT,
        ),
        Event(
            "PreCompact",
            matched="trigger",
            values=("manual", "auto"),
            keys=("trigger", "custom_instructions"),
            block=Block.REFUSE,
            announces="context.compact",
        ),
        Event(
            "Stop",
            matched=None,
            keys=("stop_hook_active", "last_assistant_message"),
            block=Block.CONTINUE,
            announces="task.complete",
        ),
        Event(
            "SubagentStart",
            matched="agent_type",
            keys=("agent_id", "agent_type"),
            block=Block.REPORT,
            context=True,
        ),
        Event(
            "SubagentStop",
            matched="agent_type",
            keys=(
                "stop_hook_active",
                "agent_id",
                "agent_type",
                "agent_transcript_path",
                "last_assistant_message",
            ),
            block=Block.CONTEXT,
            context=True,
        ),
        Event(
            "SessionEnd",
            matched="reason",
            values=("clear", "resume", "prompt_input_exit", "other"),
            keys=("reason",),
            block=Block.REPORT,
            announces="session.end",
        ),
    )
}

NOTIFICATIONS: Final[Mapping[str, Notification]] = {
    row.name: row
    for row in (
        Notification("session.start", ("thread_id",), awaited=True, derived_from="SessionStart"),
        Notification("session.end", ("thread_id",), awaited=True, derived_from="SessionEnd"),
        Notification("user.prompt", (), awaited=True, derived_from="UserPromptSubmit"),
        Notification("input.required", (), awaited=False),
        Notification("permission.request", ("tool_names",), awaited=True, derived_from="PermissionRequest"),
        Notification("tool.use", ("tool_name", "tool_id", "tool_args"), awaited=False),
        Notification(
            "tool.result",
            ("tool_name", "tool_id", "tool_args", "tool_status", "tool_output"),
            awaited=False,
        ),
        Notification("tool.error", ("tool_names",), awaited=False),
        Notification("task.complete", ("thread_id",), awaited=True, derived_from="Stop", after=True),
        Notification("context.compact", (), awaited=True, derived_from="PreCompact", after=True),
        Notification("context.offload", (), awaited=True),
        Notification("user.name.set", ("name", "assistant_id"), awaited=False),
    )
}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that `word` was probably meant to be, or None."""
    names = list(known)
    by_letters = {name.lower(): name for name in names}
    same = by_letters.get(word.lower())
    if same is not None:
        return same
    close = difflib.get_close_matches(word.lower(), by_letters, n=1, cutoff=0.6)
    return by_letters[close[0]] if close else None
