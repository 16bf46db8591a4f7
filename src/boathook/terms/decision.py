"""The one decision that an event comes to, and that a host obeys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boathook.terms.outcome import Outcome, Permission
    from boathook.terms.problem import Problem


@dataclass(frozen=True, slots=True)
class Decision:
    """What all handlers of one event came to (contract sections 7 and 12).

    Check `continue_` first: when it is false, everything stops and `stop_reason` is for
    the user. Then `permission` (tools and permissions) and `block`: the moment is refused
    or, on ``Stop``, the turn must go on with `feedback`. `reason` is the winning reason.
    `context` and `feedback` are for the model, `notices` for the user, all in configured
    order. `updated_input`, `updated_output` and `updated_permissions` stay empty unless
    the host declared that it can carry such changes out.
    """

    event: str
    snapshot: str
    continue_: bool = True
    stop_reason: str | None = None
    permission: Permission | None = None
    reason: str | None = None
    interrupt: bool = False
    block: bool = False
    context: tuple[str, ...] = ()
    feedback: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    updated_input: dict[str, Any] | None = None
    updated_output: Any = None
    updated_permissions: tuple[Any, ...] = ()
    handlers: tuple[Outcome, ...] = ()
    diagnostics: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the public JSON form (contract section 12)."""
        return {
            "event": self.event,
            "snapshot": self.snapshot,
            "decision": {
                "continue": self.continue_,
                "stop_reason": self.stop_reason,
                "permission": self.permission,
                "reason": self.reason,
                "interrupt": self.interrupt,
                "block": self.block,
                "context": list(self.context),
                "feedback": list(self.feedback),
                "notices": list(self.notices),
                "updated_input": self.updated_input,
                "updated_output": self.updated_output,
                "updated_permissions": list(self.updated_permissions),
            },
            "handlers": [outcome.as_dict() for outcome in self.handlers],
            "diagnostics": [problem.as_dict() for problem in self.diagnostics],
        }
