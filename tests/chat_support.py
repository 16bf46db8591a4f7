"""A chat under test: the real application, real hooks and a scripted model, driven by Textual's pilot."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

from textual.widgets import Input

from boathook.agent.chat import archive
from boathook.agent.chat.app import ChatApp
from boathook.agent.chat.approval import Card
from boathook.agent.chat.lines import Line
from boathook.agent.conversation import Setup
from run_project import Project, command, on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot

PATIENCE = 30.0


class Chat:
    """A running chat, and the project that it works in."""

    def __init__(self, app: ChatApp, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        """All that stands in the conversation."""
        return "\n".join(str(line.content) for line in self.app.log_view.query(Line))

    async def until(self, true: Callable[[], object]) -> None:
        """Let the application go on until something is true."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, self.text
            await self.pilot.pause(0.01)

    async def sees(self, words: str) -> None:
        """Wait until some words stand in the conversation."""
        await self.until(lambda: words in self.text)

    async def rests(self) -> None:
        """Wait until nothing is under way."""
        await self.until(lambda: self.app._work and not self.app.is_busy)
        await self.pilot.pause()

    async def types(self, text: str) -> None:
        """Put a text into the box, and send it."""
        self.app.box.put(text)
        await self.pilot.press("enter")

    async def says(self, text: str) -> None:
        """Send a prompt, and wait until its turn is over."""
        before = self.app._work
        await self.types(text)
        await self.until(lambda: self.app._work is not before)
        await self.rests()

    async def card(self, command: str | None = None) -> Card:
        """Wait for a card, about a shell command if one is given, until it takes keys."""

        def there() -> bool:
            card = self.app.focused
            if not isinstance(card, Card) or card.decided.done():
                return False
            return command in (None, card.args.get("command"))

        await self.until(there)
        return self.app.query_one(Card)

    async def field(self) -> Input:
        """Wait for a question that wants words, until it takes keys."""
        await self.until(lambda: isinstance(self.app.focused, Input))
        return self.app.screen.query_one(Input)

    async def ended(self) -> int | None:
        """Wait for the application to leave."""
        await self.until(lambda: not self.app.is_running)
        return self.app.return_value


@contextlib.asynccontextmanager
async def chatting(
    project: Project,
    *,
    name: str | None = "",
    size: tuple[int, int] = (80, 24),
    resume: str | None = None,
    given: bool = True,
) -> AsyncIterator[Chat]:
    """Hold a chat in a project; with `name` None, the question for it comes first."""
    if name is not None:
        archive.keep_name(name)
    files = tuple(project.root / file for file in ("hooks.json", "list.json") if project.has(file))
    setup = Setup("scripted:story.toml", project.root, project.root, files if given else None)
    app = ChatApp(setup, resume=resume)
    async with app.run_test(size=size) as pilot:
        chat = Chat(app, pilot)
        try:
            if name is not None:
                await chat.rests()
            yield chat
        finally:
            await app.chats.end("other")
            await app.chats.close()


def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project whose home is its own."""
    project = Project(tmp_path)
    monkeypatch.setenv("HOME", str(project.home))
    monkeypatch.delenv("BOATHOOK_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return project


def logged(project: Project, *events: str, **more: list[dict[str, Any]]) -> None:
    """Hook these events with a handler that writes them to the log, and others with handlers of their own."""
    project.hooks({**{event: on(command("sh log.sh")) for event in events}, **more})


def listened(project: Project, *events: str) -> None:
    """Hear these notifications, or all."""
    entry = {"command": ["sh", "log.sh"], "events": list(events)}
    (project.root / "list.json").write_text(json.dumps({"hooks": [entry]}))


def drive(coroutine: Any) -> None:
    """Run a test's coroutine."""
    asyncio.run(coroutine)
