"""The scripted model as LangChain sees it."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from boathook.agent.script import ScriptError
from boathook.agent.script_file import parse_script
from boathook.agent.scripted import ScriptedModel, ScriptedModelError

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig

CALL = """
chunk = 3
[[turn]]
text = "Looking."
calls = [{ tool = "ls", args = { path = "/wörk" } }, { tool = "ls", args = {} }]
[[turn]]
text = "Done."
"""


def model(text: str) -> ScriptedModel:
    return ScriptedModel(parse_script(text, source="story.toml"))


def told(*texts: str) -> list[BaseMessage]:
    return [HumanMessage(text, id=f"h{n}") for n, text in enumerate(texts)]


async def streamed(model: ScriptedModel, messages: list[BaseMessage]) -> list[AIMessageChunk]:
    return [chunk async for chunk in model.astream(messages)]


def test_a_whole_answer_has_the_text_and_the_calls_of_its_turn() -> None:
    answer = model(CALL).invoke(told("hi"))
    assert answer.text == "Looking."
    assert [(call["name"], call["args"], call["id"]) for call in answer.tool_calls] == [
        ("ls", {"path": "/wörk"}, "call_1_1"),
        ("ls", {}, "call_1_2"),
    ]


def test_text_and_arguments_are_streamed_in_pieces_of_the_given_size() -> None:
    chunks = list(model(CALL).stream(told("hi")))
    pieces = [part["args"] for chunk in chunks for part in chunk.tool_call_chunks if part["args"]]
    assert [chunk.text for chunk in chunks if chunk.text] == ["Loo", "kin", "g."]
    assert max(map(len, pieces)) == 3
    assert json.loads("".join(pieces[:-1])) == {"path": "/wörk"}


def test_sync_and_async_whole_and_streamed_answers_are_the_same() -> None:
    async def whole_and_streamed() -> tuple[AIMessage, list[AIMessageChunk]]:
        return await model(CALL).ainvoke(told("hi")), await streamed(model(CALL), told("hi"))

    whole, chunks = asyncio.run(whole_and_streamed())
    joined = chunks[0]
    for chunk in chunks[1:]:
        joined += chunk
    sync = model(CALL).invoke(told("hi"))
    for answer in (whole, joined):
        assert (answer.text, answer.tool_calls) == (sync.text, sync.tool_calls)
        assert answer.response_metadata["scripted"] == {"lane": "", "turn": 1}


def test_the_conversation_alone_says_which_turn_is_next_so_a_new_model_goes_on() -> None:
    first = model(CALL).invoke(told("hi"))
    messages = [*told("hi"), first, ToolMessage("a.py", name="ls", tool_call_id="call_1_1")]
    assert model(CALL).invoke(messages).text == "Done."
    assert model(CALL).invoke(told("hi")).text == "Looking."


def test_answers_of_others_in_the_conversation_do_not_move_the_script() -> None:
    assert model(CALL).invoke([*told("hi"), AIMessage("from elsewhere")]).text == "Looking."


def test_conditions_see_the_results_of_the_last_calls_even_after_a_hook_spoke() -> None:
    text = """
