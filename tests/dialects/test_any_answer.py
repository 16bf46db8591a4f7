"""Whatever a handler of another agent prints: nothing is raised, and no block is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boathook.dialects import NAMES, named
from boathook.run.foreign import Foreign
from boathook.run.process import Command, Exit
from boathook.terms.events import EVENTS
from hooking import handler

if TYPE_CHECKING:
    from boathook.terms.outcome import Outcome

PAYLOAD = {
    "session_id": "s",
    "cwd": "/",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "t",
    "tool_response": "a",
    "prompt": "x",
    "source": "startup",
    "reason": "other",
    "trigger": "auto",
    "notification_type": "permission_prompt",
    "message": "m",
    "agent_type": "reader",
}
KEYS = st.sampled_from(
    [
        "decision",
        "reason",
        "continue",
        "stopReason",
        "systemMessage",
        "suppressOutput",
        "hookSpecificOutput",
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
        "behavior",
        "message",
        "permission",
        "user_message",
        "agent_message",
        "followup_message",
        "tool_input",
        "cancel",
        "interrupt",
        "modifiedArgs",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["allow", "deny", "ask", "block", "approve", "PreToolUse"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5).map(lambda value: json.dumps(value).encode())
PRINTED = OBJECTS | st.binary(max_size=40) | OBJECTS.map(lambda text: b"banner " + text)


def outcome(name: str, event: str, ended: Exit) -> Outcome:
    agent = named(name)
    row = agent.event_of(event)
    assert row is not None
    more = {} if row.theirs == event else {"dialect": f"{name}:{row.theirs}"}
    foreign = Foreign.of(handler(event, **{"dialect": name, **more}), EVENTS[event], PAYLOAD, "/")
    command = foreign.command(Command(argv=("x",), cwd="/", env={}, stdin=b"", timeout=1.0))
    return foreign.outcome(command, ended, 0.0)


def heard(name: str) -> list[str]:
    agent = named(name)
    return [event for event in EVENTS if agent.event_of(event) is not None]


@pytest.mark.parametrize("name", NAMES)
@given(
    code=st.sampled_from([0, 1, 2, 126, 127]), printed=PRINTED, stderr=st.binary(max_size=20), data=st.data()
)
def test_no_answer_is_a_fault_of_ours(
    name: str, code: int, printed: bytes, stderr: bytes, data: st.DataObject
) -> None:
    event = data.draw(st.sampled_from(heard(name)))
    ended = outcome(name, event, Exit(code=code, stdout=printed, stderr=stderr))
    assert ended.exit_code == code
    assert all(problem.code != "internal" for problem in ended.problems)


@given(printed=PRINTED, stderr=st.binary(max_size=20))
def test_exit_2_denies_a_call_whatever_claude_codes_handler_prints(printed: bytes, stderr: bytes) -> None:
    answer = outcome("claude", "PreToolUse", Exit(code=2, stdout=printed, stderr=stderr)).answer
    assert (answer.permission, answer.blocks) == ("deny", True)
    assert answer.reason or answer.fallback


@given(printed=PRINTED, stderr=st.binary(max_size=20))
def test_exit_2_refuses_a_prompt_and_a_stop_whatever_claude_codes_handler_prints(
    printed: bytes, stderr: bytes
) -> None:
    for event in ("UserPromptSubmit", "Stop", "PreCompact"):
        assert outcome("claude", event, Exit(code=2, stdout=printed, stderr=stderr)).answer.blocks


@pytest.mark.parametrize("name", NAMES)
@given(printed=st.binary(max_size=40).filter(lambda text: b"{" not in text))
def test_what_is_no_json_allows_nothing_that_is_to_be_asked(name: str, printed: bytes) -> None:
    answer = outcome(name, "PreToolUse", Exit(code=0, stdout=printed, stderr=b"")).answer
    assert answer.permission != "allow"
