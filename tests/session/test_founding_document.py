"""One test per statement of the first founding document (S0), over the real engine and real handlers."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from boathook import Hooks
from boathook.session import Session
from boathook.terms.events import NOTIFICATION_TIMEOUT, NOTIFICATIONS
from session_recording import Gate, append_to, listening, load, name_of, read_log, until, until_async

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

TOOL_EVENTS = ("tool.use", "tool.result", "tool.error")
CALL = {"index": 0, "id": "toolu_abc123", "name": "write_file"}
ARGS = {"file_path": "src/foo.py", "content": "..."}


def live(hooks: Hooks, drive: Callable[[Session], Awaitable[object]], **options: Any) -> None:
    """Drive a session that has started, and end it."""

    async def main() -> None:
        async with Session(hooks, session_id="thread-1", **options) as session:
            await session.start()
            await drive(session)

    asyncio.run(main())


def heard(
    tmp_path: Path, drive: Callable[[Session], Awaitable[object]], *events: str
) -> list[dict[str, Any]]:
    """Return the payloads of `events` that a real handler read, in the order of its log."""
    hooks, log = listening(tmp_path, *events)
    live(hooks, drive)
    return read_log(log)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """Holds real handlers; in the end it lets everybody through."""
    gate = Gate(tmp_path)
    yield gate
    gate.open()


# Where hooks come from, and how they are run.


def test_hooks_are_loaded_from_hooks_json_in_the_deepagents_folder_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    (tmp_path / ".deepagents").mkdir()
    entry = {"command": append_to(log), "events": ["session.start"]}
    (tmp_path / ".deepagents/hooks.json").write_text(json.dumps({"hooks": [entry]}))
    monkeypatch.setenv("HOME", str(tmp_path))
    live(Hooks.load(project=tmp_path), nothing)
    assert [name_of(payload) for payload in read_log(log)] == ["session.start"]


async def nothing(session: Session) -> None:
    pass


def test_matching_commands_are_fired_with_a_json_payload_on_stdin(tmp_path: Path) -> None:
    assert heard(tmp_path, nothing, "session.start") == [{"event": "session.start", "thread_id": "thread-1"}]


@pytest.mark.parametrize("entry", [{}, {"events": []}], ids=["omitted", "empty"])
def test_if_events_is_omitted_or_empty_the_hook_receives_all_events(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    log, file = tmp_path / "log", tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": [{"command": append_to(log), **entry}]}))

    async def drive(session: Session) -> None:
        session.name_set("Ada", "agent")
        await session.prompt("go")
        await session.input_required()
        session.tools.whole("ls", "a", {})
        await session.dispatch("PermissionRequest", {"tool_name": "ls", "tool_input": {}})
        session.tools.failed("ls", "a", "no")
        await session.dispatch("context.offload")
        await session.compact("auto")
        await session.stop("done")

    live(Hooks.load(files=[file], project=tmp_path), drive)
    assert {name_of(payload) for payload in read_log(log)} == set(NOTIFICATIONS)


def test_the_callers_event_loop_is_never_stalled_by_subprocess_work(tmp_path: Path, gate: Gate) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["user.prompt"])])

    async def drive(session: Session) -> None:
        prompt = asyncio.create_task(session.prompt("go"))
        await until_async(lambda: read_log(log))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not prompt.done()
        gate.open()
        await prompt

    live(hooks, drive)


@pytest.mark.parametrize(
    "command", [["/bin/sh", "-c", "exit 3"], ["/no/such/program"], ["/bin/sh", "-c", "kill -9 $$"]]
)
def test_failures_are_logged_but_never_bubble_up_to_the_caller(
    tmp_path: Path, command: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    hooks = load(tmp_path, notifications=[(command, [])])

    async def drive(session: Session) -> None:
        await session.prompt("go")
        session.tools.whole("ls", "a", {})
        session.tools.succeeded("ls", "a", "x")
        assert not (await session.stop("done")).block

    with caplog.at_level(logging.WARNING, "boathook"):
        live(hooks, drive)
    assert "[run-" in caplog.text


# user.name.set


def test_onboarding_emits_user_name_set_with_the_name_and_the_assistant_id(tmp_path: Path) -> None:
    async def drive(session: Session) -> None:
        assert session.name_set("Ada", "agent-1")

    assert heard(tmp_path, drive, "user.name.set") == [
        {"event": "user.name.set", "name": "Ada", "assistant_id": "agent-1"}
    ]


@pytest.mark.parametrize("name", ["", "  \n"])
def test_an_empty_preferred_name_emits_nothing(tmp_path: Path, name: str) -> None:
    async def drive(session: Session) -> None:
        assert not session.name_set(name, "agent-1")

    assert heard(tmp_path, drive, "user.name.set") == []


# tool.use


def test_tool_use_fires_once_the_streamed_arguments_parse_and_the_id_is_known_before_the_call_runs(
    tmp_path: Path,
) -> None:
    hooks, log = listening(tmp_path, "tool.use")

    async def drive(session: Session) -> None:
        text = json.dumps(ARGS)
        session.tools.feed([{**CALL, "id": None, "args": text[:9]}, {"index": 0, "args": text[9:]}])
        await session.drain()
        assert read_log(log) == []
        session.tools.feed([{"index": 0, "id": CALL["id"]}])
        await session.drain()  # no end of the call was reported yet
        assert read_log(log) == [
            {"event": "tool.use", "tool_name": "write_file", "tool_id": "toolu_abc123", "tool_args": ARGS}
        ]

    live(hooks, drive)


@pytest.mark.parametrize(
    "chunk",
    [{**CALL, "args": '{"file_path": "src/f'}, {**CALL, "id": None, "args": "{}"}],
    ids=["arguments never parse", "no id"],
)
def test_a_call_whose_arguments_never_parse_or_that_carries_no_id_is_skipped(
    tmp_path: Path, chunk: dict[str, Any]
) -> None:
    async def drive(session: Session) -> None:
        session.tools.feed([chunk])
        session.tools.finish()

    assert heard(tmp_path, drive, *TOOL_EVENTS) == []


# tool.result and tool.error


@pytest.mark.parametrize(
    ("end", "status"),
    [("succeeded", "success"), ("failed", "error"), ("rejected", "error"), ("cancelled", "error")],
)
def test_tool_result_fires_after_every_terminal_state_with_success_or_error(
    tmp_path: Path, end: str, status: str
) -> None:
    async def drive(session: Session) -> None:
        session.tools.whole("write_file", "toolu_abc123", ARGS)
        getattr(session.tools, end)("write_file", "toolu_abc123", "Updated file src/foo.py")

    assert heard(tmp_path, drive, "tool.result") == [
        {
            "event": "tool.result",
            "tool_name": "write_file",
            "tool_id": "toolu_abc123",
            "tool_args": ARGS,
            "tool_status": status,
            "tool_output": "Updated file src/foo.py",
        }
    ]


@pytest.mark.parametrize("end", ["failed", "rejected", "cancelled"])
def test_whenever_the_status_is_error_tool_error_fires_alongside(tmp_path: Path, end: str) -> None:
    async def drive(session: Session) -> None:
        getattr(session.tools, end)("write_file", "toolu_abc123", "no")

    payloads = heard(tmp_path, drive, *TOOL_EVENTS)
    assert sorted(map(name_of, payloads)) == ["tool.error", "tool.result"]
    assert {"event": "tool.error", "tool_names": ["write_file"]} in payloads


def test_a_success_fires_no_tool_error(tmp_path: Path) -> None:
    async def drive(session: Session) -> None:
        session.tools.succeeded("write_file", "toolu_abc123", "done")

    assert heard(tmp_path, drive, "tool.error") == []


def test_arguments_that_are_no_object_are_wrapped(tmp_path: Path) -> None:
    async def drive(session: Session) -> None:
        session.tools.feed([{**CALL, "args": '["a", 1]'}])

    (payload,) = heard(tmp_path, drive, "tool.use")
    assert payload["tool_args"] == {"value": ["a", 1]}


def test_output_is_capped_and_ends_with_the_mark_and_arguments_are_not_truncated(tmp_path: Path) -> None:
    async def drive(session: Session) -> None:
        session.tools.whole("write_file", "a", {"content": "y" * 50_000})
        session.tools.succeeded("write_file", "a", "x" * 50_000)
        session.tools.succeeded("write_file", "b", "x" * 2_000)

    payloads = heard(tmp_path, drive, "tool.result")
    long, short = sorted(payloads, key=lambda payload: str(payload["tool_id"]))
    assert long["tool_args"] == {"content": "y" * 50_000}
    assert long["tool_output"] == "x" * (2_000 - len("…[output truncated]")) + "…[output truncated]"
    assert short["tool_output"] == "x" * 2_000


@pytest.mark.parametrize(
    ("chunk", "tool_id"),
    [({**CALL, "id": None, "args": "{}"}, None), ({**CALL, "args": '{"file'}, "toolu_abc123")],
    ids=["no id", "never parsed"],
)
def test_arguments_are_empty_where_a_result_cannot_be_correlated_and_the_id_may_still_be_real(
    tmp_path: Path, chunk: dict[str, Any], tool_id: str | None
) -> None:
    async def drive(session: Session) -> None:
        session.tools.feed([chunk])
        session.tools.finish()
        session.tools.failed("write_file", tool_id, "no")

    (payload,) = heard(tmp_path, drive, "tool.result")
    assert payload["tool_args"] == {}
    assert payload["tool_id"] == tool_id


# Ordering


def test_tool_events_are_fire_and_forget_and_tool_use_and_tool_result_run_concurrently(
    tmp_path: Path, gate: Gate
) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), list(TOOL_EVENTS))])

    async def drive(session: Session) -> None:
        session.tools.whole("ls", "a", {})
        session.tools.failed("ls", "a", "no")
        # All three handlers run, though none has ended: nobody waits for them.
        await until_async(lambda: len(read_log(log)) == 3)
        gate.open()

    live(hooks, drive)
    assert sorted(map(name_of, read_log(log))) == sorted(TOOL_EVENTS)


def test_every_matching_hook_command_runs_in_its_own_subprocess(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = ["/bin/sh", "-c", 'cat > /dev/null; echo $$ >> "$0"', str(pids)]
    both = [(command, ["tool.use"]), ([*command, "another"], ["tool.use", "tool.result"])]

    async def drive(session: Session) -> None:
        session.tools.whole("ls", "a", {})
        session.tools.succeeded("ls", "a", "x")

    live(load(tmp_path, notifications=both), drive)
    seen = pids.read_text().split()
    assert len(seen) == len(set(seen)) == 3


def test_tool_use_is_dispatched_before_its_tool_result(tmp_path: Path) -> None:
    opened: list[str] = []
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": [{"command": ["true"], "events": list(TOOL_EVENTS)}]}))

    class Watched(Hooks):
        def notify(self, event: str, payload: Any = None) -> None:
            opened.append(event)
            super().notify(event, payload)

    async def drive(session: Session) -> None:
        session.tools.whole("ls", "a", {})
        session.tools.failed("ls", "a", "no")

    live(Watched.load(files=[file], project=tmp_path), drive)
    assert opened == ["tool.use", "tool.result", "tool.error"]


def test_events_of_parallel_calls_interleave_freely_and_are_correlated_by_their_id(tmp_path: Path) -> None:
    async def drive(session: Session) -> None:
        for tool_id in "abc":
            session.tools.whole("ls", tool_id, {"of": tool_id})
        for tool_id in "bca":
            session.tools.succeeded("ls", tool_id, tool_id)

    results = heard(tmp_path, drive, "tool.result")
    assert {p["tool_id"]: p["tool_args"]["of"] for p in results} == {"a": "a", "b": "b", "c": "c"}
    assert all(payload["tool_output"] == payload["tool_id"] for payload in results)


def test_most_non_tool_events_fire_in_program_order_even_if_all_are_called_at_once(tmp_path: Path) -> None:
    ordered = [
        "session.start",
        "user.prompt",
        "permission.request",
        "context.offload",
        "context.compact",
        "task.complete",
        "session.end",
    ]

    async def drive(session: Session) -> None:
        await asyncio.gather(
            session.prompt("go"),
            session.dispatch("PermissionRequest", {"tool_name": "ls", "tool_input": {}}),
            session.dispatch("context.offload"),
            session.compact("auto"),
            session.stop("done"),
        )

    assert [name_of(payload) for payload in heard(tmp_path, drive, *ordered)] == ordered


def test_their_payloads_are_as_documented(tmp_path: Path) -> None:
    async def drive(session: Session) -> None:
        await session.dispatch("PermissionRequest", {"tool_name": "ls", "tool_input": {}})
        await session.stop("done")

    events = ("permission.request", "task.complete", "session.end")
    request, complete, end = heard(tmp_path, drive, *events)
    assert complete == {"event": "task.complete", "thread_id": "thread-1"}
    assert end == {"event": "session.end", "thread_id": "thread-1"}
    assert set(request) == {"event", "tool_names"}
    assert len(request["tool_names"]) == 1


def test_they_are_awaited(tmp_path: Path, gate: Gate) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["context.offload"])])

    async def drive(session: Session) -> None:
        offload = asyncio.create_task(session.dispatch("context.offload"))
        await until_async(lambda: read_log(log))
        assert not offload.done()
        gate.open()
        await offload

    live(hooks, drive)


def test_input_required_is_fire_and_forget_on_the_headless_surface(tmp_path: Path, gate: Gate) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["input.required"])])

    async def drive(session: Session) -> None:
        await session.input_required()  # returns although its handler is held
        await until_async(lambda: read_log(log))
        gate.open()

    live(hooks, drive, surface="headless")


def test_input_required_is_awaited_on_the_interactive_surface(tmp_path: Path, gate: Gate) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["input.required"])])

    async def drive(session: Session) -> None:
        asking = asyncio.create_task(session.input_required())
        await until_async(lambda: read_log(log))
        assert not asking.done()
        gate.open()
        await asking

    live(hooks, drive, surface="interactive")


@pytest.mark.parametrize("surface", ["headless", "interactive"])
def test_user_name_set_is_always_fire_and_forget(tmp_path: Path, gate: Gate, surface: str) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["user.name.set"])])

    async def drive(session: Session) -> None:
        session.name_set("Ada", "agent")  # returns although its handler is held
        await until_async(lambda: read_log(log))
        gate.open()

    live(hooks, drive, surface=surface)


# The end


def test_a_slow_session_end_hook_delays_neither_drawing_nor_the_agent_s_cancellation(
    tmp_path: Path, gate: Gate
) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["session.end"])])

    async def main() -> None:
        session = Session(hooks, surface="interactive")
        await session.start()
        agent = asyncio.create_task(asyncio.Event().wait())
        ending = session.begin_end("prompt_input_exit")
        await until_async(lambda: read_log(log))
        agent.cancel()
        with pytest.raises(asyncio.CancelledError):
            await agent
        for _ in range(100):  # the loop is free to draw
            await asyncio.sleep(0)
        assert not ending.over
        gate.open()
        await ending

    asyncio.run(main())


def test_the_teardown_awaits_session_end_before_the_event_loop_stops(tmp_path: Path) -> None:
    hooks, log = listening(tmp_path, "session.end")

    async def main() -> list[str]:
        async with Session(hooks) as session:
            await session.start()
        return [name_of(payload) for payload in read_log(log)]  # on the loop still

    assert asyncio.run(main()) == ["session.end"]


def test_session_end_is_dispatched_once_and_after_every_prior_non_tool_event(
    tmp_path: Path, gate: Gate
) -> None:
    log = tmp_path / "log"
    others = ["session.start", "user.prompt", "context.offload", "session.end"]
    hooks = load(tmp_path, notifications=[(append_to(log), others), (gate.handler(log), ["context.compact"])])

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            prior = [
                asyncio.create_task(session.compact("auto")),
                asyncio.create_task(session.dispatch("context.offload")),
                asyncio.create_task(session.prompt("go")),
            ]
            await until_async(lambda: len(read_log(log)) == 2)
            endings = [session.begin_end(), session.begin_end("clear")]
            gate.open()
            await asyncio.gather(*prior, *endings)

    asyncio.run(main())
    assert [name_of(payload) for payload in read_log(log)] == [
        "session.start",
        "context.compact",
        "context.offload",
        "user.prompt",
        "session.end",
    ]


def test_a_forced_second_exit_may_drop_session_end_and_never_doubles_it(tmp_path: Path, gate: Gate) -> None:
    log = tmp_path / "log"
    hooks = load(tmp_path, notifications=[(gate.handler(log), ["session.end"])])
    session = Session(hooks)
    session.dispatch_sync("SessionStart", {"source": "startup"})
    ending = session.begin_end()
    until(lambda: read_log(log))
    ending.abandon()
    assert ending.wait(NOTIFICATION_TIMEOUT)  # sooner than the handler, which is killed
    assert not ending.delivered
    session.end_sync()
    assert len(read_log(log)) == 1
