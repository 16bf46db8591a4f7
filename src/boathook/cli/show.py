"""Decisions and problems, written for people. Colour only on a terminal, and never with `NO_COLOR`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from boathook.terms.problem import Problem, Severity, located
from boathook.terms.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boathook.snapshot import Snapshot
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome

_COLOURS: Final = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1", "dim": "2"}
_SEVERITY_COLOUR: Final[dict[Severity, str]] = {"error": "red", "warning": "yellow", "info": "blue"}
_STATUS_COLOUR: Final = {"ok": "green", "blocked": "red", "failed": "yellow", "timeout": "yellow"}


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Return `text` in a colour if the stream is a terminal that wants it."""
    stream = stream or sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def show_decision(decision: Decision, snapshot: Snapshot) -> None:
    """Print one decision: the verdict, who said what, and what was noticed."""
    print(f"{paint(decision.event, 'bold')}  →  {verdict(decision)}")
    for label, text in _words(decision):
        print(f"  {label:<9} {_indented(text)}")
    if not decision.handlers:
        loaded = len(snapshot.by_event[decision.event])
        print(f"  no handler ran ({loaded} configured for {decision.event})")
    for outcome in decision.handlers:
        _show_outcome(outcome)
    show_problems(decision.diagnostics)


def verdict(decision: Decision) -> str:
    """Return a decision in a word or two."""
    if not decision.continue_:
        return paint("stop everything", "red")
    if decision.permission is not None:
        return paint(decision.permission, "red" if decision.permission == "deny" else "green")
    if decision.block:
        return paint("the turn goes on" if decision.event == "Stop" else "blocked", "red")
    return paint("no objection", "green")


def show_problems(problems: Iterable[Problem], stream: TextIO | None = None) -> None:
    """Print problems, one line each."""
    for problem in problems:
        word = paint_severity(problem.severity, stream)
        print(f"{word}: {safe(located(problem))}", file=stream or sys.stdout)


def paint_severity(severity: Severity, stream: TextIO | None = None) -> str:
    """Return a severity in its colour."""
    return paint(severity, _SEVERITY_COLOUR[severity], stream)


def _words(decision: Decision) -> Iterable[tuple[str, str]]:
    if decision.stop_reason:
        yield "stop", decision.stop_reason
    if decision.reason:
        yield "reason", decision.reason
    for label, texts in (
        ("context", decision.context),
        ("feedback", decision.feedback if decision.feedback != (decision.reason,) else ()),
        ("notice", decision.notices),
    ):
        for text in texts:
            yield label, text


def _show_outcome(outcome: Outcome) -> None:
    how = f"exit {outcome.exit_code}" if outcome.exit_code is not None else outcome.signal or "not run"
    status = paint(f"{outcome.status:<8}", _STATUS_COLOUR[outcome.status])
    print(
        f"  {status} {safe(outcome.name)}  {how}, {outcome.duration_ms:.0f} ms  {paint(safe(outcome.source), 'dim')}"
    )
    if outcome.stderr.strip():
        print(f"           {paint(_indented(outcome.stderr.strip()[:2000]), 'dim')}")


def _indented(text: str) -> str:
    return safe(text).replace("\n", "\n            ")
