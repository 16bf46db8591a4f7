"""One agent session without a person at hand: from the prompt to the exit status."""

from __future__ import annotations

import asyncio
import os
import traceback
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from boathook.agent.build import APPROVAL_HINT, GATED, build_agent
from boathook.agent.models import chat_model
from boathook.agent.signals import supervise
from boathook.agent.surface import Watched, logging_to
from boathook.agent.talk import Talk
from boathook.agent.transcript import Transcript
from boathook.hooks import Hooks
from boathook.hosts.langchain import HooksMiddleware
from boathook.hosts.langchain.words import context_message, feedback_message, last_answer
from boathook.session import Session
from boathook.terms.problem import located

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from boathook.agent.surface import Surface

DONE: Final = 0
FAILED: Final = 1
STOPPED: Final = 3
"""A hook ended the run: ``continue: false``, or a prompt that was refused."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to run. `root` is the project that `cwd` belongs to and the folder of its handlers.

    `model` is a name for `chat_model`. With `files` no other hooks file is read.
    """

    prompt: str
    model: str
    cwd: Path
    root: Path
    files: tuple[Path, ...] | None = None
    trust_project: bool = False
    approve_all: bool = False


def state_folder() -> Path:
    """Return where sessions leave their files: ``$BOATHOOK_HOME``, else ``~/.boathook``."""
    given = os.environ.get("BOATHOOK_HOME")
    return Path(given) if given else Path.home() / ".boathook"


def run(order: Order, surface: Surface) -> int:
    """Run a session to its end and return the program's exit status.

    Raises `ConfigError`, `ModelError` or `ScriptError` before the session begins. Must be
    called from the main thread, whose signals it handles.
    """
    watched = Watched(surface)
    watched.hooks = Hooks.load(
        files=order.files,
        project=order.root,
        trust_project=order.trust_project,
        observe=watched.observe,
    )
    for problem in watched.hooks.problems:
        if problem.severity != "info":
            surface.warned(located(problem))
    with logging_to(surface):
        conversation = _Conversation(order, watched, surface)
        return asyncio.run(supervise(conversation.hold, conversation.end))


class _Conversation:
    """One session's agent, its session object, and where it stands."""

    def __init__(self, order: Order, hooks: Watched, surface: Surface) -> None:
        session_id = uuid.uuid4().hex
        mode = "bypassPermissions" if order.approve_all else "default"
        model = chat_model(order.model, {"cwd": str(order.cwd)})
        self._folder = state_folder() / "sessions" / session_id
        self._transcript = Transcript(
            self._folder / "transcript.jsonl", session_id=session_id, cwd=str(order.cwd)
        )
        self._session = Session(
            hooks,
            session_id=session_id,
            cwd=str(order.cwd),
            transcript_path=self._transcript.path,
            model=order.model,
            permission_mode=mode,
            surface="headless",
        )
        middleware = HooksMiddleware(
            self._session,
            gated=GATED,
            approval="allow" if order.approve_all else "deny",
            approval_hint=APPROVAL_HINT,
            cwd=str(order.cwd),
            session_id=session_id,
            permission_mode=mode,
            transcript=self._transcript,
            lifecycle=False,
        )
        self._agent = build_agent(model, order.cwd, self._folder / "artifacts", middleware, InMemorySaver())
        self._config: RunnableConfig = {
            "configurable": {"thread_id": session_id},
            "callbacks": [Talk(surface)],
        }
        self._prompt, self._surface = order.prompt, surface

    async def hold(self) -> int:
        """Hold the conversation and return the exit status; a failed agent is told, not raised."""
        try:
            return await self._turn(self._prompt)
        except Exception as error:
            details = self._folder / "error.txt"
            details.write_text(traceback.format_exc(), encoding="utf-8", errors="backslashreplace")
            self._surface.warned(f"the agent failed: {type(error).__name__}: {error} (details: {details})")
            return FAILED

    async def end(self) -> None:
        """End the session, however it went; cancelled, kill the handlers that still run."""
        ending = self._session.begin_end("other")
        try:
            await ending
        except asyncio.CancelledError:
            ending.abandon()
            await ending
            raise
        finally:
            self._transcript.close()

    async def _turn(self, prompt: str) -> int:
        opening = await self._session.start("startup")
        if not opening.continue_:
            return self._stopped(opening.event, opening.stop_reason)
        asked = await self._session.prompt(prompt)
        if asked.block or not asked.continue_:
            return self._stopped(asked.event, asked.reason if asked.continue_ else asked.stop_reason)
        messages = [context_message(told.context, told.event) for told in (opening, asked) if told.context]
        return await self._work([*messages, HumanMessage(prompt)])

    async def _work(self, messages: list[BaseMessage]) -> int:
        """Let the agent work until neither it nor a Stop hook wants to go on."""
        while True:
            state = await self._answer(messages)
            if stopped := state.get("hooks_stopped"):
                return self._stopped(stopped["event"], stopped["reason"])
            answer = last_answer(state["messages"])
            stop = await self._session.stop("" if answer is None else str(answer.text))
            if not stop.continue_:
                return self._stopped(stop.event, stop.stop_reason)
            if not stop.block:
                return DONE
            messages = [feedback_message(stop.feedback)]

    async def _answer(self, messages: list[BaseMessage]) -> dict[str, Any]:
        """Let the agent answer `messages` and return the graph's state."""
        async for _ in self._agent.astream({"messages": messages}, self._config, stream_mode="messages"):
            pass  # streamed so that models stream; the words come through `Talk`, in order with the hooks
        state: dict[str, Any] = (await self._agent.aget_state(self._config)).values
        self._transcript.sync(state["messages"])
        return state

    def _stopped(self, event: str, reason: str | None) -> int:
        self._surface.warned(f"a {event} hook stopped the run{f': {reason}' if reason else '.'}")
        return STOPPED
