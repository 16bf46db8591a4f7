"""The demo's surface: the session as a story on a terminal, drawn from what the engine reports."""

from __future__ import annotations

import textwrap
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from boathook.agent.words import did, lasting, subject
from boathook.terms.text import excerpt, safe
from boathook.terms.tools import wire_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.agent.output import Output
    from boathook.agent.surface import Moment
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome

_GUTTER: Final = 9
_NAME_WIDTH: Final = 14
_DETAIL_LINES: Final = 8
_OUTPUT_LINES: Final = 4
_COLOURS: Final[Mapping[str, str]] = {
    "agent": "36",
    "tool": "1",
    "hook": "2",
    "good": "32",
    "bad": "31",
    "again": "33",
    "dim": "2",
    "title": "1",
    "person": "35",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How wide the page is, and whether it has colours and drawn symbols."""

    width: int = 80
    colour: bool = True
    symbols: bool = True

    def paint(self, text: str, colour: str) -> str:
        """Return `text` in a colour, where there are colours."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colour else text

    def symbol(self, drawn: str, plain: str) -> str:
        """Return a symbol in the form that the page can show."""
        return drawn if self.symbols else plain


@dataclass(slots=True)
class Record:
    """What happened, for whoever checks the story afterwards."""

    moments: list[tuple[Moment, Decision]] = field(default_factory=list)
    heard: Counter[str] = field(default_factory=Counter)
    words: list[str] = field(default_factory=list)

    def of(self, event: str) -> list[tuple[Moment, Decision]]:
        """Return the settled moments of one event, in order."""
        return [(moment, decision) for moment, decision in self.moments if moment.event == event]


class Timeline:
    """A `Surface` that tells the session top to bottom: words, tool calls, and what hooks did to them."""

    def __init__(self, page: Output, style: Style, record: Record) -> None:
        self._page, self._style, self._record = page, style, record
        self._lock = threading.Lock()
        self._message: list[str] = []

    def opened(self, moment: Moment) -> None:
        """Show a tool call before anything is done about it, and the person's prompt."""
        if moment.event == "UserPromptSubmit":
            self._entry("you", "person", str(moment.payload.get("prompt", "")))
        elif moment.event == "PreToolUse":
            self._entry("tool", "tool", tool_call(moment.payload))
            self._change(moment.payload.get("tool_input") or {})
        elif moment.event == "PostToolUse" and subject(moment.payload) == "Bash":
            self._output(moment.payload.get("tool_response"))
        elif moment.event in ("SessionStart", "SessionEnd", "Stop"):
            self._entry(_MOMENT_LABELS[moment.event], "hook", _MOMENT_WORDS[moment.event])

    def decided(self, moment: Moment, decision: Decision, duration_ms: float) -> None:  # noqa: ARG002
        """Show what each handler did."""
        with self._lock:
            self._record.moments.append((moment, decision))
        for outcome in decision.handlers:
            self._handler(moment, outcome)
        for notice in decision.notices:
            self._detail(notice)

    def heard(self, event: str, outcome: Outcome) -> None:
        """Count a notification; two dozen lines of them would bury the story."""
        with self._lock:
            self._record.heard[event if outcome.status == "ok" else f"{event} ({outcome.status})"] += 1

    def said(self, piece: str) -> None:
        """Keep the piece until the message is complete."""
        self._message.append(piece)

    def said_all(self) -> None:
        """Show the message."""
        text = "".join(self._message).strip()
        self._message.clear()
        if text:
            self._record.words.append(text)
            self._entry("agent", "agent", text)

    def warned(self, words: str) -> None:
        """Show what went wrong."""
        self._entry("!", "bad", words)

    def _handler(self, moment: Moment, outcome: Outcome) -> None:
        colour, mark = _mark(moment.event, outcome, self._style)
        name, time = excerpt(outcome.name, 18), lasting(outcome.duration_ms)
        room = self._style.width - _GUTTER - 2
        what, words = did(moment.event, outcome)
        name = name.ljust(_NAME_WIDTH)
        head = f"{mark} {name} {what}"
        gap = " " * max(1, room - len(head) - len(time))
        line = f"{self._style.paint(mark, colour)} {name} {self._style.paint(what, colour)}"
        self._print(f"{' ' * (_GUTTER + 2)}{line}{gap}{self._style.paint(time, 'dim')}")
        self._detail(words)

    def _output(self, response: object) -> None:
        lines = [line.removeprefix("[stderr]").strip() for line in str(response).splitlines()]
        told = [line for line in lines if line.strip("-") and not line.startswith("[Command ")]
        self._detail("\n".join(told[-_OUTPUT_LINES:]))

    def _change(self, given: Mapping[str, Any]) -> None:
        for key, sign, colour in (("old_string", "-", "bad"), ("new_string", "+", "good")):
            lines = textwrap.dedent(str(given.get(key, "")).expandtabs(4)).splitlines()
            self._detail("\n".join(f"{sign} {line}" for line in lines), colour)

    def _entry(self, label: str, colour: str, text: str) -> None:
        lines = textwrap.wrap(safe(text), self._style.width - _GUTTER - 2) or [""]
        self._print("")
        self._print(f"  {self._style.paint(label.ljust(_GUTTER - 2), colour)}{lines[0]}")
        for line in lines[1:]:
            self._print(f"{' ' * _GUTTER}{line}")

    def _detail(self, text: str, colour: str = "dim") -> None:
        indent = " " * (_GUTTER + 4)
        for line in safe(text).splitlines()[:_DETAIL_LINES]:
            for part in textwrap.wrap(line, self._style.width - len(indent) - 1, drop_whitespace=False):
                self._print(f"{indent}{self._style.paint(part, colour)}")

    def _print(self, line: str) -> None:
        self._page.line(line.rstrip())


_MOMENT_LABELS: Final[Mapping[str, str]] = {"SessionStart": "start", "SessionEnd": "end", "Stop": "stop?"}
_MOMENT_WORDS: Final[Mapping[str, str]] = {
    "SessionStart": "The session begins.",
    "SessionEnd": "The session ends.",
    "Stop": "The agent wants to stop.",
}


def tool_call(payload: Mapping[str, Any]) -> str:
    """Return a tool call on one line: its wire name and what it is about."""
    given = payload.get("tool_input") or {}
    path = str(given.get("file_path") or given.get("path") or "")
    about = str(given.get("command") or path.rpartition("/")[2])
    return f"{wire_name(str(payload.get('tool_name', '')))}  {excerpt(about, 120)}".rstrip()


def _mark(event: str, outcome: Outcome, style: Style) -> tuple[str, str]:
    answer = outcome.answer
    if outcome.status in ("failed", "timeout") or answer.stop or answer.permission == "deny":
        return "bad", style.symbol("✗", "x")
    if event == "Stop" and answer.blocks:
        return "again", style.symbol("↻", "again:")
    if outcome.status == "blocked":
        return "bad", style.symbol("✗", "x")
    return "good", style.symbol("✓", "ok")
