"""The headless surface for people and pipes: the agent's words on stdout, what hooks did on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boathook.agent.words import did, lasting, subject
from boathook.terms.problem import located
from boathook.terms.text import excerpt, safe

if TYPE_CHECKING:
    from boathook.agent.output import Output
    from boathook.agent.surface import Moment
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome

_DIM, _RED, _YELLOW, _PLAIN = "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"


class PlainSurface:
    """Writes one quiet line to `notes` for each handler that ran; the agent's words go to `answers`."""

    def __init__(self, answers: Output, notes: Output, *, colour: bool, approve_all: bool = False) -> None:
        self._answers, self._notes, self._colour = answers, notes, colour
        self._approve_all = approve_all
        self._ends_line = True

    def opened(self, moment: Moment) -> None:
        """Nothing: a moment without handlers is not worth a line."""

    def decided(self, moment: Moment, decision: Decision, duration_ms: float) -> None:  # noqa: ARG002
        """Write a line for each handler, notice and diagnostic, and for a call that nobody allowed."""
        about = f"{moment.event} {subject(moment.payload)}".rstrip()
        for outcome in decision.handlers:
            self._handler(about, moment.event, outcome)
        undecided = decision.permission is None and not decision.block
        if moment.event == "PermissionRequest" and undecided and not self._approve_all:
            self._note(
                f"! {subject(moment.payload)}  refused: no hook allowed it; --approve all would", _YELLOW
            )
        for notice in decision.notices:
            self._note(f"! {excerpt(notice, 400)}", _YELLOW)
        for problem in decision.diagnostics:
            if problem.severity != "info":
                self._note(f"! {excerpt(located(problem), 600)}", _YELLOW)

    def heard(self, event: str, outcome: Outcome) -> None:
        """Write a line for the handler of a notification."""
        self._handler(event, event, outcome)

    def said(self, piece: str) -> None:
        """Write a piece of the agent's words as it stands; stdout belongs to the agent."""
        self._answers.write(piece)
        self._ends_line = piece.endswith("\n")

    def said_all(self) -> None:
        """End the line."""
        if not self._ends_line:
            self._answers.write("\n")
            self._ends_line = True

    def warned(self, words: str) -> None:
        """Write a line that stands out."""
        self._note(f"boathook: {safe(words)}", _YELLOW)

    def _handler(self, about: str, event: str, outcome: Outcome) -> None:
        colour = _RED if outcome.status != "ok" or outcome.answer.stop else _DIM
        name = excerpt(outcome.name, 60)
        what, words = did(event, outcome)
        told = f"{what}: {excerpt(words, 160)}" if words.strip() else what
        self._note(f"· {about}  {name}  {told}  {lasting(outcome.duration_ms)}", colour)

    def _note(self, line: str, colour: str) -> None:
        self._notes.line(f"{colour}{line}{_PLAIN}" if self._colour else line)
