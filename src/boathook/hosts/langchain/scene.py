"""Where a moment happens: which session, which agent in it, with which messages so far."""

from __future__ import annotations

import contextlib
import logging
import uuid
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.config import get_config

from boathook.hosts.langchain.dispatching import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.messages import BaseMessage

log = logging.getLogger("boathook")


class TranscriptSink(Protocol):
    """The conversation as a file that handlers can read."""

    @property
    def path(self) -> str:
        """The file, as handlers get it in `transcript_path`."""
        ...

    def sync(self, messages: Sequence[BaseMessage]) -> None:
        """Write what is not in the file yet; called with all messages known before each moment."""
        ...


@dataclass(frozen=True, slots=True)
class Subagent:
    """The subagent that a tool call runs in, working on a prompt of the main agent."""

    agent_id: str
    agent_type: str
    prompt_id: str | None = None


_inside: ContextVar[Subagent | None] = ContextVar("boathook_subagent", default=None)


@contextlib.contextmanager
def inside(subagent: Subagent | None) -> Iterator[None]:
    """Mark what runs in this block, the subagent's graph and its threads included."""
    token = _inside.set(subagent or _inside.get())
    try:
        yield
    finally:
        _inside.reset(token)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stays the same over all moments of one middleware."""

    session_id: str | None
    cwd: str | None
    permission_mode: str | None
    transcript: TranscriptSink | None
    knows_prompt: bool
    spare_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def scene(self, messages: Sequence[BaseMessage], prompt_id: str | None = None) -> Scene:
        """Return the scene of the node or tool call that is running."""
        session_id, agent = self.session_id or thread_id() or self.spare_id, _inside.get()
        return Scene(self, session_id, agent, messages, agent.prompt_id if agent else prompt_id)


@dataclass(frozen=True, slots=True)
class Scene:
    """One node's or tool call's surroundings."""

    around: Surroundings
    session_id: str
    subagent: Subagent | None
    messages: Sequence[BaseMessage]
    prompt_id: str | None = None

    def moment(self, event: str, **own: Any) -> Moment:  # noqa: ANN401 - payload values
        """Return a lifecycle event with the keys common to all; the transcript is written up first."""
        self._write_transcript()
        around, agent = self.around, self.subagent
        known = {
            "session_id": self.session_id,
            "transcript_path": around.transcript.path if around.transcript else None,
            "cwd": around.cwd,
            "permission_mode": around.permission_mode,
            # A session gives its own, which is the one that its prompt went by.
            "prompt_id": None if around.knows_prompt else self.prompt_id,
            "agent_id": agent.agent_id if agent else None,
            "agent_type": agent.agent_type if agent else None,
        }
        return Moment(event, {**{key: value for key, value in known.items() if value is not None}, **own})

    def _write_transcript(self) -> None:
        if self.around.transcript is None or self.subagent is not None:
            return
        try:
            self.around.transcript.sync(self.messages)
        except Exception:
            log.exception("the transcript could not be written")


def thread_id() -> str | None:
    """Return the thread that the running graph belongs to, where there is one."""
    try:
        found = get_config().get("configurable", {}).get("thread_id")
    except RuntimeError:
        return None
    return None if found is None else str(found)
