"""One session of the bundled agent, whoever shows it: its agent, its session object, and where it stands."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from boathook.agent.build import APPROVAL_HINT, GATED, build_agent
from boathook.agent.models import chat_model
from boathook.agent.summary import summary_of
from boathook.agent.talk import Talk
from boathook.agent.transcript import Transcript
from boathook.hosts.langchain import HooksMiddleware, ToolStream
from boathook.hosts.langchain.words import context_message, feedback_message, last_answer
from boathook.session import Session

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.types import Durability

    from boathook.agent.surface import Surface, Watched
    from boathook.hosts.langchain.gates import Gated
    from boathook.session.session import Reason, Source
    from boathook.terms.decision import Decision

Approver = Callable[[Mapping[str, Any]], Awaitable[list[dict[str, Any]]]]
"""Asks a person: takes a request of LangChain's HumanInTheLoopMiddleware, returns a decision for each action."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where to work and with what. `root` is the project that `cwd` belongs to and the folder of its handlers.

    `model` is a name for `chat_model`. With `files` no other hooks file is read. `compat`
    names other agents, as for `Hooks.load`.
    """

    model: str
    cwd: Path
    root: Path
    files: tuple[Path, ...] | None = None
    trust_project: bool = False
    approve_all: bool = False
    compat: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Halt:
    """A hook ended something: the session's opening, a prompt (`refused`: this one alone), or a turn."""

    event: str
    reason: str | None
    refused: bool = False


def state_folder() -> Path:
    """Return where sessions leave their files: ``$BOATHOOK_HOME``, else ``~/.boathook``."""
    given = os.environ.get("BOATHOOK_HOME")
    return Path(given) if given else Path.home() / ".boathook"


