"""A long conversation under hooks on every event leaves nothing behind but its history."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.memory import InMemorySaver

import boathook
from boathook import Hooks
from boathook.agent.conversation import Conversation, Setup
from boathook.agent.surface import Watched
from boathook.terms.events import EVENTS

if TYPE_CHECKING:
    import pytest

STORY = """
[[turn]]
name = "first"
calls = [{ tool = "ls", args = { path = "." } }, { tool = "execute", args = { command = "true" } }]
[[turn]]
text = "Done."
then = "first"
"""

WARM, LAST = 8, 28
KEPT_PER_TURN = 1_000
"""Bytes that our own code may keep of a turn: which messages the transcript has, which calls were announced."""


class Deaf:
    """A surface that shows nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


def ours() -> int:
    """Return how many bytes the lines of our own code hold."""
    gc.collect()
    pattern = str(Path(boathook.__file__).parent / "*")
    snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, pattern)])
    return sum(trace.size for trace in snapshot.traces)


def held() -> tuple[int, int]:
    """Return how many descriptors and children this process has."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return len(os.listdir("/proc/self/fd")), len(children)


def test_turn_after_turn_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("BOATHOOK_HOME", raising=False)
    (tmp_path / "story.toml").write_text(f"limit = 1000\n{STORY}")
    every = {event: [{"hooks": [{"type": "command", "command": "true"}]}] for event in EVENTS}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": every}))
    (tmp_path / "list.json").write_text(json.dumps({"hooks": [{"command": ["true"]}]}))
    seen: dict[int, tuple[int, int, int]] = {}

    async def converse() -> None:
        surface = Deaf()
        watched = Watched(surface)
        files = [tmp_path / "hooks.json", tmp_path / "list.json"]
        watched.hooks = Hooks.load(files=files, project=tmp_path, observe=watched.observe)
        setup = Setup(f"scripted:{tmp_path / 'story.toml'}", tmp_path, tmp_path, approve_all=True)
        conversation = Conversation(setup, watched, surface, InMemorySaver())
        await conversation.start()
        for turn in range(1, LAST + 1):
            assert await conversation.ask(f"prompt {turn}") is None
            if turn in (WARM, LAST):
                await conversation.session.drain()
                seen[turn] = (*held(), ours())
        await conversation.end()

    tracemalloc.start()
    try:
        asyncio.run(converse())
    finally:
        tracemalloc.stop()
    assert seen[LAST][:2] == seen[WARM][:2]
    assert seen[LAST][2] - seen[WARM][2] < KEPT_PER_TURN * (LAST - WARM), seen
