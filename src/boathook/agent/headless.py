"""One agent session without a person at hand: from the prompts to the exit status."""

from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING, Final

from langgraph.checkpoint.memory import InMemorySaver

from boathook.agent.conversation import Conversation
from boathook.agent.signals import supervise
from boathook.agent.surface import Watched, logging_to
from boathook.hooks import Hooks
from boathook.terms.problem import located

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from boathook.agent.conversation import Halt, Setup
    from boathook.agent.surface import Surface

DONE: Final = 0
FAILED: Final = 1
STOPPED: Final = 3
"""A hook ended the run: ``continue: false``, or a prompt that was refused."""


def run(setup: Setup, prompts: AsyncIterator[str], surface: Surface) -> int:
    """Hold a session to its end and return the program's exit status.

    The next prompt is taken when the turn of the one before is over. Raises `ConfigError`,
    `ModelError` or `ScriptError` before the session begins. Must be called from the main
    thread, whose signals it handles.
    """
    watched = Watched(surface)
    watched.hooks = Hooks.load(
        files=setup.files,
        project=setup.root,
        trust_project=setup.trust_project,
        compat=setup.compat,
        observe=watched.observe,
    )
    for problem in watched.hooks.problems:
        if problem.severity != "info":
            surface.warned(located(problem))
    with logging_to(surface):
        conversation = Conversation(setup, watched, surface, InMemorySaver())
        return asyncio.run(supervise(lambda: _hold(conversation, prompts, surface), conversation.end))


async def _hold(conversation: Conversation, prompts: AsyncIterator[str], surface: Surface) -> int:
    """Hold the conversation and return the exit status; a failed agent is told, not raised.

    A refused prompt is passed over, ``continue: false`` ends the run.
    """
    status = DONE
    try:
        if halt := await conversation.start():
            return _told(halt, surface)
        async for prompt in prompts:
            if halt := await conversation.ask(prompt):
                status = _told(halt, surface)
                if not halt.refused:
                    break
    except Exception as error:
        details = conversation.folder / "error.txt"
        details.write_text(traceback.format_exc(), encoding="utf-8", errors="backslashreplace")
        surface.warned(f"the agent failed: {type(error).__name__}: {error} (details: {details})")
        return FAILED
    return status


def _told(halt: Halt, surface: Surface) -> int:
    what = "refused the prompt" if halt.refused else "stopped the run"
    surface.warned(f"a {halt.event} hook {what}{f': {halt.reason}' if halt.reason else '.'}")
    return STOPPED
