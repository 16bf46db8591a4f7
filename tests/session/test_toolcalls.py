from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook.session.toolcalls import REMEMBERED, ToolCalls
from boathook.terms.problem import PayloadError

Log = list[tuple[str, dict[str, Any]]]


def recorder() -> tuple[ToolCalls, Log]:
    log: Log = []
    return ToolCalls(lambda event, payload: log.append((event, payload))), log


def chunk(index: int | None = 0, **rest: object) -> dict[str, Any]:
    return {"index": index, "id": None, "name": None, "args": None, **rest}


def uses(log: Log) -> list[tuple[str, str, object]]:
    return [
        (payload["tool_name"], payload["tool_id"], payload["tool_args"])
        for event, payload in log
        if event == "tool.use"
    ]


def test_a_call_is_announced_with_the_chunk_that_completes_it() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args='{"path":')])
    tools.feed([chunk(args=' "x"')])
    assert log == []
    tools.feed([chunk(args="}")])
    assert uses(log) == [("ls", "a", {"path": "x"})]


def test_an_id_that_arrives_late_is_waited_for() -> None:
    tools, log = recorder()
    tools.feed([chunk(name="ls", args='{"path": "x"}')])
    assert log == []
    tools.feed([chunk(id="a")])
    assert uses(log) == [("ls", "a", {"path": "x"})]


def test_a_late_id_may_come_with_the_name_again() -> None:
    tools, log = recorder()
    tools.feed([chunk(name="ls", args="{}"), chunk(id="a", name="ls", args="")])
    assert uses(log) == [("ls", "a", {})]


def test_a_name_that_arrives_late_is_waited_for() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", args="{}")])
    assert log == []
    tools.feed([chunk(name="ls")])
    assert uses(log) == [("ls", "a", {})]


def test_a_name_may_come_in_pieces_or_again_with_every_chunk() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="write"), chunk(name="_file"), chunk(args="{}")])
    tools.feed([chunk(1, id="b", name="ls", args="{"), chunk(1, id="b", name="ls", args="}")])
    assert uses(log) == [("write_file", "a", {}), ("ls", "b", {})]


def test_a_call_without_an_id_is_never_announced() -> None:
    tools, log = recorder()
    tools.feed([chunk(name="ls", args='{"path": "x"}')])
    tools.finish()
    tools.whole("ls", None, {"path": "x"})
    tools.whole("ls", "", {"path": "x"})
    assert log == []


@pytest.mark.parametrize("args", ['{"path": "x', "{]", '{"a": NaN}', "tru", '{"a" 1}'])
def test_a_call_whose_arguments_never_parse_is_never_announced(args: str) -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args=args)])
    tools.whole("ls", "a", {"path": "x"})  # a framework that mends what it was given
    tools.finish()
    tools.whole("ls", "a", {"path": "x"})
    assert log == []
    tools.failed("ls", "a", "bad arguments")
    assert log[0][1]["tool_args"] == {}
    assert log[0][1]["tool_id"] == "a"


def test_a_bare_number_may_go_on_until_the_message_ends() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="count", args="12"), chunk(args="3")])
    assert log == []
    tools.finish()
    assert uses(log) == [("count", "a", {"value": 123})]


def test_a_bare_number_also_ends_where_the_next_call_takes_its_index() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="count", args="12"), chunk(id="b", name="count", args="3")])
    assert uses(log) == [("count", "a", {"value": 12})]
    tools.finish()
    assert uses(log)[1:] == [("count", "b", {"value": 3})]


@pytest.mark.parametrize("args", ["", None, " "])
def test_no_arguments_at_all_are_an_empty_object_once_the_message_is_complete(args: str | None) -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args=args)])
    assert log == []
    tools.finish()
    assert uses(log) == [("ls", "a", {})]


def test_two_calls_with_the_same_name_are_two_calls() -> None:
    tools, log = recorder()
    tools.feed([chunk(0, id="a", name="ls", args='{"n"'), chunk(1, id="b", name="ls", args='{"n"')])
    tools.feed([chunk(1, args=": 2}"), chunk(0, args=": 1}")])
    assert uses(log) == [("ls", "b", {"n": 2}), ("ls", "a", {"n": 1})]


def test_indices_begin_anew_with_the_next_message() -> None:
    tools, log = recorder()
    for tool_id in ("a", "b"):
        tools.feed([chunk(id=tool_id, name="ls", args="{"), chunk(args="}")])
        tools.finish()
    assert uses(log) == [("ls", "a", {}), ("ls", "b", {})]


def test_a_provider_that_gives_every_call_the_same_index_is_understood() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args='{"n": 1}'), chunk(id="b", name="ls", args='{"n": 2}')])
    assert uses(log) == [("ls", "a", {"n": 1}), ("ls", "b", {"n": 2})]