class Conversation:
    """One session: `start` it, `ask` as often as you like, `end` it. For one event loop.

    A session of an earlier process goes on with its `session_id` and the `checkpointer`
    that it was kept in, and source ``resume``.
    """

    def __init__(
        self,
        setup: Setup,
        hooks: Watched,
        surface: Surface,
        checkpointer: BaseCheckpointSaver[Any],
        *,
        session_id: str | None = None,
        approver: Approver | None = None,
        gated: Gated = GATED,
        person: str = "",
    ) -> None:
        """Prepare the session. Without an `approver` nobody can be asked: the surface is headless.

        `gated` are the tools that need a permission, as for `HooksMiddleware`; `person` is how
        the assistant is to call whom it talks with. Raises `ModelError` and `ScriptError`, and `OSError` when the transcript cannot be written.
        """
        self.session_id = session_id or uuid.uuid4().hex
        self.setup = setup
        mode = "bypassPermissions" if setup.approve_all else "default"
        model = self._model = chat_model(setup.model, {"cwd": str(setup.cwd)})
        self.folder = state_folder() / "sessions" / self.session_id
        self._transcript = Transcript(
            self.folder / "transcript.jsonl", session_id=self.session_id, cwd=str(setup.cwd)
        )
        self.session = Session(
            hooks,
            session_id=self.session_id,
            cwd=str(setup.cwd),
            transcript_path=self._transcript.path,
            model=setup.model,
            permission_mode=mode,
            surface="interactive" if approver else "headless",
        )
        middleware = HooksMiddleware(
            self.session,
            gated=gated,
            approval="allow" if setup.approve_all else "interrupt" if approver else "deny",
            approval_hint=APPROVAL_HINT,
            cwd=str(setup.cwd),
            session_id=self.session_id,
            permission_mode=mode,
            transcript=self._transcript,
            lifecycle=False,
        )
        artifacts = self.folder / "artifacts"
        self.agent = build_agent(model, setup.cwd, artifacts, middleware, checkpointer, person)
        self.config: RunnableConfig = {
            "configurable": {"thread_id": self.session_id},
            "callbacks": [Talk(surface), ToolStream(self.session.tools)],
        }
        self._approver = approver
        # A run without a person is never resumed, so only where it ended is worth keeping.
        self._durability: Durability = "async" if approver else "exit"
        self._opening: Decision | None = None

    async def start(self, source: Source = "startup") -> Halt | None:
        """Open the session. A hook that ends it here leaves nothing to do but `end`."""
        opening = self._opening = await self.session.start(source)
        return None if opening.continue_ else Halt(opening.event, opening.stop_reason)

    async def ask(self, prompt: str) -> Halt | None:
        """Submit a prompt, and work until neither the agent nor a Stop hook wants to go on.

        What the agent raises is raised. Cancelled, it leaves a conversation that can go on.
        """
        asked = await self.session.prompt(prompt)
        if not asked.continue_:
            return Halt(asked.event, asked.stop_reason)
        if asked.block:
            return Halt(asked.event, asked.reason, refused=True)
        opening, self._opening = self._opening, None  # what a start hook adds, the first prompt brings along
        told = [each for each in (opening, asked) if each and each.context]
        messages = [context_message(each.context, each.event) for each in told]
        try:
            return await self._work([*messages, HumanMessage(prompt)])
        except asyncio.CancelledError:
            self.session.tools.cancel_open()
            raise

    async def compact(self, instructions: str = "") -> Halt | None:
        """Put a summary in the place of the history, at the person's wish; the rest is as for `start`.

        A hook that refuses leaves the history as it is. What the model raises is raised.
        """
        asked = await self.session.compact("manual", instructions)
        if not asked.continue_:
            return Halt(asked.event, asked.stop_reason)
        if asked.block:
            return Halt(asked.event, asked.reason, refused=True)
        history = await self.history()
        if not history:
            return None
        summary = await summary_of(history, self._model, instructions)
        state = (await self.agent.aget_state(self.config)).values
        update: dict[str, Any] = {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), summary]}
        if state.get("_summarization_event"):  # deepagents' own summary, which counts messages that are gone
            update["_summarization_event"] = None
        await self.agent.aupdate_state(self.config, update)
        return await self.start("compact")

    async def history(self) -> list[BaseMessage]:
        """Return the conversation so far, as the model would be given it."""
        messages: list[BaseMessage] = (await self.agent.aget_state(self.config)).values.get("messages", [])
        return messages

    def discard(self) -> None:
        """Give up a session that was not started."""
        self._transcript.close()

    async def end(self, reason: Reason = "other") -> None:
        """End the session, however it went; cancelled, kill the handlers that still run."""
        ending = self.session.begin_end(reason)
        try:
            await ending
        except asyncio.CancelledError:
            ending.abandon()
            await ending
            raise
        finally:
            self._transcript.close()

    async def _work(self, messages: list[BaseMessage]) -> Halt | None:
        while True:
            state = await self._answer(messages)
            if stopped := state.get("hooks_stopped"):
                return Halt(stopped["event"], stopped["reason"])
            answer = last_answer(state["messages"])
            stop = await self.session.stop("" if answer is None else str(answer.text))
            if not stop.continue_:
                return Halt(stop.event, stop.stop_reason)
            if not stop.block:
                return None
            messages = [feedback_message(stop.feedback)]

    async def _answer(self, messages: list[BaseMessage]) -> dict[str, Any]:
        """Let the agent answer `messages`, asking the person where it must, and return the graph's state."""
        given: dict[str, Any] | Command[Any] = {"messages": messages}
        while True:
            # Streamed so that models stream; the words come through `Talk`, in order with the hooks.
            async for _ in self.agent.astream(
                given, self.config, stream_mode="messages", durability=self._durability
            ):
                pass
            snapshot = await self.agent.aget_state(self.config)
            self._transcript.sync(snapshot.values["messages"])
            if not snapshot.interrupts or self._approver is None:
                state: dict[str, Any] = snapshot.values
                return state
            answers = {
                each.id: {"decisions": await self._approver(each.value)} for each in snapshot.interrupts
            }
            given = Command(resume=answers)
