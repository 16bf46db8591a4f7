"""A long conversation under hooks on every event leaves nothing behind but its history.

It is measured in a process of its own, so that nothing that other tests left counts.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

import boathook
from boathook import Hooks
from boathook.agent.conversation import Conversation, Setup
from boathook.agent.surface import Watched
from boathook.terms.events import EVENTS

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


def prepare(folder: Path) -> None:
    """Write a story without an end, and handlers for every event of both vocabularies."""
    (folder / "story.toml").write_text(f"limit = 1000\n{STORY}")
    every = {event: [{"hooks": [{"type": "command", "command": "true"}]}] for event in EVENTS}
    (folder / "hooks.json").write_text(json.dumps({"hooks": every}))
    (folder / "list.json").write_text(json.dumps({"hooks": [{"command": ["true"]}]}))


async def measure(folder: Path) -> dict[int, tuple[int, int, int]]:
    """Hold the conversation; return the descriptors, the children and the bytes of ours after two of its turns."""
    seen: dict[int, tuple[int, int, int]] = {}
    surface = Deaf()
    watched = Watched(surface)
    files = [folder / "hooks.json", folder / "list.json"]
    watched.hooks = Hooks.load(files=files, project=folder, observe=watched.observe)
    setup = Setup(f"scripted:{folder / 'story.toml'}", folder, folder, approve_all=True)
    conversation = Conversation(setup, watched, surface, InMemorySaver())
    await conversation.start()
    for turn in range(1, LAST + 1):
        assert await conversation.ask(f"prompt {turn}") is None
        if turn in (WARM, LAST):
            await conversation.session.drain()
            seen[turn] = (*held(), ours())
    await conversation.end()
    return seen


def test_turn_after_turn_nothing_is_left_behind(tmp_path: Path) -> None:
    prepare(tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BOATHOOK")}
    run = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    warm, last = json.loads(run.stdout)
    assert last[:2] == warm[:2]
    assert last[2] - warm[2] < KEPT_PER_TURN * (LAST - WARM), (warm, last)


if __name__ == "__main__":
    tracemalloc.start()
    found = asyncio.run(measure(Path(sys.argv[1])))
    print(json.dumps([found[WARM], found[LAST]]), flush=True)
