"""The public face, with real files and real children: contract sections 9, 11 and 12."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import boathook
from boathook import ConfigError, Decision, Hooks, PayloadError, UnknownEventError
from hooking import entry, lifecycle

if TYPE_CHECKING:
    from pathlib import Path

BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
DENY = entry("echo no >&2; exit 2")


def load(folder: Path, config: object, **options: Any) -> Hooks:
    path = folder / "hooks.json"
    path.write_text(json.dumps(config))
    return Hooks.load(files=[path], project=folder, **options)


def test_the_public_names_are_all_there() -> None:
    assert all(hasattr(boathook, name) for name in boathook.__all__)
    assert {"Hooks", "Decision", "ConfigError", "PayloadError", "UnknownEventError"} <= set(boathook.__all__)


def test_awaiting_and_blocking_come_to_the_same(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("PreToolUse", DENY))

    def told(decision: Decision) -> tuple[object, ...]:
        return decision.permission, decision.block, decision.reason, decision.snapshot

    blocking = hooks.dispatch_sync("PreToolUse", BASH)
    awaited = asyncio.run(hooks.dispatch("PreToolUse", BASH))
    assert told(blocking) == told(awaited) == ("deny", True, "no", hooks.snapshot.id)


def test_blocking_works_in_a_thread_and_beside_a_running_loop(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("PreToolUse", DENY))

    async def both() -> list[Decision]:
        return [
            hooks.dispatch_sync("PreToolUse", BASH),
            await asyncio.to_thread(hooks.dispatch_sync, "PreToolUse", BASH),
        ]

    assert [decision.permission for decision in asyncio.run(both())] == ["deny", "deny"]


def test_a_callers_mistake_raises(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("Stop", DENY))
    bad: Any
    with pytest.raises(UnknownEventError, match="Stop"):
        hooks.dispatch_sync("stop", {})
    for bad in ([], "", 0, [1], "x"):
        with pytest.raises(PayloadError):
            hooks.dispatch_sync("Stop", bad)
        with pytest.raises(PayloadError):
            asyncio.run(hooks.dispatch("Stop", bad))
        with pytest.raises(PayloadError):
            hooks.notify("tool.use", bad)
    for bad in ({"x": float("nan")}, {"x": b""}, {"x": {1}}):
        with pytest.raises(PayloadError):
            hooks.dispatch_sync("Stop", bad)


def test_a_missing_payload_is_an_empty_one(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("Stop", entry("cat > in")))
    hooks.dispatch_sync("Stop")
    assert json.loads((tmp_path / "in").read_text())["hook_event_name"] == "Stop"


def test_the_callers_payload_is_left_as_it_was(tmp_path: Path) -> None:
    payload = {"tool_name": "execute", "tool_input": {}}
    load(tmp_path, lifecycle("PreToolUse", entry("true"))).dispatch_sync("PreToolUse", payload)
    assert payload == {"tool_name": "execute", "tool_input": {}}


def test_an_unusable_file_raises_with_every_problem(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ConfigError) as error:
        Hooks.load(files=[tmp_path / "a.json", tmp_path / "none.json"], project=tmp_path)
    assert [problem.code for problem in error.value.problems] == ["file-syntax", "file-missing"]
    assert "a.json:1:2" in str(error.value)


def test_what_is_on_disk_later_does_not_change_the_session(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("PreToolUse", DENY))
    before = hooks.snapshot.id
    for text in (json.dumps({"hooks": {}}), "broken", None):
        path = tmp_path / "hooks.json"
        path.write_text(text) if text is not None else path.unlink()
        decision = hooks.dispatch_sync("PreToolUse", BASH)
        assert (decision.permission, decision.snapshot) == ("deny", before)


def test_a_new_snapshot_counts_when_it_is_asked_for(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("PreToolUse", DENY))
    before = hooks.snapshot.id
    (tmp_path / "hooks.json").write_text('{"hooks": {}}')
    assert hooks.reload() == ()
    assert hooks.snapshot.id != before
    assert hooks.dispatch_sync("PreToolUse", BASH).permission is None


def test_an_unusable_new_file_leaves_the_old_snapshot_and_is_reported(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("PreToolUse", DENY))
    before = hooks.snapshot
    (tmp_path / "hooks.json").write_text("{")
    (problem,) = hooks.reload()
    assert problem.code == "file-syntax"
    assert hooks.snapshot is before
    assert hooks.dispatch_sync("PreToolUse", BASH).permission == "deny"


def test_a_lifecycle_event_cannot_be_forgotten(tmp_path: Path) -> None:
    with pytest.raises(UnknownEventError, match="dispatch"):
        load(tmp_path, {"hooks": []}).notify("PreToolUse", BASH)


def test_a_notification_is_fired_and_waited_for(tmp_path: Path) -> None:
    hooks = load(tmp_path, {"hooks": [{"command": ["tee", "-a", "log"]}]})
    for number in range(5):
        hooks.notify("tool.use", {"tool_name": "t", "tool_id": str(number), "tool_args": {}})
    assert hooks.drain_sync(30)
    told = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert sorted(payload["tool_id"] for payload in told) == list("01234")
    assert {payload["event"] for payload in told} == {"tool.use"}


def test_firing_a_notification_returns_at_once_and_stalls_no_loop(tmp_path: Path) -> None:
    hooks = load(tmp_path, {"hooks": [{"command": ["sh", "-c", "until [ -e go ]; do :; done; touch went"]}]})

    async def fire() -> None:
        hooks.notify("input.required")
        (tmp_path / "go").touch()  # the handler waits for what comes after the call
        await hooks.drain()

    asyncio.run(asyncio.wait_for(fire(), 30))
    assert (tmp_path / "went").exists()


def test_the_failure_of_a_forgotten_notification_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = load(
        tmp_path,
        {
            "hooks": [
                {"command": ["sh", "-c", "echo boom >&2; exit 3"]},
                {"command": ["no-such-program-anywhere"]},
            ]
        },
    )
    with caplog.at_level(logging.WARNING, "boathook"):
        hooks.notify("user.name.set", {"name": "n", "assistant_id": "a"})
        assert hooks.drain_sync(30)
    assert "boom" in caplog.text
    assert "no-such-program-anywhere" in caplog.text


def test_draining_does_not_wait_for_ever(tmp_path: Path) -> None:
    hooks = load(tmp_path, {"hooks": [{"command": ["sh", "-c", "until [ -e go ]; do sleep 0.01; done"]}]})
    hooks.notify("input.required")
    assert not hooks.drain_sync(0.05)
    (tmp_path / "go").touch()
    assert hooks.drain_sync(30)


def test_many_moments_at_once_from_many_threads_are_each_decided(tmp_path: Path) -> None:
    config = lifecycle("PreToolUse", entry("grep -q '\"n\": [02468]}' && { echo even >&2; exit 2; }; exit 0"))
    hooks = load(tmp_path, config, limit=3)
    decided: dict[int, str | None] = {}

    def one(number: int) -> None:
        decided[number] = hooks.dispatch_sync("PreToolUse", {**BASH, "tool_input": {"n": number}}).permission

    threads = [threading.Thread(target=one, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)
    assert decided == {number: "deny" if number % 2 == 0 else None for number in range(10)}


def test_handlers_of_one_event_run_at_the_same_time(tmp_path: Path) -> None:
    meet = "touch {0}; until [ -e {1} ]; do sleep 0.01; done"
    config = lifecycle(
        "Stop", entry(meet.format("a", "b"), timeout=20), entry(meet.format("b", "a"), timeout=20)
    )
    decision = load(tmp_path, config).dispatch_sync("Stop")
    assert [outcome.status for outcome in decision.handlers] == ["ok", "ok"]


def test_a_wait_for_a_place_is_not_counted_in_the_deadline_and_is_reported(tmp_path: Path) -> None:
    config = lifecycle("Stop", entry("sleep 0.3"), entry("true", timeout=0.25))
    decision = load(tmp_path, config, limit=1).dispatch_sync("Stop")
    assert [outcome.status for outcome in decision.handlers] == ["ok", "ok"]
    assert [problem.code for problem in decision.diagnostics] == ["run-waited"]


def test_cancelling_ends_the_handlers_and_raises(tmp_path: Path) -> None:
    hooks = load(tmp_path, lifecycle("Stop", entry("echo $$ > pid.tmp; mv pid.tmp pid; sleep 60")))

    async def cancel() -> None:
        task = asyncio.create_task(hooks.dispatch("Stop"))
        end = time.monotonic() + 30
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < end
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    from run_children import alive

    assert not alive(int((tmp_path / "pid").read_text()))
