"""A turn and its continuations: how often handlers of ``Stop`` may keep it going (contract section 7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from boathook.terms.decision import Decision

MAX_CONTINUATIONS: Final = 8
"""Continuations of one turn in a row (S1). The stop after the eighth is final."""


@dataclass(slots=True)
class Turn:
    """The turn at hand. Running tools changes nothing here; a new prompt makes a new `Turn`."""

    prompt_id: str | None = None
    continuations: int = 0
    over: bool = True

    @property
    def stop_hook_active(self) -> bool:
        """Whether the turn goes on only because a handler wanted it."""
        return self.continuations > 0

    def stopped(self, decision: Decision) -> Decision:
        """Count a settled ``Stop``, and return it as the host shall obey it."""
        if not (decision.block and decision.continue_):
            self._finish()
            return decision
        if self.continuations < MAX_CONTINUATIONS:
            self.continuations += 1
            self.over = False
            return decision
        self._finish()
        return _overruled(decision)

    def _finish(self) -> None:
        self.continuations = 0
        self.over = True


def _overruled(decision: Decision) -> Decision:
    reason = f" Its reason was: {decision.reason}" if decision.reason else ""
    notice = f"The turn ends after {MAX_CONTINUATIONS} continuations in a row; a Stop hook asked for one more.{reason}"
    return replace(decision, block=False, feedback=(), notices=(*decision.notices, notice))
