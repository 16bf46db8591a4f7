"""The way of one event, with commands that are not started: what reaches a handler, what comes back, what is said once."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook import Hooks
from boathook.terms.events import EVENTS, NOTIFICATIONS, Verdict
from boathook.terms.report import HandlerEnded, HandlerStarted, MomentDecided, MomentOpened, Report
from hooking import entry, lifecycle, pretended, said, snapshot

if TYPE_CHECKING:
    from boathook.run.process import Command, Exit

BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def silent(_command: Command) -> Exit:
    return said()


def test_a_command_is_started_with_the_payload_on_stdin_and_nowhere_else() -> None:
    seen: list[Command] = []

    def answer(command: Command) -> Exit:
        seen.append(command)
        return said()

    config = lifecycle("PreToolUse", entry("run me", timeout=7), {"type": "command", "argv": ["a", "b"]})
    pretended(answer, config).dispatch_sync("PreToolUse", {**BASH, "secret": "needle"})
    for command in seen:
        assert json.loads(command.stdin)["secret"] == "needle"
        assert "needle" not in " ".join([*command.argv, *command.env.values(), command.cwd])
    assert sorted(command.argv for command in seen) == [("/bin/sh", "-c", "run me"), ("a", "b")]
    assert sorted(command.timeout for command in seen) == [7, 600]
    assert {command.cwd for command in seen} == {"/"}


def test_a_failure_is_reported_once_per_cause_and_its_status_every_time() -> None:
    ends = iter([said(code=1), said(code=1), said(code=127), said(code=1), said(code=127)])
    hooks = pretended(lambda _: next(ends), lifecycle("Stop", entry("x")))
    decisions = [hooks.dispatch_sync("Stop") for _ in range(5)]
    assert [[problem.code for problem in decision.diagnostics] for decision in decisions] == [
        ["run-exit"], [], ["run-not-found"], [], [],
    ]  # fmt: skip
    assert {decision.handlers[0].status for decision in decisions} == {"failed"}


def test_a_failure_that_blocks_says_why_every_time() -> None:
    hooks = pretended(lambda _: said(code=1), lifecycle("PreToolUse", entry("x", onFailure="block")))
    for _ in range(3):
        assert "status 1" in (hooks.dispatch_sync("PreToolUse", BASH).reason or "")


def test_two_handlers_of_one_name_are_two_causes() -> None:
    config = lifecycle("Stop", entry("a", name="same"), entry("b", name="same"))
    decision = pretended(lambda _: said(code=1), config).dispatch_sync("Stop")
    assert [problem.code for problem in decision.diagnostics] == ["run-exit", "run-exit"]


def test_all_faults_of_one_answer_are_said_the_first_time() -> None:
    answer = '{"continue": 5, "decision": 5, "systemMessage": 5, "reason": 5}'
    hooks = pretended(lambda _: said(answer), lifecycle("Stop", entry("a")))
    assert len(hooks.dispatch_sync("Stop").diagnostics) == 4
    assert hooks.dispatch_sync("Stop").diagnostics == ()


def test_what_is_no_failure_is_said_every_time() -> None:
    hooks = pretended(lambda _: said("words"), lifecycle("Stop", entry("a")))
    for _ in range(3):
        assert [problem.code for problem in hooks.dispatch_sync("Stop").diagnostics] == ["answer-text"]


def test_a_starter_that_breaks_costs_only_its_own_handler(caplog: pytest.LogCaptureFixture) -> None:
    def answer(command: Command) -> Exit:
        if "bad" in command.argv[-1]:
            raise RuntimeError("a fault of ours")
        return said("", "no", 2)

    config = lifecycle("PreToolUse", entry("bad"), entry("good"))
    decision = pretended(answer, config).dispatch_sync("PreToolUse", BASH)
    assert (decision.permission, decision.reason) == ("deny", "no")
    assert [problem.code for problem in decision.diagnostics] == ["internal"]
    assert "a fault of ours" in caplog.text


@pytest.mark.parametrize("event", [*EVENTS, *NOTIFICATIONS])
def test_an_event_without_handlers_decides_nothing_and_carries_the_snapshots_id(event: str) -> None:
    hooks = pretended(silent, {"hooks": {}})
    decision = hooks.dispatch_sync(event, {})
    assert (decision.event, decision.snapshot) == (event, hooks.snapshot.id)
    assert (decision.handlers, decision.diagnostics, decision.block, decision.continue_) == (
        (),
        (),
        False,
        True,
    )


@pytest.mark.parametrize(
    "row", [row for row in NOTIFICATIONS.values() if row.derived_from], ids=lambda row: row.name
)
def test_a_lifecycle_event_is_heard_as_its_notification_once(row: Any) -> None:
    heard: list[Any] = []

    def answer(command: Command) -> Exit:
        heard.append(json.loads(command.stdin))
        return said()

    decision = pretended(answer, {"hooks": [{"command": ["x"]}]}).dispatch_sync(
        row.derived_from, {"session_id": "s", **BASH}
    )
    (payload,) = heard
    assert payload["event"] == row.name
    assert set(payload) == {"event", *row.keys}
    assert len(decision.handlers) == 1


@pytest.mark.parametrize(
    ("event", "notification"), [("Stop", "task.complete"), ("PreCompact", "context.compact")]
)
@pytest.mark.parametrize("blocks", [True, False])
def test_what_was_blocked_is_not_announced(event: str, notification: str, blocks: bool) -> None:
    heard = []

    def answer(command: Command) -> Exit:
        payload = json.loads(command.stdin)
        if "event" in payload:
            heard.append(payload["event"])
            return said()
        return said("", "no", 2 if blocks else 0)

    hooks = pretended(answer, lifecycle(event, entry("guard")), {"hooks": [{"command": ["x"]}]})
    decision = hooks.dispatch_sync(event, {"trigger": "auto"})
    assert decision.block is blocks
    assert heard == ([] if blocks else [notification])


def test_a_notification_never_decides_for_the_event_that_it_is_derived_from() -> None:
    def answer(command: Command) -> Exit:
        return said('{"continue": false, "decision": "block"}', "no", 2)

    decision = pretended(answer, {"hooks": [{"command": ["x"]}]}).dispatch_sync(
        "UserPromptSubmit", {"prompt": "p"}
    )
    assert (decision.block, decision.continue_, decision.context) == (False, True, ())
    assert [outcome.status for outcome in decision.handlers] == ["failed"]


def test_the_failure_of_a_notification_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    hooks = pretended(lambda _: said("", "\x1b[31mboom", 1), {"hooks": [{"command": ["x"]}]})
    with caplog.at_level(logging.WARNING, "boathook"):
        hooks.dispatch_sync("session.start", {})
    assert "boom" in caplog.text
    assert "\x1b" not in caplog.text


def test_whoever_watches_is_told_every_step_in_order() -> None:
    reports: list[Report] = []
    config = lifecycle("PreToolUse", entry("a", statusMessage="looking", name="G"))
    decision = pretended(silent, config, observe=reports.append).dispatch_sync("PreToolUse", BASH)
    opened, started, ended, decided = reports
    assert isinstance(opened, MomentOpened)
    assert isinstance(started, HandlerStarted)
    assert isinstance(ended, HandlerEnded)
    assert isinstance(decided, MomentDecided)
    assert (opened.event, opened.handlers, opened.payload["tool_name"]) == ("PreToolUse", 1, "Bash")
    assert (started.name, started.status_message, started.key) == ("G", "looking", ended.key)
    assert decided.decision == decision
    assert decided.duration_ms >= 0


def test_a_watcher_that_breaks_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def observe(_report: Report) -> None:
        raise ValueError("watching is hard")

    hooks = pretended(lambda _: said("", "no", 2), lifecycle("PreToolUse", entry("a")), observe=observe)
    assert hooks.dispatch_sync("PreToolUse", BASH).permission == "deny"
    assert "watching is hard" in caplog.text


def test_a_snapshot_cannot_be_changed() -> None:
    taken = snapshot(lifecycle("Stop", entry("a")))
    for thing, name in (
        (taken, "id"),
        (taken, "handlers"),
        (taken.handlers[0], "command"),
        (taken.handlers[0], "enabled"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, "other")
    with pytest.raises(TypeError):
        taken.by_event["Stop"] = ()  # type: ignore[index]
    assert isinstance(taken.handlers, tuple)


def test_the_same_content_has_the_same_id() -> None:
    text = b'{"$schema": "x", "hooks": {\n "Stop": [{"hooks": [{"command": "a", "type": "command"}]}]}}'
    assert snapshot(lifecycle("Stop", entry("a"))).id == snapshot(text).id
    assert len(snapshot().id) == 64
    assert int(snapshot().id, 16)


def test_whatever_changes_what_runs_changes_the_id() -> None:
    variants = [
        lifecycle("Stop", entry("a")), lifecycle("SessionEnd", entry("a")), lifecycle("Stop", entry("b")), lifecycle("Stop", entry("a", timeout=5)),
        lifecycle("Stop", entry("a", onFailure="block")), lifecycle("Stop", entry("a", passEnv=["A"])), lifecycle("Stop", entry("a", enabled=False)),
        lifecycle("Stop", entry("a", name="n")), lifecycle("Stop", {"type": "command", "argv": ["a"]}), lifecycle("Stop", entry("a"), entry("b")),
        lifecycle("Stop", entry("b"), entry("a")), lifecycle("SessionEnd", entry("a"), matcher="other"), {"hooks": [{"command": ["a"]}]}, {"hooks": {}},
    ]  # fmt: skip
    ids = [snapshot(variant).id for variant in variants]
    assert len(set(ids)) == len(ids)


def test_every_decision_carries_the_snapshots_id() -> None:
    hooks = pretended(silent, lifecycle("Stop", entry("a")), {"hooks": [{"command": ["x"]}]})
    for event in (*EVENTS, *NOTIFICATIONS):
        assert hooks.dispatch_sync(event, {}).snapshot == hooks.snapshot.id


# Whatever its siblings do, a deny denies.

ENDS = st.sampled_from([
    said(), said("text"), said("{"), said('x {"decision": "approve"}'), said('{"decision": "approve"}'), said(code=1), said(code=127), said(code=None, signal=9),
    said(timed_out=True), said(b"\xff\xfe"), said("[" * 3000), said('{"decision": "approve", "continue": false}'), said(stdout_cut=True), said('{"decision": []}'),
    said('{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "updatedInput": {}}}'),
    said('{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}'), said('{"suppressOutput": true, "systemMessage": "x"}'),
])  # fmt: skip
DENIES = st.sampled_from([
    said("", "no", 2), said('{"decision": "approve"}', "", 2), said('{"decision": "block"}'), said('{"decision": "block", "systemMessage": 5, "junk": []}'),
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(ENDS, max_size=5),
    DENIES,
    st.integers(0, 5),
    st.sampled_from([n for n, row in EVENTS.items() if row.verdict is not Verdict.NONE]),
)
def test_a_siblings_deny_always_wins(siblings: list[Exit], deny: Exit, place: int, event: str) -> None:
    siblings.insert(place, deny)
    config = lifecycle(event, *(entry(f"{index}") for index in range(len(siblings))))
    hooks = pretended(lambda command: siblings[int(command.argv[-1])], config)
    decision = hooks.dispatch_sync(event, BASH)
    assert (decision.permission, decision.block) == ("deny", True)
    assert decision.reason
    assert len(decision.handlers) == len(siblings)


def test_hooks_without_a_file_to_read_have_nothing_to_reload() -> None:
    assert isinstance(hooks := pretended(silent), Hooks)
    assert hooks.reload() == ()
