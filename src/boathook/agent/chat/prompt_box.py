"""Where the person types: several lines, a history, and Enter to send."""

from __future__ import annotations

import contextlib
import json
import math
import os
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

from textual.message import Message
from textual.widgets import TextArea

from boathook.agent.chat.archive import replace_private

if TYPE_CHECKING:
    from pathlib import Path

    from textual import events
    from textual.binding import BindingType

KEPT: Final = 500
"""Prompts that are remembered from chat to chat."""


class History:
    """What was sent before, kept in a file that only its owner can read; `path` None keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._prompts = _read(path)
        self._at = len(self._prompts)
        self._draft = ""
        if len(self._prompts) > 2 * KEPT:
            self._shorten()

    def add(self, prompt: str) -> None:
        """Remember a prompt, unless it repeats the last one."""
        if not self._prompts or self._prompts[-1] != prompt:
            self._prompts.append(prompt)
            self._write(prompt)
        self._at = len(self._prompts)

    def older(self, draft: str) -> str | None:
        """Go back one; what was being typed is kept for the way forth."""
        if self._at == 0:
            return None
        if self._at == len(self._prompts):
            self._draft = draft
        self._at -= 1
        return self._prompts[self._at]

    def newer(self) -> str | None:
        """Go forth one."""
        if self._at >= len(self._prompts):
            return None
        self._at += 1
        return self._draft if self._at == len(self._prompts) else self._prompts[self._at]

    def _write(self, prompt: str) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "ab") as file:
                file.write(json.dumps(prompt).encode() + b"\n")
        except OSError:
            self._path = None  # a disk that is full or read-only costs the history, not the chat

    def _shorten(self) -> None:
        self._prompts = self._prompts[-KEPT:]
        self._at = len(self._prompts)
        if self._path is not None:
            with contextlib.suppress(OSError):
                replace_private(self._path, "".join(f"{json.dumps(each)}\n" for each in self._prompts))


def _read(path: Path | None) -> list[str]:
    prompts: list[str] = []
    if path is None:
        return prompts
    with contextlib.suppress(OSError):  # none yet, or one that is not ours to read
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):  # a line that another chat is just writing
                prompts.append(str(json.loads(line)))
    return prompts


class PromptBox(TextArea):
    """Enter sends, Ctrl+J or Alt+Enter begins a new line; Up and Down at the edges go through the history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+j,alt+enter,shift+enter", "newline", "New line"),
    ]

    class Sent(Message):
        """The person sends what stands in the box."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The person wants to leave."""

    def __init__(self, history: History) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
        )
        self.past = history
        self.typed = -math.inf
        """When a key was pressed in here last, on the monotonic clock; long ago after Enter."""
        self.border_title = "Ask"

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    async def on_key(self, event: events.Key) -> None:
        """Send with Enter; leave the edges with Up and Down; do what other keys are bound to.

        Ctrl+D quits where there is nothing to delete.
        """
        self.typed = -math.inf if event.key == "enter" else monotonic()
        if event.key == "ctrl+d" and not self.text:
            self._take(event)
            self.post_message(self.Left())
        elif event.key == "enter":
            self._take(event)
            if self.text.strip():
                self.post_message(self.Sent(self.text.strip()))
        elif event.key == "up" and self.cursor_at_first_line:
            self._recall(event, self.past.older(self.text))
        elif event.key == "down" and self.cursor_at_last_line:
            self._recall(event, self.past.newer())
        else:
            await self._bound(event)

    def put(self, text: str) -> None:
        """Put a text into the box, with the cursor at its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def _recall(self, event: events.Key, text: str | None) -> None:
        if text is not None:
            self._take(event)
            self.put(text)

    async def _bound(self, event: events.Key) -> None:
        """Do what a key is bound to here, in its turn.

        Left to Textual, a key goes up to the app before its action runs, and Ctrl+U would
        delete what was typed after it.
        """
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                self._take(event)
                return

    @staticmethod
    def _take(event: events.Key) -> None:
        event.prevent_default()
        event.stop()