def test_a_call_without_id_is_not_mistaken_for_the_next_one_at_its_index() -> None:
    tools, log = recorder()
    tools.feed([chunk(name="ls", args='{"n": 1}'), chunk(name="ls", id="b", args='{"n": 2}')])
    tools.feed([chunk(name="cp", args='{"n": 3}'), chunk(id="c")])
    assert uses(log) == [("ls", "b", {"n": 2}), ("cp", "c", {"n": 3})]


def test_messages_that_stream_at_the_same_time_are_kept_apart() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args='{"n":')], message="parent")
    tools.feed([chunk(id="b", name="ls", args='{"n":')], message="child")
    tools.feed([chunk(args="1}")], message="parent")
    tools.feed([chunk(args="2}")], message="child")
    assert uses(log) == [("ls", "a", {"n": 1}), ("ls", "b", {"n": 2})]


def test_chunks_without_an_index_go_by_their_id_and_then_by_what_came_last() -> None:
    tools, log = recorder()
    tools.feed([chunk(None, id="a", name="ls", args='{"n":'), chunk(None, args=" 1}")])
    tools.feed([chunk(None, id="b", name="ls", args='{"n": '), chunk(None, id="c", name="ls", args="{}")])
    tools.feed([chunk(None, id="b", args="2}")])
    assert uses(log) == [("ls", "a", {"n": 1}), ("ls", "c", {}), ("ls", "b", {"n": 2})]


def test_arguments_that_come_as_an_object_are_complete() -> None:
    tools, log = recorder()
    tools.feed([chunk(name="ls", args={"n": 1}), chunk(id="a")])
    assert uses(log) == [("ls", "a", {"n": 1})]


def test_a_provider_that_sends_whole_calls_is_announced_at_once() -> None:
    tools, log = recorder()
    tools.whole("ls", "a", {"n": 1})
    tools.whole("ls", "b", '{"n": 2}')
    tools.whole("ls", "c", [3])
    assert uses(log) == [("ls", "a", {"n": 1}), ("ls", "b", {"n": 2}), ("ls", "c", {"value": [3]})]


def test_a_whole_call_stands_in_for_streamed_chunks_that_had_no_arguments() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls")])
    tools.whole("ls", "a", {"n": 1})
    tools.finish()
    assert uses(log) == [("ls", "a", {"n": 1})]


def test_chunks_and_messages_that_are_sent_again_announce_nothing_twice() -> None:
    tools, log = recorder()
    stream = [chunk(id="a", name="ls", args='{"n"'), chunk(args=": 1}")]
    tools.feed(stream)
    tools.feed(stream)
    tools.whole("ls", "a", {"n": 1})
    tools.finish()
    tools.feed(stream, message="again")
    tools.succeeded("ls", "a", "done")
    tools.feed(stream, message="once more")
    tools.whole("ls", "a", {"n": 1})
    assert len(uses(log)) == 1


def test_every_result_carries_the_arguments_that_were_announced() -> None:
    tools, log = recorder()
    tools.whole("ls", "a", {"n": 1})
    tools.succeeded("ls", "a", "listed")
    assert log[1:] == [
        (
            "tool.result",
            {
                "tool_name": "ls",
                "tool_id": "a",
                "tool_args": {"n": 1},
                "tool_status": "success",
                "tool_output": "listed",
            },
        )
    ]


@pytest.mark.parametrize("end", ["failed", "rejected", "cancelled"])
def test_every_other_end_is_an_error_and_tool_error_fires_alongside(end: str) -> None:
    tools, log = recorder()
    tools.whole("ls", "a", {"n": 1})
    getattr(tools, end)("ls", "a", "why")
    (_, use), (first, result), second = log
    assert use["tool_args"] == result["tool_args"] == {"n": 1}
    assert (first, result["tool_status"], result["tool_output"]) == ("tool.result", "error", "why")
    assert second == ("tool.error", {"tool_names": ["ls"]})


def test_a_call_that_never_ran_says_why_even_if_nobody_gave_it_words() -> None:
    tools, log = recorder()
    tools.rejected("ls", "a")
    tools.cancelled("ls", "b")
    outputs = [payload["tool_output"] for event, payload in log if event == "tool.result"]
    assert "rejected" in outputs[0]
    assert "cancelled" in outputs[1]


def test_a_result_without_an_id_has_a_null_id_and_no_arguments() -> None:
    tools, log = recorder()
    tools.succeeded("ls", None, "x")
    assert log[0][1]["tool_id"] is None
    assert log[0][1]["tool_args"] == {}


def test_the_calls_that_are_open_can_be_cancelled_together_and_their_own_late_reports_are_dropped() -> None:
    tools, log = recorder()
    tools.whole("ls", "a", {})
    tools.whole("cp", "b", {})
    tools.succeeded("ls", "a", "x")
    tools.cancel_open()
    tools.cancelled("cp", "b")
    ends = [(p["tool_id"], p["tool_status"]) for event, p in log if event == "tool.result"]
    assert ends == [("a", "success"), ("b", "error")]


