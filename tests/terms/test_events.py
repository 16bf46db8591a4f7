"""The one table of events is whole: contract sections 3 and 11."""

from __future__ import annotations

import pytest

from boathook.terms.events import EVENTS, NOTIFICATIONS, Block, nearest

LIFECYCLE = {
    "SessionStart": "source", "UserPromptSubmit": None, "PreToolUse": "tool_name", "PermissionRequest": "tool_name",
    "PostToolUse": "tool_name", "PostToolUseFailure": "tool_name", "Notification": "notification_type", "PreCompact": "trigger",
    "Stop": None, "SubagentStart": "agent_type", "SubagentStop": "agent_type", "SessionEnd": "reason",
}  # fmt: skip
DOTTED = {
    "session.start", "session.end", "task.complete", "user.prompt", "context.compact", "context.offload", "permission.request",
    "input.required", "user.name.set", "tool.use", "tool.result", "tool.error",
}  # fmt: skip


def test_there_are_twelve_events_of_each_vocabulary() -> None:
    assert {name: row.matched for name, row in EVENTS.items()} == LIFECYCLE
    assert set(NOTIFICATIONS) == DOTTED


def test_a_matched_key_is_one_of_the_events_own() -> None:
    for row in EVENTS.values():
        assert row.matched is None or row.matched in row.keys


def test_deadlines_are_ten_minutes_but_half_a_minute_for_a_prompt() -> None:
    assert {name: row.timeout for name, row in EVENTS.items() if row.timeout != 600} == {
        "UserPromptSubmit": 30
    }


def test_what_can_be_blocked_is_what_the_contract_says() -> None:
    refusing = {name for name, row in EVENTS.items() if row.block.refuses}
    assert refusing == {"UserPromptSubmit", "PreToolUse", "PermissionRequest", "PreCompact", "Stop"}
    assert {name for name, row in EVENTS.items() if row.block is Block.FEEDBACK} == {
        "PostToolUse",
        "PostToolUseFailure",
    }


def test_plain_text_is_context_on_two_events() -> None:
    assert {name for name, row in EVENTS.items() if row.text} == {"SessionStart", "UserPromptSubmit"}


def test_announcing_and_being_derived_are_two_ends_of_one_thing() -> None:
    forth = {(row.name, row.announces) for row in EVENTS.values() if row.announces}
    back = {(row.derived_from, row.name) for row in NOTIFICATIONS.values() if row.derived_from}
    assert forth == back


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("pretooluse", "PreToolUse"),
        ("PreToolCall", "PreToolUse"),
        ("sessionstart", "SessionStart"),
        ("Quux", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_found(word: str, name: str | None) -> None:
    assert nearest(word, EVENTS) == name