[[turn]]
when.result.contains = "old"
text = "wrong"
[[turn]]
when.result = { contains = "new", status = "error", tool = "ls" }
text = "right"
"""
    messages = [
        AIMessage("", tool_calls=[{"name": "ls", "args": {}, "id": "1"}]),
        ToolMessage("old", name="ls", tool_call_id="1"),
        AIMessage("", tool_calls=[{"name": "ls", "args": {}, "id": "2"}]),
        ToolMessage("new", name="ls", tool_call_id="2", status="error"),
        HumanMessage("feedback"),
    ]
    assert model(text).invoke(messages).text == "right"


def test_arguments_that_never_parse_become_an_invalid_call() -> None:
    answer = model('[[turn]]\ncalls = [{ tool = "ls", raw_args = "oops" }]\n').invoke(told("hi"))
    assert answer.tool_calls == []
    assert answer.invalid_tool_calls[0]["args"] == "oops"


def test_a_call_may_carry_a_given_id_or_none() -> None:
    text = '[[turn]]\ncalls = [{ tool = "a", id = "x" }, { tool = "b", id = "" }]\n'
    assert [call["id"] for call in model(text).invoke(told("hi")).tool_calls] == ["x", None]


def test_a_turn_that_fails_raises_once_and_the_next_call_goes_on() -> None:
    failing = model('[[turn]]\ntext = "half"\nerror = "overloaded"\n[[turn]]\ntext = "fine"\n')
    with pytest.raises(ScriptedModelError, match="overloaded"):
        failing.invoke(told("hi"))
    assert failing.invoke(told("hi")).text == "fine"
    with pytest.raises(ScriptedModelError):
        failing.invoke([HumanMessage("another conversation", id="other")])


def test_a_streamed_failure_comes_after_its_text() -> None:
    failing = model('chunk = 4\n[[turn]]\ntext = "half"\nerror = "overloaded"\n')
    seen: list[str] = []
    with pytest.raises(ScriptedModelError):
        seen.extend(chunk.text for chunk in failing.stream(told("hi")))
    assert "".join(seen) == "half"


def test_a_loop_that_never_ends_is_told() -> None:
    text = 'limit = 3\n[[turn]]\nuntil.input.contains = "never"\ntext = "again"\n'
    looping = model(text)
    messages = told("hi")
    for _ in range(3):
        messages.append(looping.invoke(messages))
    with pytest.raises(ScriptError, match="3 turns were played"):
        looping.invoke(messages)


@pytest.mark.parametrize("how", ["invoke", "stream", "ainvoke", "astream"])
def test_a_turn_waits_for_its_file_and_says_that_it_was_reached(tmp_path: Path, how: str) -> None:
    here, go = tmp_path / "here", tmp_path / "go"
    waiting = model(f'[[turn]]\ntext = "went"\ntouch = "{here}"\nwait_for = "{go}"\n')

    def let_go() -> None:
        while not here.exists():
            threading.Event().wait(0.005)
        go.touch()

    threading.Thread(target=let_go).start()
    if how == "invoke":
        text = str(waiting.invoke(told("hi")).text)
    elif how == "stream":
        text = "".join(chunk.text for chunk in waiting.stream(told("hi")))
    elif how == "ainvoke":
        text = str(asyncio.run(waiting.ainvoke(told("hi"))).text)
    else:
        text = "".join(chunk.text for chunk in asyncio.run(streamed(waiting, told("hi"))))
    assert text == "went"
    assert go.exists()


def test_waiting_can_be_cancelled(tmp_path: Path) -> None:
    here = tmp_path / "here"
    waiting = model(f'[[turn]]\ntext = "x"\ntouch = "{here}"\nwait_for = "{tmp_path / "never"}"\n')

    async def cancelled() -> bool:
        task = asyncio.create_task(waiting.ainvoke(told("hi")))
        while not here.exists():
            await asyncio.sleep(0.005)
        task.cancel()
        return isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)

    assert asyncio.run(cancelled())


CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}


def asked(agent: Any, given: Any, config: RunnableConfig | None = None) -> list[Any]:
    """Run an agent and return its messages; the graph's own types say nothing here."""
    return list(agent.invoke(given, config)["messages"])


@tool
def ls(path: str = ".") -> str:
    """List."""
    return f"files of {path}"


def test_an_agent_resumed_from_a_checkpoint_by_another_model_goes_on_where_it_stopped() -> None:
    saver = InMemorySaver()
    interrupted = create_agent(model(CALL), [ls], checkpointer=saver, interrupt_before=["tools"])
    asked(interrupted, {"messages": told("hi")}, CONFIG)
    resumed = create_agent(model(CALL), [ls], checkpointer=saver)
    messages = asked(resumed, None, CONFIG)
    assert [message.text for message in messages if message.type == "tool"] == [
        "files of /wörk",
        "files of .",
    ]
    assert messages[-1].text == "Done."


def test_a_named_agent_plays_its_lane_and_the_main_agents_name_may_be_given() -> None:
    text = '[[turn]]\ntext = "main"\n[[agent.helper.turn]]\ntext = "sub"\n'
    shared = ScriptedModel(parse_script(text, source="s"), main_agent="boss")
    for name, answer in (("helper", "sub"), ("boss", "main"), (None, "main")):
        agent: Any = create_agent(shared, [], name=name)
        for streaming in (False, True):
            if streaming:
                said = "".join(
                    m.text for m, _ in agent.stream({"messages": told("hi")}, stream_mode="messages")
                )
            else:
                said = asked(agent, {"messages": told("hi")})[-1].text
            assert said == answer


def test_call_ids_of_a_subagent_differ_from_run_to_run() -> None:
    text = '[[agent.helper.turn]]\ncalls = [{ tool = "ls" }]\n[[agent.helper.turn]]\ntext = "done"\n'
    agent: Any = create_agent(model(text), [ls], name="helper")
    ids = {
        message.tool_calls[0]["id"]
        for _ in range(2)
        for message in asked(agent, {"messages": told("hi")})
        if isinstance(message, AIMessage) and message.tool_calls
    }
    assert len(ids) == 2


def test_a_summary_has_a_lane_of_its_own_even_while_streaming() -> None:
    shared = model('[[turn]]\ntext = "main"\n[[agent.summary.turn]]\ntext = "short"\n')
    config: RunnableConfig = {"metadata": {"lc_source": "summarization"}}
    assert shared.invoke(told("sum up"), config=config).text == "short"
    assert asyncio.run(shared.ainvoke(told("sum up"), config=config)).text == "short"
