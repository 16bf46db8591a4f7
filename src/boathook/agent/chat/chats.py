"""One session after another under one set of hooks: opened, cleared, resumed, ended."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from boathook.agent.build import GATED
from boathook.agent.chat import archive
from boathook.agent.chat.approval import Permits
from boathook.agent.conversation import Conversation
from boathook.agent.surface import Watched
from boathook.hooks import Hooks

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from boathook.agent.chat.feed import Feed
    from boathook.agent.conversation import Approver, Halt, Setup
    from boathook.config.trust import Approval
    from boathook.session.session import Reason, Source

ASSISTANT: Final = "boathook"
"""The assistant's id, as `user.name.set` tells it."""


class Chats:
    """Drives the conversations of one chat; knows nothing of the screen.

    `open` first, then `begin`; `close` at the end, whatever happened.
    """

    def __init__(self, setup: Setup, feed: Feed, approver: Approver) -> None:
        self._setup, self._feed, self._approver = setup, feed, approver
        self._watched = Watched(feed, feed.observe)
        self._stack = contextlib.AsyncExitStack()
        self._saver: BaseCheckpointSaver[str] | None = None
        self._conversation: Conversation | None = None
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
        """Load the hooks, open the archive and prepare the first conversation.

        Raises `ConfigError`, `ModelError`, `ScriptError`.
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
        saver = AsyncSqliteSaver.from_conn_string(str(archive.checkpoints()))
        self._saver = await self._stack.enter_async_context(saver)
        self._prepare(session_id)

    async def begin(self, source: Source) -> Halt | None:
        """Start the session that was prepared."""
        return await self.conversation.start(source)

    async def ask(self, prompt: str) -> Halt | None:
        """Submit a prompt and see its turn through."""
        conversation = self.conversation
        halt = await conversation.ask(prompt)
        if halt is None or not halt.refused:
            setup = self._setup
            archive.note(conversation.session_id, str(setup.cwd), setup.model, prompt)
        return halt

    async def change(self, reason: Reason, source: Source, session_id: str | None = None) -> Halt | None:
        """End this session for `reason`, and begin another one: a new one, or an earlier one again.

        Hooks files that changed meanwhile are read anew; if they cannot be used, what was
        loaded stays.
        """
        await self.conversation.end(reason)
        self.hooks.reload()
        self.permits = Permits()
        self._prepare(session_id)
        return await self.begin(source)

    async def end(self, reason: Reason) -> None:
        """End the session, if one was prepared."""
        if self._conversation is not None:
            await self._conversation.end(reason)

    async def close(self) -> None:
        """Close the archive."""
        await self._stack.aclose()

    def _prepare(self, session_id: str | None) -> None:
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
        )

    def _is_gated(self, request: ToolCallRequest) -> bool:
        name, args = request.tool_call["name"], request.tool_call["args"]
        return name in GATED and not self.permits.cover(name, args)
