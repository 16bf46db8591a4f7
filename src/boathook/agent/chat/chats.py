"""One session after another under one set of hooks: opened, cleared, resumed, ended."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from boathook.agent.build import GATED
from boathook.agent.chat import archive
from boathook.agent.chat.approval import Permits
from boathook.agent.conversation import Conversation
from boathook.agent.surface import Watched
from boathook.hooks import Hooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain.agents.middleware.types import ToolCallRequest
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from boathook.agent.chat.feed import Feed
    from boathook.agent.conversation import Approver, Halt, Setup
    from boathook.config.trust import Approval
    from boathook.session.session import Reason, Source
    from boathook.terms.problem import Problem

ASSISTANT: Final = "boathook"
"""The assistant's id, as `user.name.set` tells it."""


class Chats:
    """Drives the conversations of one chat; knows nothing of the screen.

    `open` first, then `begin`; `close` at the end, whatever happened. A session that
    was prepared and whose beginning was cancelled begins with its first prompt.
    """

    def __init__(self, setup: Setup, feed: Feed, approver: Approver) -> None:
        self._setup, self._feed, self._approver = setup, feed, approver
        self._watched = Watched(feed, feed.observe)
        self._stack = contextlib.AsyncExitStack()
        self._saver: BaseCheckpointSaver[str] | None = None
        self._conversation: Conversation | None = None
        self._unopened: Source | None = None
        self._person = archive.preferred_name() or ""
        self.permits = Permits()

    @property
    def hooks(self) -> Hooks:
        """The hooks of this chat. Their snapshot is renewed with each session."""
        return self._watched.hooks

    @property
    def conversation(self) -> Conversation:
        """The conversation that is being held."""
        if self._conversation is None:
            raise RuntimeError("no conversation has been prepared yet")
        return self._conversation

    async def open(self, approved: Approval | None, session_id: str | None = None) -> None:
        """Load the hooks, open the archive and prepare the first conversation, an earlier one by its id.

        Raises `ConfigError`, `ModelError`, `ScriptError`, `ArchiveError`.
        """
        setup = self._setup
        self._watched.hooks = Hooks.load(
            files=setup.files,
            project=setup.root,
            trust_project=setup.trust_project,
            compat=setup.compat,
            approved=approved,
            observe=self._watched.observe,
        )
        self._saver = await self._stack.enter_async_context(archive.saver())
        self._prepare(session_id, "resume" if session_id else "startup")

    def introduce(self, name: str) -> None:
        """Tell the assistant, and whoever listens, how the person wants to be called; before `begin`."""
        before = self.conversation
        before.discard()
        self._person = name
        self._prepare(before.session_id, self._unopened or "startup")
        self.conversation.session.name_set(name, ASSISTANT)

    async def begin(self) -> Halt | None:
        """Start the session that was prepared, unless it was started already."""
        source, self._unopened = self._unopened, None
        return await self.conversation.start(source) if source else None

    async def ask(self, prompt: str) -> Halt | None:
        """Submit a prompt and see its turn through. Raises what the agent raises."""
        if halt := await self.begin():
            return halt
        conversation = self.conversation
        try:
            halt = await conversation.ask(prompt)
            return halt
        finally:
            # What was cancelled, or failed, can be gone on with, too.
            if halt is None or not halt.refused:
                setup = self._setup
                archive.note(conversation.session_id, str(setup.cwd), setup.model, prompt)

    async def compact(self, instructions: str) -> Halt | None:
        """Put a summary in the place of the history, see `Conversation.compact`."""
        return await self.begin() or await self.conversation.compact(instructions)

    async def change(self, reason: Reason, session_id: str | None = None) -> Sequence[Problem]:
        """End this session for `reason`, and prepare another one: a new one, or an earlier one again.

        Hooks files that changed meanwhile are read anew. If they cannot be used, what was
        loaded stays, and the faults are returned; else what was found in them. Cancelled,
        the handlers of the end are killed, and the other session is prepared all the same,
        since this one takes no prompts any more.
        """
        try:
            await self.conversation.end(reason)
        finally:
            before = self.hooks.snapshot.id
            faults = self.hooks.reload()
            self.permits = Permits()
            self._prepare(session_id, "resume" if session_id else "clear")
        return faults or (() if self.hooks.snapshot.id == before else self.hooks.problems)

    @property
    def resumable(self) -> str | None:
        """The id of the session that was held last, if there is something to go on with."""
        now = self._conversation
        return now.session_id if now and archive.is_known(now.session_id) else None

    async def end(self, reason: Reason) -> None:
        """End the session, if one was prepared."""
        if self._conversation is not None:
            await self._conversation.end(reason)

    async def close(self) -> None:
        """Close the archive."""
        await self._stack.aclose()

    def _prepare(self, session_id: str | None, source: Source) -> None:
        if self._saver is None:
            raise RuntimeError("the archive is not open")
        self._conversation = Conversation(
            self._setup,
            self._watched,
            self._feed,
            self._saver,
            session_id=session_id,
            approver=self._approver,
            gated=self._is_gated,
            person=self._person,
        )
        self._unopened = source

    def _is_gated(self, request: ToolCallRequest) -> bool:
        name, args = request.tool_call["name"], request.tool_call["args"]
        return name in GATED and not self.permits.cover(name, args)
