"""What one handler's run came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from boathook.terms.problem import Problem

Status = Literal["ok", "blocked", "failed", "timeout"]
Permission = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler said, field by field, already checked against its event's row.

    `permission` is this handler's vote on a tool or permission; `blocks` says that it
    refuses the moment or, on `Stop`, keeps the turn going; `reason` is its own words for
    either, or None where it gave none, `fallback` the engine's. `context` goes to the model, `feedback` to the
    model after the fact, `notice` to the user. `stop` is ``continue: false``.
    """

    permission: Permission | None = None
    blocks: bool = False
    reason: str | None = None
    fallback: str | None = None
    context: tuple[str, ...] = ()
    feedback: str | None = None
    notice: str | None = None
    stop: bool = False
    stop_reason: str | None = None
    interrupt: bool = False


SILENT = Answer()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One handler's run: how it ended, what it answered, what was noticed.

    `source` is the file that configured it. `exit_code` is None where the command did
    not end by itself, `signal` the signal's name (``"SIGKILL"``) where one ended it.
    `duration_ms` runs from the start of the process, `waited_ms` is the time before,
    spent waiting for a free place. `stderr` is safe to print.
    """

    name: str
    source: str
    status: Status
    exit_code: int | None = None
    signal: str | None = None
    duration_ms: float = 0.0
    waited_ms: float = 0.0
    stderr: str = ""
    answer: Answer = SILENT
    problems: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the public JSON form (contract section 12)."""
        return {
            "name": self.name,
            "source": self.source,
            "status": self.status,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "duration_ms": round(self.duration_ms, 1),
            "stderr": self.stderr,
        }
