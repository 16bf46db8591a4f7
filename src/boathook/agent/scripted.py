"""A chat model that says what a file tells it to: sessions that run offline, the same each time."""

# ruff: noqa: ANN401, ARG002 - the signatures are LangChain's.

from __future__ import annotations

import asyncio
import json
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables.config import ensure_config
from pydantic import PrivateAttr

from boathook.agent.script import MAIN, Call, Heard, Script, ScriptError, ToolResult, Turn
from boathook.agent.script_file import load_script

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

MARK: Final = "scripted"
"""The key in a message's `response_metadata` that says which turn of which lane it is."""

SUMMARY_LANE: Final = "summary"
"""The lane that is asked when the conversation is to be summarized."""

WAIT_LIMIT: Final = 60.0
"""Seconds a turn waits for its `wait_for` file before it gives up."""

_POLL = 0.01


class ScriptedModelError(RuntimeError):
    """What a turn with `error` raises, as a provider's client would."""


class ScriptedModel(BaseChatModel):
    """Plays a `Script`, one turn per call; streams for real, tool-call arguments in pieces.

    The next turn is found from the marks on earlier answers in the conversation, so one
    model serves many conversations, and subagents have lanes of their own by their name.
    """

    # Private: pydantic would take the script's frozen values apart to validate them.
    _script: Script = PrivateAttr()
    _main_agent: str = PrivateAttr()
    _raised: set[tuple[str, int, str]] = PrivateAttr(default_factory=set)

    def __init__(self, script: Script, *, main_agent: str = "", **kwargs: Any) -> None:
        """`main_agent` is the name that the main agent runs under, where it has one."""
        super().__init__(**kwargs)
        self._script = script
        self._main_agent = main_agent

    @classmethod
    def from_file(cls, path: str | Path, variables: Mapping[str, str] | None = None) -> ScriptedModel:
        """Return the model of a script's file. Raises `ScriptError`."""
        return cls(load_script(path, variables))

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"script": self._script.source}

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return itself: the script knows which tools it calls."""
        return self

    def _should_stream(
        self,
        *,
        async_api: bool,
        run_manager: CallbackManagerForLLMRun | AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> bool:
        # A streamed call is not told its own metadata, and only those say that it is for a summary.
        if run_manager is not None and _lane(run_manager) == SUMMARY_LANE:
            return False
        return super()._should_stream(async_api=async_api, run_manager=run_manager, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn, lane = self._due(messages, run_manager)
        for _ in _waiting(turn, self._script.source):
            time.sleep(_POLL)
        return _result(self._pieces(turn, lane, messages))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn, lane = self._due(messages, run_manager)
        for _ in _waiting(turn, self._script.source):
            await asyncio.sleep(_POLL)
        return _result(self._pieces(turn, lane, messages))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        turn, lane = self._due(messages, run_manager)
        for _ in _waiting(turn, self._script.source):
            time.sleep(_POLL)
        for piece in self._pieces(turn, lane, messages):
            yield ChatGenerationChunk(message=piece)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn, lane = self._due(messages, run_manager)
        for _ in _waiting(turn, self._script.source):
            await asyncio.sleep(_POLL)
        for piece in self._pieces(turn, lane, messages):
            await asyncio.sleep(0)
            yield ChatGenerationChunk(message=piece)

    def _due(
        self,
        messages: list[BaseMessage],
        run_manager: CallbackManagerForLLMRun | AsyncCallbackManagerForLLMRun | None,
    ) -> tuple[Turn, str]:
        lane = _lane(run_manager)
        lane = MAIN if lane == self._main_agent else lane
        played = _played(messages, lane)
        if len(played) >= self._script.limit:
            raise ScriptError(
                f"{self._script.source}: {len(played)} turns were played in one conversation, which looks "
                "like a loop that never ends. Set `limit` higher if it is none."
            )
        heard = _heard(messages)
        turn = self._script.next_turn(lane, played[-1] if played else 0, heard)
        while (
            turn.error is not None
            and (key := (lane, turn.number, _conversation_key(messages))) in self._raised
        ):
            turn = self._script.next_turn(lane, turn.number, heard)
        if turn.error is not None:
            self._raised.add(key)
        return turn, lane

    def _pieces(self, turn: Turn, lane: str, messages: list[BaseMessage]) -> Iterator[AIMessageChunk]:
        if turn.touch is not None:
            Path(turn.touch).touch()
        mark = {MARK: {"lane": lane, "turn": turn.number}}
        yield AIMessageChunk(content="", response_metadata=mark)
        for part in _split(turn.text, self._script.chunk):
            yield AIMessageChunk(content=part)
        if turn.error is not None:
            raise ScriptedModelError(turn.error)
        for index, call in enumerate(turn.calls):
            yield from _call_pieces(call, index, _call_id(call, index, lane, messages), self._script.chunk)


def _call_pieces(call: Call, index: int, call_id: str | None, size: int) -> Iterator[AIMessageChunk]:
    yield AIMessageChunk(
        content="",
        tool_call_chunks=[
            {"name": call.tool, "args": "", "id": call_id, "index": index, "type": "tool_call_chunk"}
        ],
    )
    written = call.raw if call.raw is not None else json.dumps(call.args, ensure_ascii=False)
    for part in _split(written, size):
        yield AIMessageChunk(
            content="",
            tool_call_chunks=[
                {"name": None, "args": part, "id": None, "index": index, "type": "tool_call_chunk"}
            ],
        )


def _call_id(call: Call, index: int, lane: str, messages: list[BaseMessage]) -> str | None:
    if call.id is not None:
        return call.id or None
    # The same place in the same conversation gives the same id, so that a node that is run again
    # asks for the same call. A subagent starts over with each task, so its ids need chance too.
    turn = sum(isinstance(message, AIMessage) for message in messages) + 1
    return f"call_{lane}_{turn}_{index + 1}_{secrets.token_hex(4)}" if lane else f"call_{turn}_{index + 1}"


def _split(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _result(pieces: Iterator[AIMessageChunk]) -> ChatResult:
    whole = next(pieces)
    for piece in pieces:
        whole += piece
    message = AIMessage(
        content=whole.content,
        response_metadata=whole.response_metadata,
        tool_calls=whole.tool_calls,
        invalid_tool_calls=whole.invalid_tool_calls,
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _waiting(turn: Turn, source: str) -> Iterator[None]:
    """Yield for as long as the turn's file is not there. The caller decides how to pause."""
    if turn.touch is not None:
        Path(turn.touch).touch()
    if turn.wait_for is None:
        return
    deadline = time.monotonic() + WAIT_LIMIT
    while not Path(turn.wait_for).exists():
        if time.monotonic() > deadline:
            raise ScriptError(f"{source}: turn {turn.number} waited {WAIT_LIMIT:.0f} s for {turn.wait_for}.")
        yield


