"""One answer against every row of the event table: contract sections 3, 7 and 8."""

from __future__ import annotations

from typing import Any

import pytest

from boathook.run.fields import Judged, judge
from boathook.run.reply import Printed
from boathook.terms.events import EVENTS, Block, Verdict
from boathook.terms.outcome import SILENT
from boathook.terms.text import CUT_MARK, TEXT_LIMIT


def judged(event: str, answer: dict[str, Any], payload: dict[str, Any] | None = None) -> Judged:
    return judge(Printed(answer), EVENTS[event], payload or {}, "fallback")


def codes(result: Judged) -> list[str]:
    return [problem.code for problem in (*((result.failure,) if result.failure else ()), *result.problems)]


@pytest.mark.parametrize("event", EVENTS)
def test_the_fields_of_every_event_are_read_on_each(event: str) -> None:
    result = judged(event, {"continue": False, "stopReason": "S", "systemMessage": "M"})
    assert codes(result) == []
    assert (result.answer.stop, result.answer.stop_reason, result.answer.notice) == (True, "S", "M")


@pytest.mark.parametrize("event", EVENTS)
def test_context_is_read_where_the_table_says_so(event: str) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "C"}}
    result = judged(event, answer)
    assert result.answer.context == (("C",) if EVENTS[event].context else ())
    assert codes(result) == ([] if EVENTS[event].context else ["answer-unknown"])


@pytest.mark.parametrize("event", EVENTS)
def test_a_block_means_what_the_table_says(event: str) -> None:
    row = EVENTS[event]
    answer = judged(event, {"decision": "block", "reason": "R"}).answer
    assert answer.blocks is row.block.refuses
    assert answer.permission == ("deny" if row.block is Block.DENY else None)
    assert answer.feedback == ("R" if row.block is Block.FEEDBACK else None)
    assert answer.context == (("R",) if row.block is Block.CONTEXT else ())


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("field", ["updatedInput", "updatedToolOutput", "updatedPermissions"])
def test_a_field_that_is_not_applied_is_checked_where_the_table_names_it(event: str, field: str) -> None:
    value: object = [] if field == "updatedPermissions" else {}
    result = judged(event, {"hookSpecificOutput": {"hookEventName": event, field: value}})
    assert codes(result) == ["answer-unapplied" if field in EVENTS[event].unapplied else "answer-unknown"]
    assert result.answer == SILENT or result.answer.permission is None


@pytest.mark.parametrize("event", EVENTS)
def test_an_allow_is_given_only_where_the_table_has_one(event: str) -> None:
    inner = {"hookEventName": event, "permissionDecision": "allow", "decision": {"behavior": "allow"}}
    result = judged(event, {"hookSpecificOutput": inner})
    # One of the two spellings is always out of place, and then the answer is no permission.
    assert result.answer.permission is None
    assert "answer-decision" in codes(result)
    spellings: dict[Verdict, dict[str, object]] = {
        Verdict.TOOL: {"permissionDecision": "allow"},
        Verdict.PERMISSION: {"decision": {"behavior": "allow"}},
        Verdict.NONE: {},
    }
    own = spellings[EVENTS[event].verdict]
    result = judged(event, {"hookSpecificOutput": {"hookEventName": event, **own}})
    assert result.answer.permission == ("allow" if own else None)
    assert codes(result) == []


@pytest.mark.parametrize(
    "value", ["Deny", "DENY", " deny", "block", "yes", "", 1, True, [], {}, ["deny"], 0.5]
)
def test_a_decision_that_is_not_spelled_exactly_is_a_failure(value: object) -> None:
    answers: tuple[tuple[str, dict[str, Any]], ...] = (
        ("PreToolUse", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": value}}),
        ("PermissionRequest", {"hookSpecificOutput": {"decision": {"behavior": value}}}),
        ("PermissionRequest", {"hookSpecificOutput": {"decision": value}}),
        ("Stop", {"decision": value if value != "block" else "Block"}),
        ("Stop", {"continue": value if value is not True else "true"}),
    )
    for event, answer in answers:
        if value == {} and event == "PermissionRequest" and answer["hookSpecificOutput"]["decision"] == {}:
            continue  # an object without a behavior is judged below
        result = judged(event, answer)
        assert result.failure is not None, (event, answer)
        assert result.answer.permission is None
        assert not result.answer.blocks


def test_a_permission_decision_without_a_behavior_is_a_failure() -> None:
    result = judged("PermissionRequest", {"hookSpecificOutput": {"decision": {"message": "M"}}})
    assert codes(result) == ["answer-decision", "answer-event-missing"]


@pytest.mark.parametrize("key", ["systemMessage", "stopReason", "reason"])
def test_text_is_cut_at_ten_thousand_characters_with_a_mark(key: str) -> None:
    long = "x" * (TEXT_LIMIT + 1)
    answer = judged("Stop", {key: long, "continue": False, "decision": "block"}).answer
    text = {"systemMessage": answer.notice, "stopReason": answer.stop_reason, "reason": answer.reason}[key]
    assert text is not None
    assert len(text) == TEXT_LIMIT
    assert text.endswith("x" + CUT_MARK)
    answer = judged("Stop", {key: "x" * TEXT_LIMIT, "continue": False, "decision": "block"}).answer
    text = {"systemMessage": answer.notice, "stopReason": answer.stop_reason, "reason": answer.reason}[key]
    assert text == "x" * TEXT_LIMIT


def test_context_is_cut_at_ten_thousand_characters_with_a_mark() -> None:
    (text,) = judged(
        "SessionStart", {"hookSpecificOutput": {"additionalContext": "é" * 20_000}}
    ).answer.context
    assert len(text) == TEXT_LIMIT
    assert text.endswith(CUT_MARK)


def test_an_answer_that_repeats_the_payload_says_nothing() -> None:
    payload = {"tool_name": "Bash", "tool_input": {"a": (1, 2)}, "reason": "other"}
    assert judged("Stop", {"tool_name": "Bash", "tool_input": {"a": [1, 2]}}, payload) == Judged()
    assert judged("SessionEnd", {"reason": "other"}, payload) == Judged()
    assert codes(judged("Stop", {"tool_name": "Edit"}, payload)) == ["answer-unknown"]


def test_only_the_first_unknown_fields_are_said() -> None:
    result = judged("Stop", {f"k{number}": 1 for number in range(1000)})
    assert codes(result) == ["answer-unknown"] * 5
