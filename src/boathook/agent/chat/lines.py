"""What stands in the conversation: prompts, answers, tool calls, and what hooks did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.content import Content
from textual.widgets import Static

from boathook.agent.words import did, lasting
from boathook.terms.text import excerpt, safe
from boathook.terms.tools import wire_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.binding import BindingType
    from textual.timer import Timer

    from boathook.terms.outcome import Outcome

REDRAW: Final = 1 / 30
"""Seconds between two drawings of an answer that streams."""

PREVIEW: Final = 3
"""Lines of a tool's output that are shown before somebody asks for more."""


class Line(Static):
    """A piece of text that nobody's words can format: no markup, and control characters are shown."""

    def __init__(self, text: str, classes: str) -> None:
        super().__init__(Content(safe(text)), classes=classes, markup=False)

    def put(self, text: str) -> None:
        """Show another text."""
        self.update(Content(safe(text)))


class Asked(Line):
    """A prompt, as the person typed it."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "asked")


class Notice(Line):
    """Words for the person; `kind` is ``notice``, ``warning`` or ``quiet``."""

    def __init__(self, text: str, kind: str = "notice") -> None:
        super().__init__(text, f"notice {kind}")


class Said(Line):
    """The agent's words, drawn at most thirty times a second while they stream."""

    def __init__(self) -> None:
        super().__init__("", "said")
        self._pieces: list[str] = []
        self._pending: Timer | None = None

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Take a further piece."""
        self._pieces.append(piece)
        if self._pending is None:
            self._pending = self.set_timer(REDRAW, self.draw)

    def draw(self) -> None:
        """Show what was said so far."""
        if self._pending is not None:
            self._pending.stop()
            self._pending = None
        self._pieces = [self.text]
        self.put(self._pieces[0])


class Openable(Line, can_focus=True):
    """One line that shows its details when it is clicked, or entered with the keyboard."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,space", "open", "Open or close")]

    def __init__(self, head: str, details: Sequence[str], classes: str) -> None:
        super().__init__("", f"openable {classes}")
        self.is_open = False
        self._head, self._details = head, tuple(details)
        self._show()

    def say(self, head: str, details: Iterable[str]) -> None:
        """Put other words."""
        self._head, self._details = head, tuple(details)
        self._show()

    def action_open(self) -> None:
        """Open or close."""
        self.is_open = not self.is_open
        self._show()

    def on_click(self) -> None:
        """Open or close."""
        self.action_open()

    def _show(self) -> None:
        more = [f"    {line}" for text in self._details for line in text.splitlines()] if self.is_open else ()
        mark = "" if not self._details else " ▾" if self.is_open else " ▸"
        self.put("\n".join([self._head + mark, *more]))


class HookLine(Openable):
    """What one handler did: a line, and behind it its command, exit, time, stderr and decision."""

    def __init__(self, about: str, event: str, outcome: Outcome, command: str) -> None:
        what, words = did(event, outcome)
        told = f"{what}: {excerpt(words, 160)}" if words.strip() else what
        head = f"· {about}  {excerpt(outcome.name, 60)}  {told}  {lasting(outcome.duration_ms)}"
        loud = outcome.status != "ok" or outcome.answer.stop
        super().__init__(head, _details(outcome, command), "hook loud" if loud else "hook")


def _details(outcome: Outcome, command: str) -> list[str]:
    ended = "not run" if outcome.exit_code is None else f"exit {outcome.exit_code}"
    answer = outcome.answer
    rows = {
        "command": command,
        "from": outcome.source,
        "ended": f"{outcome.signal or ended}, {lasting(outcome.duration_ms)}"
        + (f", waited {lasting(outcome.waited_ms)}" if outcome.waited_ms >= 1 else ""),
        "decision": answer.permission or ("block" if answer.blocks else "stop" if answer.stop else ""),
        "reason": (answer.stop_reason if answer.stop else answer.reason) or "",
        "context": "\n".join(answer.context),
        "feedback": answer.feedback or "",
        "notice": answer.notice or "",
        "stderr": outcome.stderr.strip(),
        "problem": "\n".join(f"{each.message} [{each.code}]" for each in outcome.problems),
    }
    return [f"{label:<9} {text.replace(chr(10), chr(10) + ' ' * 10)}" for label, text in rows.items() if text]


class ToolLine(Openable):
    """One tool call from its announcement to its end."""

    def __init__(self, name: str, args: Mapping[str, Any]) -> None:
        self._title = f"{wire_name(name)} {about_call(name, args)}".rstrip()
        super().__init__(f"⚙ {self._title}  …", [_pretty(args)], "tool")
        self._args = args

    def end(self, status: str, output: str) -> None:
        """Show how it ended."""
        fine = status == "success"
        self.set_class(not fine, "loud")
        lines = output.strip("\n").splitlines()
        preview = "\n".join(f"    {excerpt(line, 400)}" for line in lines[:PREVIEW])
        more = f"\n    … {len(lines) - PREVIEW} more lines" if len(lines) > PREVIEW else ""
        head = f"⚙ {self._title}  {'✓' if fine else '✗'}"
        self.say(f"{head}{f'{chr(10)}{preview}{more}' if preview else ''}", [_pretty(self._args), output])


def about_call(name: str, args: Mapping[str, Any]) -> str:
    """Return what a call is about, on one line: its command, its path, or its arguments."""
    for key in ("command", "file_path", "path", "pattern", "description", "query", "url"):
        if isinstance(value := args.get(key), str) and value:
            return excerpt(value, 120)
    return excerpt(json.dumps(args, ensure_ascii=False, default=str), 120) if args and name else ""


def seen_from(folder: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with its paths as they are called in `folder`; those outside stay absolute."""
    return {
        key: value.removeprefix(f"{folder}/")
        if key in ("file_path", "path") and isinstance(value, str)
        else value
        for key, value in args.items()
    }


def in_full(name: str, args: Mapping[str, Any]) -> str:
    """Return all that a call would do, for whoever is to approve it; "" where `about_call` says it."""
    if name == "edit_file" and {"old_string", "new_string"} <= set(args):
        old, new = (str(args[key]).splitlines() for key in ("old_string", "new_string"))
        lines = [*(f"- {line}" for line in old), *(f"+ {line}" for line in new)]
        return "\n".join(["every place:", *lines] if args.get("replace_all") else lines)
    if name == "write_file" and "content" in args:
        return str(args["content"])
    command = args.get("command")
    if len(args) == 1 and isinstance(command, str):
        return "" if command == about_call(name, args) else command
    return _pretty(args) if args else ""


def _pretty(args: Mapping[str, Any]) -> str:
    return json.dumps(args, indent=2, ensure_ascii=False, default=str)
