"""Does a long conversation leave anything behind? Prints what the process holds after turn 50 and after turn 500.

Run it as ``python bench/leaks.py [TURNS]``. Hooks on every event, list-shaped ones too, a tool
call in each turn; the history is compacted every 25 turns, as it would be in life, so that
what still grows is a leak. Exits with 1 if descriptors, threads or children are not as
many as before, or if the memory grew by more than the checkpoints explain.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
import threading
import time
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from boathook import Hooks
from boathook.agent.conversation import Conversation, Setup
from boathook.agent.surface import Watched
from boathook.terms.events import EVENTS

STORY = """
limit = 100000
[[turn]]
name = "first"
calls = [{ tool = "ls", args = { path = "." } }]
[[turn]]
text = "Done."
then = "first"
[[agent.summary.turn]]
text = "We talked."
name = "summary"
then = "summary"
"""

EARLY, EVERY = 50, 25
ALLOWED = 40.0
"""Kilobytes a turn that the checkpoints of the graph may take; the engine itself keeps well below one."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the process holds. `memory` is the resident set, in megabytes."""

    memory: float
    descriptors: int
    threads: int
    children: int

    @classmethod
    def now(cls) -> Held:
        """Look."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
        return cls(
            pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
            len(os.listdir("/proc/self/fd")),
            # Not counting the loop's own pool, which grows to its limit at its leisure.
            sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate()),
            len(children),
        )


class Deaf:
    """A surface that shows nothing."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever is said
        return lambda *_: None


async def converse(folder: Path, turns: int) -> dict[int, Held]:
    """Hold a conversation of so many turns, and return what was held after some of them."""
    (folder / "story.toml").write_text(STORY, encoding="utf-8")
    every = {event: [{"hooks": [{"type": "command", "command": "true"}]}] for event in EVENTS}
    (folder / "hooks.json").write_text(json.dumps({"hooks": every}), encoding="utf-8")
    (folder / "list.json").write_text(json.dumps({"hooks": [{"command": ["true"]}]}), encoding="utf-8")
    surface = Deaf()
    watched = Watched(surface)
    files = [folder / "hooks.json", folder / "list.json"]
    watched.hooks = Hooks.load(files=files, project=folder, observe=watched.observe)
    setup = Setup(f"scripted:{folder / 'story.toml'}", folder, folder)
    conversation = Conversation(setup, watched, surface, InMemorySaver())
    await conversation.start()
    seen = {}
    for turn in range(1, turns + 1):
        await conversation.ask(f"prompt {turn}")
        if turn % EVERY == 0:
            await conversation.compact()
        if turn in (EARLY, turns):
            await conversation.session.drain()
            seen[turn] = Held.now()
    await conversation.end()
    return seen


def main() -> int:
    """Measure, print, judge."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BOATHOOK_HOME"] = str(Path(folder) / "state")
        seen = asyncio.run(converse(Path(folder).resolve(), turns))
    print("| after turn | memory | descriptors | threads | children |\n|---|---|---|---|---|")
    for turn, held in seen.items():
        memory, *counts = astuple(held)
        print(f"| {turn} | {memory:.1f} MB | {' | '.join(map(str, counts))} |")
    early, late = seen[EARLY], seen[turns]
    grown = (late.memory - early.memory) * 1000 / (turns - EARLY)
    print(f"\n{time.monotonic() - began:.0f} s; memory grew by {grown:.1f} KB a turn")
    same = astuple(early)[1:] == astuple(late)[1:]
    return 0 if same and grown < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