def _lane(run_manager: CallbackManagerForLLMRun | AsyncCallbackManagerForLLMRun | None) -> str:
    metadata = ensure_config().get("metadata") or {}
    if run_manager is not None:
        metadata = {**metadata, **(run_manager.metadata or {})}
    if metadata.get("lc_source") == "summarization":
        return SUMMARY_LANE
    return str(metadata.get("lc_agent_name") or MAIN)


def _played(messages: Sequence[BaseMessage], lane: str) -> list[int]:
    marks = (message.response_metadata.get(MARK) for message in messages if isinstance(message, AIMessage))
    return [mark["turn"] for mark in marks if isinstance(mark, dict) and mark.get("lane") == lane]


def _conversation_key(messages: Sequence[BaseMessage]) -> str:
    first = next((message for message in messages if message.type == "human"), None)
    return "" if first is None else (first.id or first.text)


def _heard(messages: Sequence[BaseMessage]) -> Heard:
    said = max(
        (place for place, message in enumerate(messages) if MARK in message.response_metadata), default=-1
    )
    asked = max(
        (place for place, message in enumerate(messages) if isinstance(message, ToolMessage)), default=-1
    )
    called = max((p for p, m in enumerate(messages[: asked + 1]) if isinstance(m, AIMessage)), default=-1)
    return Heard(
        results=tuple(
            ToolResult(message.name or "", message.status, message.text)
            for message in messages[called + 1 : asked + 1]
            if isinstance(message, ToolMessage)
        ),
        input="\n".join(message.text for message in messages[said + 1 :]),
        conversation="\n".join(message.text for message in messages),
    )
