"""How one handler ended, made its outcome: contract section 6. No process is started here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook.run.answer import broken, read_exit
from boathook.run.process import Command, Exit
from boathook.terms.events import EVENTS, Block
from boathook.terms.outcome import SILENT
from boathook.terms.text import CUT_MARK, TEXT_LIMIT
from hooking import handler, said

if TYPE_CHECKING:
    from boathook.terms.outcome import Outcome

PAYLOAD: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def outcome(ended: Exit, event: str | None = "PreToolUse", waited: float = 0.0, **fields: Any) -> Outcome:
    row = EVENTS[event] if event else None
    configured = handler(event or "Stop", **fields)
    stdin = json.dumps(PAYLOAD).encode() + b"\n"
    command = Command(("/bin/sh", "-c", "guard"), "/", {"PATH": "/nowhere"}, stdin, 600)
    return read_exit(configured, row, command, ended, PAYLOAD, waited)


def codes(result: Outcome) -> list[str]:
    return [problem.code for problem in result.problems]


FAILURES = {
    "start": (Exit(start_error=FileNotFoundError(2, "no")), "run-not-found"),
    "permission": (Exit(start_error=PermissionError(13, "no")), "run-not-executable"),
    "memory": (Exit(start_error=OSError(12, "Cannot allocate memory")), "run-start"),
    "nul": (Exit(start_error=ValueError("embedded null byte")), "run-start"),
    "timeout": (said(code=2, timed_out=True), "run-timeout"),
    "cancelled": (Exit(cancelled=True), "run-cancelled"),
    "lost": (said('{"decision": "approve"}', code=None, lost=True), "run-lost"),
    "signal": (Exit(signal=9), "run-signal"),
    "real-time signal": (Exit(signal=40), "run-signal"),
    "exit 1": (said(code=1), "run-exit"),
    "exit 3": (said('{"decision": "approve"}', code=3), "run-exit"),
    "exit 126": (said(code=126), "run-not-executable"),
    "exit 127": (said(code=127), "run-not-found"),
    "exit 255": (said(code=255), "run-exit"),
    "cut": (said('{"decision": "approve"}', stdout_cut=True), "answer-cut"),
    "broken": (said("{"), "answer-json"),
    "mixed": (said('x {"a": 1}'), "answer-mixed"),
    "decision": (said('{"decision": "nonsense"}'), "answer-decision"),
}


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("cause", FAILURES)
def test_a_failure_decides_nothing_and_is_reported(cause: str, event: str) -> None:
    ended, code = FAILURES[cause]
    result = outcome(ended, event)
    assert codes(result) == [code]
    assert result.status == ("timeout" if cause == "timeout" else "failed")
    answer = result.answer
    assert (answer.permission, answer.blocks, answer.context, answer.feedback) == (None, False, (), None)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("cause", FAILURES)
def test_a_failure_that_is_set_to_block_blocks_where_that_is_possible(cause: str, event: str) -> None:
    ended, code = FAILURES[cause]
    result = outcome(ended, event, onFailure="block")
    row = EVENTS[event]
    assert codes(result) == [code]
    assert result.answer.blocks is row.block.refuses
    assert result.answer.permission == ("deny" if row.block is Block.DENY else None)
    if row.block.refuses:
        assert result.answer.reason is not None
        assert '"enabled": false at hooks.json:1' in result.answer.reason
        assert result.problems[0].found in result.answer.reason


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("stdout", ["", "text", '{"decision": "approve"}', "{", 'x {"a": 1}', "[" * 5000])
def test_exit_2_is_never_weaker_than_a_block(event: str, stdout: str) -> None:
    row = EVENTS[event]
    for cut in (False, True):
        result = outcome(said(stdout, "why", 2, stdout_cut=cut), event)
        assert result.status == "blocked"
        assert result.answer.blocks is row.block.refuses
        assert "why" in (
            result.answer.reason or result.answer.feedback or "".join(result.answer.context) or "why"
        )


@pytest.mark.parametrize("event", EVENTS)
def test_exit_2_without_words_names_the_handler(event: str) -> None:
    result = outcome(said(code=2), event, name="the guard")
    words = [
        result.answer.fallback,
        result.answer.feedback,
        *result.answer.context,
        *(p.message for p in result.problems),
    ]
    assert any(text and "the guard" in text for text in words)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"hookSpecificOutput": {"permissionDecisionReason": "A"}, "reason": "B"}, "A"),
        ({"hookSpecificOutput": {"decision": {"message": "M"}}, "reason": "B"}, "M"),
        ({"reason": "B", "stopReason": "C"}, "B"),
        ({"stopReason": "C", "systemMessage": "D"}, "C"),
        ({"systemMessage": "D"}, "D"),
        ({"reason": 5, "stopReason": " ", "systemMessage": "D"}, "D"),
        ({"hookSpecificOutput": [], "reason": "B"}, "B"),
        ({"other": "x"}, None),
    ],
)
def test_exit_2_finds_its_reason_inside_the_answer(answer: object, reason: str | None) -> None:
    assert outcome(said(json.dumps(answer), " \n", 2)).answer.reason == reason


def test_a_reason_is_cut_at_ten_thousand_characters_with_a_mark() -> None:
    reason = outcome(said(b"", b"\x1b" * 60_000, 2)).answer.reason
    assert reason is not None
    assert len(reason) == TEXT_LIMIT
    assert reason.endswith(CUT_MARK)


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_plain_text_that_becomes_context_is_cut(event: str) -> None:
    (text,) = outcome(said("x" * 20_000), event).answer.context
    assert len(text) == TEXT_LIMIT
    assert text.endswith(CUT_MARK)


@pytest.mark.parametrize("event", [name for name, row in EVENTS.items() if not row.text])
def test_plain_text_elsewhere_is_a_diagnostic_with_its_first_eighty_characters(event: str) -> None:
    result = outcome(said("y" * 200), event)
    assert codes(result) == ["answer-text"]
    assert result.status == "ok"
    assert ": " + "y" * 80 + "…" in result.problems[0].message


def test_output_that_was_cut_is_never_read() -> None:
    result = outcome(said('{"decision": "block"}', stdout_cut=True))
    assert codes(result) == ["answer-cut"]
    assert result.answer is SILENT
    assert '{"decision": "block"}' in result.problems[0].message


def test_a_payload_that_is_only_repeated_says_nothing_whatever_it_holds() -> None:
    for stdout in (json.dumps(PAYLOAD), json.dumps(PAYLOAD, indent=2), "\n" + json.dumps(PAYLOAD) + "\n\n"):
        result = outcome(said(stdout), "UserPromptSubmit")
        assert (result.answer, result.problems, result.status) == (SILENT, (), "ok")


@pytest.mark.parametrize("ended", [said(), said('{"decision": "block"}'), said("words"), said(b"\xff" * 100)])
def test_a_notification_only_hears(ended: Exit) -> None:
    result = outcome(ended, None)
    assert (result.answer, result.problems, result.status) == (SILENT, (), "ok")


def test_a_notification_that_means_to_block_is_told_that_it_cannot() -> None:
    result = outcome(said(code=2), None)
    assert (codes(result), result.status, result.answer) == (["run-exit"], "failed", SILENT)


def test_a_wait_for_a_place_is_reported_and_not_counted() -> None:
    result = outcome(said(duration=0.002), waited=1.5)
    assert codes(result) == ["run-waited"]
    assert "1500 ms" in result.problems[0].message
    assert (result.waited_ms, result.duration_ms) == (1500, 2)
    assert codes(outcome(said(), waited=0.0001)) == []


def test_a_problem_of_a_run_says_whose_it_is_and_where_that_is_configured() -> None:
    (problem,) = outcome(said(code=1), name="G").problems
    assert (problem.handler, problem.file, problem.line) == ("G", "hooks.json", 1)
    assert problem.pointer == "/hooks/PreToolUse/0/hooks/0"


def test_an_outcome_says_how_its_command_ended() -> None:
    result = outcome(said("", "\x1b[31mred\r\n", 3, duration=0.0123))
    assert result.as_dict() == {
        "name": "PreToolUse[0].hooks[0]",
        "source": "hooks.json",
        "status": "failed",
        "exit_code": 3,
        "signal": None,
        "duration_ms": 12.3,
        "stderr": "\\x1b[31mred\n",
    }
    assert outcome(Exit(signal=15)).signal == "SIGTERM"


@pytest.mark.parametrize("event", EVENTS)
def test_a_fault_of_the_engine_is_a_failure_of_that_handler_alone(event: str) -> None:
    result = broken(handler(event, onFailure="block"), EVENTS[event], RuntimeError("boo"))
    assert (codes(result), result.status) == (["internal"], "failed")
    assert result.answer.blocks is EVENTS[event].block.refuses


# Whatever is printed: nothing raises, and no permission is given that was not spelled exactly.

WORDS = st.sampled_from(
    ["allow", "deny", "ask", "Allow", "approve", "block", "defer", "", "x", "\ud800", "\x1b[2J", "PreToolUse", "PermissionRequest", "Stop"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["continue", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput", "decision", "reason", "hookEventName",
     "permissionDecision", "permissionDecisionReason", "behavior", "message", "interrupt", "additionalContext", "updatedInput",
     "updatedPermissions", "updatedToolOutput", "tool_name", "other"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)
ANSWERS = st.dictionaries(KEYS, VALUES, max_size=6)


def spelled(answer: Any, event: str) -> bool:
    """Whether an allow stands where, and as, the contract says."""
    inner = answer.get("hookSpecificOutput")
    inner = inner if isinstance(inner, dict) else {}
    if event == "PreToolUse":
        return answer.get("decision") == "approve" or inner.get("permissionDecision") == "allow"
    decision = inner.get("decision")
    return isinstance(decision, dict) and decision.get("behavior") == "allow"


@settings(max_examples=80, deadline=None)
@given(ANSWERS, st.sampled_from(sorted(EVENTS)), st.sampled_from(["allow", "block"]))
def test_no_answer_raises_or_permits_what_it_did_not_spell(answer: Any, event: str, on_failure: str) -> None:
    result = outcome(said(json.dumps(answer)), event, onFailure=on_failure)
    if result.answer.permission == "allow":
        assert spelled(answer, event)
    assert (result.answer.permission == "deny") == (
        result.answer.blocks and EVENTS[event].block is Block.DENY
    )
    json.dumps(result.as_dict()).encode()
    for text in (*result.answer.context, result.answer.feedback, result.answer.notice, result.answer.reason):
        assert text is None or len(text.encode()) <= TEXT_LIMIT * 4
    for problem in result.problems:
        problem.message.encode()


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=60) | st.builds(lambda a, b: a + b, st.binary(max_size=4), ANSWERS.map(lambda a: json.dumps(a).encode())),
       st.binary(max_size=20), st.integers(0, 255), st.sampled_from(sorted(EVENTS)), st.booleans())  # fmt: skip
def test_no_bytes_raise_or_permit(stdout: bytes, stderr: bytes, code: int, event: str, cut: bool) -> None:
    result = outcome(said(stdout, stderr, code, stdout_cut=cut), event)
    assert result.status in {"ok", "blocked", "failed"}
    if result.answer.permission == "allow":
        assert code == 0
        assert not cut
        assert spelled(json.loads(stdout.decode("utf-8-sig", "replace")), event)
    if code == 2 and EVENTS[event].block.refuses:
        assert result.answer.blocks or result.problems
