"""Tool calls that are announced while the model still streams them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage

from boathook.agent.script_file import parse_script
from boathook.agent.scripted import ScriptedModel
from boathook.hosts.langchain import HooksMiddleware, ToolStream
from boathook.session import Session
from langchain_support import MODES, Bench, FakeHooks, Script, calls, run, says

if TYPE_CHECKING:
    from collections.abc import Mapping

TWO_CALLS = """
chunk = 4
[[turn]]
calls = [
  { tool = "work", id = "first", args = { what = "aaaaaaaaaaaaaaaa" } },
  { tool = "play", id = "second", args = { what = "bbbbbbbbbbbbbbbb" } },
]
[[turn]]
text = "Done."
"""

MENDED = """
[[turn]]
calls = [{ tool = "work", id = "torn", raw_args = '{"what": "a"' }]
[[turn]]
text = "Done."
"""


class Pieces(BaseCallbackHandler):
    """Writes the pieces of tool calls into a log, after `ToolStream` had them."""

    run_inline = True

    def __init__(self, log: list[tuple[str, Any]]) -> None:
        self.log = log

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **kwargs: Any) -> None:
        self.log += [("piece", each["index"]) for each in chunk.message.tool_call_chunks]


class Telling(FakeHooks):
    """Writes what it is notified of into a log."""

    def __init__(self, log: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.log = log

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        super().notify(event, payload)
        self.log.append((event, (payload or {}).get("tool_id")))

    async def drain(self) -> None:
        """Nothing is under way."""

    def drain_sync(self, timeout: float | None = None) -> bool:
        return True


def stream(agent: Any, config: Any, mode: str) -> None:
    """Run an agent so that its model streams."""
    given = {"messages": [HumanMessage("go")]}
    if mode == "stream":
        for _ in agent.stream(given, config, stream_mode="messages"):
            pass
        return

    async def consume() -> None:
        async for _ in agent.astream(given, config, stream_mode="messages"):
            pass

    asyncio.run(consume())


def play(script: str, mode: str = "astream") -> tuple[list[tuple[str, Any]], Telling, Bench]:
    log: list[tuple[str, Any]] = []
    hooks, bench = Telling(log), Bench()
    session = Session(hooks)
    asyncio.run(session.start())
    agent = create_agent(
        ScriptedModel(parse_script(script, source="script")),
        bench.tools,
        middleware=[HooksMiddleware(session, lifecycle=False)],
    )
    stream(agent, {"callbacks": [ToolStream(session.tools), Pieces(log)]}, mode)
    return log, hooks, bench


def test_a_call_is_announced_before_the_next_one_has_begun_to_stream() -> None:
    log, _, bench = play(TWO_CALLS)
    assert log.index(("tool.use", "first")) < log.index(("piece", 1))
    assert log.index(("tool.use", "second")) < log.index(("tool.result", "first"))
    assert len(bench.ran) == 2


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_a_streamed_call_is_announced_once_and_its_result_has_its_arguments(mode: str) -> None:
    _, hooks, _ = play(TWO_CALLS, mode)
    assert [use["tool_id"] for use in hooks.of("tool.use")] == ["first", "second"]
    results = {result["tool_id"]: result["tool_args"] for result in hooks.of("tool.result")}
    assert results == {"first": {"what": "a" * 16}, "second": {"what": "b" * 16}}


def test_a_call_whose_streamed_arguments_never_parse_is_not_announced_although_it_runs_mended() -> None:
    _, hooks, bench = play(MENDED)
    assert bench.ran == ["a"]
    assert hooks.of("tool.use") == []
    assert [(each["tool_id"], each["tool_args"]) for each in hooks.of("tool.result")] == [("torn", {})]


@pytest.mark.parametrize("mode", MODES)
def test_without_the_stream_a_session_is_told_of_whole_calls(mode: str) -> None:
    log: list[tuple[str, Any]] = []
    hooks, bench = Telling(log), Bench()
    session = Session(hooks)
    asyncio.run(session.start())
    agent = create_agent(
        Script(calls(("work", {"what": "a"}), ("fail", {"what": "b"})), says()),
        bench.tools,
        middleware=[HooksMiddleware(session, lifecycle=False)],
    )
    with pytest.raises(ValueError, match="no b"):
        run(agent, "go", None, mode)
    assert [use["tool_args"] for use in hooks.of("tool.use")] == [{"what": "a"}, {"what": "b"}]
    ends = {end["tool_id"]: (end["tool_args"], end["tool_status"]) for end in hooks.of("tool.result")}
    assert ends["c2"] == ({"what": "b"}, "error")


def test_a_model_that_fails_after_it_announced_a_call_gives_it_an_end() -> None:
    class LineGoesDead(BaseCallbackHandler):
        raise_error = run_inline = True

        def on_llm_new_token(self, token: Any, *, chunk: Any = None, **kwargs: Any) -> None:
            if any(each["index"] == 1 for each in chunk.message.tool_call_chunks):
                raise ConnectionError("the line went dead")

    hooks, bench = Telling([]), Bench()
    session = Session(hooks)
    asyncio.run(session.start())
    model = ScriptedModel(parse_script(TWO_CALLS, source="script"))
    agent = create_agent(model, bench.tools, middleware=[HooksMiddleware(session, lifecycle=False)])
    with pytest.raises(ConnectionError, match="the line went dead"):
        stream(agent, {"callbacks": [ToolStream(session.tools), LineGoesDead()]}, "stream")
    assert bench.ran == []
    assert [(end["tool_id"], end["tool_status"]) for end in hooks.of("tool.result")] == [("first", "error")]
