from __future__ import annotations

from typing import Any

import pytest

from boathook.session.payloads import (
    permission_request_payload,
    post_tool_use_failure_payload,
    post_tool_use_payload,
    pre_tool_use_payload,
    tool_args,
    tool_error_payload,
    tool_output,
    tool_result_payload,
    tool_use_payload,
)
from boathook.terms.events import EVENTS, NOTIFICATIONS


@pytest.mark.parametrize("value", [3, "text", None, [1, 2], True, 1.5])
def test_an_argument_value_that_is_no_object_is_wrapped(value: Any) -> None:
    assert tool_args(value) == {"value": value}


def test_the_name_of_a_notification_is_native_and_that_of_a_lifecycle_event_is_the_wire_name() -> None:
    assert tool_use_payload("execute", "a", {})["tool_name"] == "execute"
    assert pre_tool_use_payload("execute", "a", {})["tool_name"] == "Bash"


def test_every_builder_gives_the_keys_that_the_tables_promise() -> None:
    built = {
        "tool.use": tool_use_payload("ls", "a", {}),
        "tool.result": tool_result_payload("ls", "a", {}, "success", ""),
        "tool.error": tool_error_payload("ls"),
        "PreToolUse": pre_tool_use_payload("ls", "a", {}),
        "PermissionRequest": permission_request_payload("ls", {}),
        "PostToolUse": post_tool_use_payload("ls", "a", {}, "x", 1.0),
        "PostToolUseFailure": post_tool_use_failure_payload("ls", "a", {}, "x", duration_ms=1.0),
    }
    for event, payload in built.items():
        row = NOTIFICATIONS.get(event) or EVENTS[event]
        assert tuple(payload) == tuple(key.rstrip("?") for key in row.keys)


def test_a_duration_that_nobody_measured_is_left_out() -> None:
    assert "duration_ms" not in post_tool_use_payload("ls", "a", {}, "x")


def test_an_empty_id_is_no_id() -> None:
    assert tool_result_payload("ls", "", None, "success", "")["tool_id"] is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("as it is", "as it is"),
        (["a", {"type": "text", "text": "b"}], "a\nb"),
        ([], ""),
        ({"k": "é"}, '{"k": "é"}'),
        ([{"type": "image"}], '[{"type": "image"}]'),
        (5, "5"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
    ],
)
def test_whatever_a_tool_returned_becomes_text(content: Any, text: str) -> None:
    assert tool_output(content) == text


def test_output_is_cut_so_that_the_mark_is_within_the_limit() -> None:
    assert tool_output("x" * 2000) == "x" * 2000
    long = tool_output("x" * 2001)
    assert len(long) == 2000
    assert long.endswith("x…[output truncated]")