def test_a_payload_that_the_engine_cannot_write_is_logged_and_never_reaches_the_stream() -> None:
    log: list[str] = []

    def emit(event: str, payload: dict[str, Any]) -> None:
        log.append(event)
        if event == "tool.use":
            raise PayloadError("cannot be written")

    tools = ToolCalls(emit)
    tools.whole("ls", "a", {"set": {1}})
    tools.succeeded("ls", "a", "x")
    assert log == ["tool.use", "tool.result"]


def test_only_so_many_ended_calls_are_remembered() -> None:
    tools, _ = recorder()
    for number in range(REMEMBERED + 10):
        tools.succeeded("ls", str(number), "x")
    assert len(tools._remembered) == REMEMBERED


arguments = st.dictionaries(
    st.text(max_size=5),
    st.text(max_size=10) | st.integers() | st.lists(st.text('{}[]"\\ é😀', max_size=5), max_size=3),
    max_size=3,
)
anything = arguments | st.lists(st.integers(), max_size=3) | st.integers() | st.text(max_size=6) | st.none()


@st.composite
def streams(draw: st.DrawFn) -> tuple[dict[str, object], list[dict[str, Any]]]:
    """Return the arguments of up to four parallel calls by id, and a random stream that carries them."""
    calls: dict[str, object] = {f"call-{number}": draw(anything) for number in range(draw(st.integers(1, 4)))}
    lanes = [draw(lanes_of(index, *call)) for index, call in enumerate(calls.items())]
    stream = []
    while any(lanes):
        lane = draw(st.sampled_from([lane for lane in lanes if lane]))
        stream.append(lane.pop(0))
    return calls, stream


@st.composite
def lanes_of(draw: st.DrawFn, index: int, tool_id: str, args: object) -> list[dict[str, Any]]:
    """Return one call's chunks: its arguments split anywhere, its id early or late, once or repeatedly."""
    text = json.dumps(args, ensure_ascii=draw(st.booleans()))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    named = draw(st.sampled_from(["first", "every"]))
    id_at = draw(st.integers(0, len(pieces)))
    chunks = []
    for number, piece in enumerate([*pieces, ""]):
        name = "tool" if number == 0 or named == "every" else None
        chunks.append(chunk(index, name=name, args=piece, id=tool_id if number == id_at else None))
    return chunks


@settings(max_examples=150, deadline=None)
@given(streams())
def test_any_stream_announces_each_call_once_with_its_own_arguments(
    drawn: tuple[dict[str, object], list[dict[str, Any]]],
) -> None:
    calls, stream = drawn
    tools, log = recorder()
    for one in stream:
        tools.feed([one])
    before = {tool_id for _, tool_id, _ in uses(log)}
    tools.finish()
    wrapped = {i: args if isinstance(args, dict) else {"value": args} for i, args in calls.items()}
    assert len(log) == len(calls)
    assert {tool_id: args for _, tool_id, args in uses(log)} == wrapped
    assert before >= {tool_id for tool_id, args in calls.items() if isinstance(args, dict | list | str)}


@settings(max_examples=100, deadline=None)
@given(streams(), st.integers(0, 100))
def test_a_stream_that_breaks_off_announces_only_what_was_complete(
    drawn: tuple[dict[str, object], list[dict[str, Any]]], cut: int
) -> None:
    calls, stream = drawn
    tools, log = recorder()
    tools.feed(stream[: cut % len(stream)])
    announced = {tool_id: args for _, tool_id, args in uses(log)}
    for tool_id, args in announced.items():
        assert args == (calls[tool_id] if isinstance(calls[tool_id], dict) else {"value": calls[tool_id]})
    tools.cancel_open()
    ended = [payload["tool_id"] for event, payload in log if event == "tool.result"]
    assert sorted(ended) == sorted(announced)


def test_a_message_that_is_broken_off_cancels_what_it_announced_and_forgets_what_it_began() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args="{}"), chunk(1, id="b", name="cat", args='{"path"')])
    tools.broken_off()
    tools.feed([chunk(1, args=': "x"}')])
    tools.finish()
    assert uses(log) == [("ls", "a", {})]
    assert [(event, payload.get("tool_id")) for event, payload in log[1:]] == [
        ("tool.result", "a"),
        ("tool.error", None),
    ]
    assert log[1][1]["tool_status"] == "error"


def test_the_end_of_a_call_that_an_earlier_process_announced_has_its_arguments() -> None:
    tools, log = recorder()
    tools.announced_before("ls", "a", {"path": "x"})
    tools.succeeded("ls", "a", "y")
    assert uses(log) == []
    assert log[0][1]["tool_args"] == {"path": "x"}


def test_what_is_known_here_is_not_taken_for_announced_before() -> None:
    tools, log = recorder()
    tools.feed([chunk(id="a", name="ls", args='{"path": ')])
    tools.finish()
    tools.announced_before("ls", "a", {"path": "mended"})
    tools.succeeded("ls", "a", "y")
    assert log[0][1]["tool_args"] == {}
