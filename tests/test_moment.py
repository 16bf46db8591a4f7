"""What a host says of a moment, made the payload that handlers read: contract sections 3, 5 and 11."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from boathook import PayloadError, UnknownEventError, moment
from boathook.terms.events import COMMON_KEYS, EVENTS, NOTIFICATIONS
from boathook.terms.text import TOOL_OUTPUT_LIMIT, TOOL_OUTPUT_MARK
from boathook.terms.wire import encode


@pytest.mark.parametrize("event", [*EVENTS, *NOTIFICATIONS])
def test_every_event_has_its_row(event: str) -> None:
    assert moment.row_of(event).name == event


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("pretooluse", "PreToolUse"), ("tool_use", "tool.use"), ("PostToolUseFail", "PostToolUseFailure")],
)
def test_an_unknown_event_is_an_error_with_the_nearest_name(wrong: str, right: str) -> None:
    with pytest.raises(UnknownEventError, match=right):
        moment.row_of(wrong)


def test_an_unknown_event_like_no_other_is_an_error_with_all_names() -> None:
    with pytest.raises(UnknownEventError, match=r"SessionStart.*user\.name\.set"):
        moment.row_of("zzz")


@pytest.mark.parametrize("payload", [None, [], "x", 5, [("a", 1)]])
def test_a_payload_that_is_no_object_is_an_error(payload: Any) -> None:
    with pytest.raises(PayloadError, match="Stop is an object"):
        moment.checked("Stop", payload)


def test_what_is_missing_of_the_common_keys_is_filled_in() -> None:
    whole = moment.lifecycle_payload(EVENTS["Stop"], {"stop_hook_active": True}, "s", "/c")
    assert set(COMMON_KEYS) < set(whole)
    assert (whole["session_id"], whole["cwd"], whole["hook_event_name"]) == ("s", "/c", "Stop")
    assert Path(whole["transcript_path"]).is_absolute()


def test_what_the_host_said_stays_but_for_the_event_and_the_tools_name() -> None:
    said = {
        "session_id": "x",
        "cwd": "/w",
        "transcript_path": "/t",
        "hook_event_name": "?",
        "tool_name": "execute",
        "more": 1,
    }
    whole = moment.lifecycle_payload(EVENTS["PreToolUse"], said, "s", "/c")
    assert whole == {**said, "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    assert said["tool_name"] == "execute"


def test_a_tools_name_of_the_wrong_type_stays_as_it_is() -> None:
    assert moment.lifecycle_payload(EVENTS["PreToolUse"], {"tool_name": 5}, "s", "/c")["tool_name"] == 5


def test_a_payload_is_one_line_of_ascii_and_a_newline() -> None:
    payload: dict[str, Any] = {"a": "größe 写 🎣 \u2028\n\0", "b": [1, 2.5, None, True, {}], "lone": "\ud800"}
    data = encode(payload)
    assert data.isascii()
    assert data.count(b"\n") == 1
    assert data.endswith(b"}\n")
    assert json.loads(data) == payload


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {1, 2}, Path("/"), object()])
def test_a_payload_that_is_no_json_is_an_error(value: object) -> None:
    with pytest.raises(PayloadError, match="cannot be written as JSON"):
        encode({"a": value})


def test_a_payload_nested_without_end_is_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (loop, deep):
        with pytest.raises(PayloadError):
            encode({"a": value})
    while deep:
        deep = deep[0]  # so that freeing it does not recurse


@pytest.mark.parametrize(
    ("value", "wanted"),
    [([1], {"value": [1]}), ("x", {"value": "x"}), (None, {"value": None}), ({"a": 1}, {"a": 1}), ({}, {})],
)
def test_arguments_that_are_no_object_are_wrapped(value: object, wanted: object) -> None:
    for event in ("tool.use", "tool.result"):
        assert moment.notification_payload(NOTIFICATIONS[event], {"tool_args": value})["tool_args"] == wanted


def test_arguments_are_never_cut() -> None:
    args = {"content": "x" * 1_000_000}
    assert moment.notification_payload(NOTIFICATIONS["tool.result"], {"tool_args": args})["tool_args"] == args


def test_output_is_cut_to_its_limit_and_says_so_once() -> None:
    row = NOTIFICATIONS["tool.result"]
    cut = moment.notification_payload(row, {"tool_output": "x" * (TOOL_OUTPUT_LIMIT + 1)})["tool_output"]
    assert len(cut) == TOOL_OUTPUT_LIMIT
    assert cut.endswith("x" + TOOL_OUTPUT_MARK)
    assert moment.notification_payload(row, {"tool_output": cut})["tool_output"] == cut
    whole = "x" * TOOL_OUTPUT_LIMIT
    assert moment.notification_payload(row, {"tool_output": whole})["tool_output"] == whole


def test_a_result_without_arguments_or_an_id_has_neither() -> None:
    payload = moment.notification_payload(NOTIFICATIONS["tool.result"], {"tool_name": "t"})
    assert (payload["tool_args"], payload["tool_id"]) == ({}, None)
    assert "tool_args" not in moment.notification_payload(NOTIFICATIONS["tool.use"], {"tool_name": "t"})


@pytest.mark.parametrize("event", NOTIFICATIONS)
def test_a_notification_begins_with_its_own_event(event: str) -> None:
    payload = moment.notification_payload(NOTIFICATIONS[event], {"event": "other", "x": 1})
    assert next(iter(payload.items())) == ("event", event)


@pytest.mark.parametrize(
    "row", [row for row in NOTIFICATIONS.values() if row.derived_from], ids=lambda row: row.name
)
def test_a_derived_notification_has_exactly_its_own_keys(row: Any) -> None:
    facts = moment.announced(row, {"session_id": "s", "tool_name": "execute", "prompt": "secret"}, "own")
    assert set(facts) == set(row.keys)
    assert facts.get("thread_id", "s") == "s"
    assert facts.get("tool_names", ["execute"]) == ["execute"]
    assert moment.announced(row, {}, "own").get("thread_id", "own") == "own"
