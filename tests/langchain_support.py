"""What the tests of the LangChain host need: a scripted model, recording hooks, ways to run an agent."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import PrivateAttr

from boathook import Hooks
from boathook.terms.decision import Decision

if TYPE_CHECKING:
    from pathlib import Path

Turn = AIMessage | Exception | Callable[[list[BaseMessage]], AIMessage]


class Script(BaseChatModel):
    """Plays turns in order; a conversation that begins with a lane's words plays that lane's turns.

    With `by_history`, the turn follows from how often the model has spoken already, so
    that another process goes on where one ended.
    """

    by_history: bool = False
    _lanes: dict[str, list[Turn]] = PrivateAttr()
    _places: dict[str, int] = PrivateAttr(default_factory=dict)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    def __init__(
        self, *turns: Turn, lanes: Mapping[str, Sequence[Turn]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._lanes = {"": list(turns), **{key: list(value) for key, value in (lanes or {}).items()}}

    @property
    def seen(self) -> list[list[BaseMessage]]:
        """The messages of every call so far."""
        return self._seen

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        first = next((str(m.text) for m in messages if isinstance(m, HumanMessage)), "")
        lane = next((key for key in self._lanes if key and first.startswith(key)), "")
        with self._lock:
            self._seen.append(list(messages))
            place = self._places.get(lane, 0)
            self._places[lane] = place + 1
        if self.by_history:
            place = sum(isinstance(message, AIMessage) for message in messages)
        turns = self._lanes[lane]
        turn = turns[place] if place < len(turns) else AIMessage("(the script is over)")
        if isinstance(turn, Exception):
            raise turn
        message = turn(messages) if callable(turn) else turn.model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=message)])


def says(text: str = "done") -> AIMessage:
    return AIMessage(text)


def calls(*wanted: tuple[str, dict[str, Any]], first: int = 1, text: str = "") -> AIMessage:
    """Return a turn that calls tools, with the ids ``c1``, ``c2`` …"""
    return AIMessage(
        text,
        tool_calls=[
            {"name": name, "args": args, "id": f"c{number}"}
            for number, (name, args) in enumerate(wanted, first)
        ],
    )


class Bench:
    """Tools that say when they ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

        @tool
        def work(what: str) -> str:
            """Work."""
            self.ran.append(what)
            return f"worked on {what}"

        @tool
        def play(what: str) -> str:
            """Play."""
            self.ran.append(what)
            return f"played {what}"

        @tool
        def fail(what: str) -> str:
            """Fail."""
            self.ran.append(what)
            raise ValueError(f"no {what}")

        self.tools = [work, play, fail]


Answer = Decision | Mapping[str, Any] | Exception | None


class FakeHooks:
    """Answers moments from a table, and records them. A value may be a function of the payload."""

    def __init__(self, **answers: Answer | Callable[[Mapping[str, Any]], Answer]) -> None:
        self.answers = answers
        self.moments: list[tuple[str, dict[str, Any]]] = []
        self.notices: list[tuple[str, dict[str, Any]]] = []
        self.lock = threading.Lock()

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        await asyncio.sleep(0)
        return self.dispatch_sync(event, payload)

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        with self.lock:
            self.moments.append((event, dict(payload or {})))
        answer = self.answers.get(event.replace(".", "_"))
        if callable(answer):
            answer = answer(payload or {})
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Decision):
            return answer
        return Decision(event, "0" * 64, **dict(answer or {}))

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        with self.lock:
            self.notices.append((event, dict(payload or {})))

    def of(self, event: str) -> list[dict[str, Any]]:
        return [payload for name, payload in [*self.moments, *self.notices] if name == event]

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.moments]


def denied(reason: str = "not here", **more: Any) -> dict[str, Any]:
    return {"permission": "deny", "block": True, "reason": reason, **more}


def on_tool(name: str, answer: Answer) -> Callable[[Mapping[str, Any]], Answer]:
    """Give the answer for one tool, by its name on the wire, and none for others."""
    return lambda payload: answer if payload["tool_name"] == name else None


def real_hooks(folder: Path, hooks: Mapping[str, Any] | Sequence[Any], **kwargs: Any) -> Hooks:
    folder.mkdir(exist_ok=True)
    file = folder / "hooks.json"
    file.write_text(json.dumps({"hooks": hooks}))
    return Hooks.load(files=[file], project=folder, **kwargs)


def command(text: str, matcher: str | None = None) -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": text}]}
    return group if matcher is None else {"matcher": matcher, **group}


def recorder(log: Path) -> str:
    """Return a command that appends its payload to a file, a line in one write."""
    code = "import os,sys; os.write(os.open(sys.argv[1], 1089, 0o600), sys.stdin.buffer.read())"
    return shlex.join([sys.executable, "-I", "-S", "-c", code, str(log)])


def recorded(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def names(log: Path) -> list[str]:
    return [entry.get("hook_event_name") or entry["event"] for entry in recorded(log)]


MODES = ("invoke", "ainvoke", "stream", "astream")


def run(agent: Any, given: Any, config: Any = None, mode: str = "invoke") -> dict[str, Any]:
    """Run an agent in one of the four ways and return its last state."""
    if isinstance(given, str):
        given = {"messages": [HumanMessage(given)]}
    result: dict[str, Any] = {}
    if mode == "invoke":
        result = agent.invoke(given, config)
    elif mode == "ainvoke":
        result = asyncio.run(agent.ainvoke(given, config))
    elif mode == "stream":
        for chunk in agent.stream(given, config, stream_mode="values"):
            result = {**result, **chunk}
    else:

        async def through() -> dict[str, Any]:
            last: dict[str, Any] = {}
            async for chunk in agent.astream(given, config, stream_mode="values"):
                last = {**last, **chunk}
            return last

        result = asyncio.run(through())
    return result


def results(state: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return each tool call's status and text, by its id."""
    return {
        message.tool_call_id: (message.status, str(message.text))
        for message in state["messages"]
        if message.type == "tool"
    }


def texts(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(str(message.text) for message in messages)
