from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from boathook import UnknownEventError
from boathook.session import HooksLike, Session, SessionOrderError, State
from boathook.session.life import BEFORE_START, BESIDE, check_allowed, is_ordered
from boathook.terms.events import EVENTS, NOTIFICATIONS
from session_recording import Recording, blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

DERIVED = [name for name, row in NOTIFICATIONS.items() if row.derived_from]


def test_what_s0_fires_in_program_order_is_ordered_and_the_rest_of_the_notifications_is_not() -> None:
    assert {name for name in NOTIFICATIONS if not is_ordered(name)} == {
        "tool.use",
        "tool.result",
        "tool.error",
        "user.name.set",
        "input.required",
    }


def test_events_of_parallel_calls_and_subagents_are_not_ordered() -> None:
    assert {name for name in EVENTS if not is_ordered(name)} == set(BESIDE)


@pytest.mark.parametrize("event", [*EVENTS, "tool.use", "tool.result", "tool.error", "context.offload"])
def test_before_the_start_only_onboarding_and_the_start_itself_may_happen(event: str) -> None:
    if event in BEFORE_START:
        check_allowed(State.NEW, event, {})
    else:
        with pytest.raises(SessionOrderError, match="has not started"):
            check_allowed(State.NEW, event, {})


@pytest.mark.parametrize("state", [State.IDLE, State.TURN])
@pytest.mark.parametrize("event", [name for name in (*EVENTS, *NOTIFICATIONS) if name != "SessionStart"])
def test_in_a_running_session_everything_may_happen_in_a_turn_and_between_turns(
    state: State, event: str
) -> None:
    check_allowed(state, event, {})


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_a_session_starts_once(source: str) -> None:
    with pytest.raises(SessionOrderError, match="started already"):
        check_allowed(State.IDLE, "SessionStart", {"source": source})


def test_a_session_goes_on_after_a_compaction() -> None:
    check_allowed(State.TURN, "SessionStart", {"source": "compact"})


@pytest.mark.parametrize("event", [*EVENTS, *NOTIFICATIONS])
def test_while_it_ends_only_tool_calls_and_subagents_may_report(event: str) -> None:
    if is_ordered(event):
        with pytest.raises(SessionOrderError, match="ending"):
            check_allowed(State.ENDING, event, {})
    else:
        check_allowed(State.ENDING, event, {})


@pytest.mark.parametrize("event", [*EVENTS, *NOTIFICATIONS])
def test_after_the_end_nothing_may_happen(event: str) -> None:
    with pytest.raises(SessionOrderError, match="has ended"):
        check_allowed(State.ENDED, event, {})


def driven(drive: Callable[[Session], Awaitable[object]], hooks: Recording | None = None) -> Recording:
    hooks = hooks or Recording()

    async def main() -> None:
        async with Session(hooks) as session:
            await drive(session)

    asyncio.run(main())
    return hooks


def test_a_prompt_before_the_start_is_refused_and_nothing_is_dispatched() -> None:
    async def drive(session: Session) -> None:
        with pytest.raises(SessionOrderError, match=r"start\(\) first"):
            await session.prompt("too early")

    assert driven(drive).events() == []


def test_a_tool_call_before_the_start_is_refused() -> None:
    async def drive(session: Session) -> None:
        with pytest.raises(SessionOrderError, match="has not started"):
            session.notify("tool.use", {})
        with pytest.raises(SessionOrderError, match="has not started"):
            await session.dispatch("PreToolUse", {})

    assert driven(drive).events() == []


@pytest.mark.parametrize("event", DERIVED)
def test_a_notification_that_a_lifecycle_event_announces_is_refused_because_it_would_come_twice(
    event: str,
) -> None:
    async def drive(session: Session) -> None:
        with pytest.raises(SessionOrderError, match=f"announced by {NOTIFICATIONS[event].derived_from}"):
            await session.dispatch(event)
        with pytest.raises(SessionOrderError, match="comes twice"):
            session.notify(event)

    assert driven(drive).events() == []


def test_dispatching_after_the_end_is_refused() -> None:
    hooks = Recording()

    async def main() -> None:
        session = Session(hooks)
        await session.start()
        await session.end()
        with pytest.raises(SessionOrderError, match="has ended"):
            await session.prompt("too late")
        with pytest.raises(SessionOrderError, match="has ended"):
            await session.dispatch("PreToolUse", {})

    asyncio.run(main())
    assert hooks.events() == ["SessionStart", "SessionEnd"]


def test_an_event_that_nobody_knows_is_left_to_the_engine(tmp_path: object) -> None:
    from boathook import Hooks

    async def main() -> None:
        session = Session(Hooks.load(files=[]))
        with pytest.raises(UnknownEventError, match="PreToolUse"):
            await session.dispatch("preToolUse")
        with pytest.raises(UnknownEventError):
            session.notify("tool.used")

    asyncio.run(main())


def test_the_states_follow_the_life() -> None:
    seen: list[State] = []

    async def main() -> None:
        hooks = Recording(hold=("SessionEnd",))
        session = Session(hooks)
        seen.append(session.state)
        await session.start()
        seen.append(session.state)
        await session.prompt("go")
        seen.append(session.state)
        await session.stop("done")
        seen.append(session.state)
        ending = session.begin_end()
        seen.append(session.state)
        hooks.release("SessionEnd")
        await ending
        seen.append(session.state)

    asyncio.run(main())
    assert seen == [State.NEW, State.IDLE, State.TURN, State.IDLE, State.ENDING, State.ENDED]


def test_a_refused_prompt_begins_no_turn_and_leaves_the_old_id() -> None:
    async def drive(session: Session) -> None:
        await session.start()
        decision = await session.prompt("no")
        assert decision.block
        assert session.state is State.IDLE
        assert session.prompt_id is None

    hooks = driven(drive, Recording(blocking("UserPromptSubmit")))
    assert hooks.payload("UserPromptSubmit")["prompt_id"]
    assert "prompt_id" not in hooks.payload("SessionEnd")


def test_every_moment_of_a_turn_carries_the_id_of_its_prompt() -> None:
    async def drive(session: Session) -> None:
        await session.start()
        await session.prompt("one")
        await session.dispatch("PreToolUse", {"tool_name": "ls"})
        await session.prompt("two")

    hooks = driven(drive)
    ids = [payload.get("prompt_id") for _, payload in hooks.payloads]
    start, one, tool, two, end = ids
    assert start is None
    assert one == tool != two == end


def test_what_the_session_knows_is_filled_in_and_the_host_s_own_words_win_but_for_the_session_s_id() -> None:
    hooks = Recording()

    async def main() -> None:
        session = Session(
            hooks, session_id="s", cwd="/w", transcript_path="/t", model="m", permission_mode="default"
        )
        await session.start("resume")
        session.permission_mode = "plan"
        await session.dispatch("Notification", {"message": "x", "cwd": "/elsewhere", "session_id": "other"})
        await session.end("clear")

    asyncio.run(main())
    common = {"session_id": "s", "cwd": "/w", "transcript_path": "/t"}
    assert hooks.payload("SessionStart") == {
        **common,
        "permission_mode": "default",
        "source": "resume",
        "model": "m",
    }
    assert hooks.payload("Notification") == {
        **common,
        "permission_mode": "plan",
        "message": "x",
        "cwd": "/elsewhere",
    }
    assert hooks.payload("SessionEnd") == {**common, "permission_mode": "plan", "reason": "clear"}


def test_what_a_host_says_in_short_is_dispatched_in_full() -> None:
    async def drive(session: Session) -> None:
        await session.start()
        await session.compact("manual", "keep the names")
        await session.start("compact")

    hooks = driven(drive)
    assert hooks.events() == ["SessionStart", "PreCompact", "SessionStart", "SessionEnd"]
    assert hooks.payload("PreCompact")["custom_instructions"] == "keep the names"


def test_a_blocking_host_gets_the_same() -> None:
    hooks = Recording(blocking("Stop"))
    with Session(hooks) as session:
        session.dispatch_sync("SessionStart", {"source": "startup"})
        session.dispatch_sync("UserPromptSubmit", {"prompt": "go"})
        blocks = [session.dispatch_sync("Stop", {"last_assistant_message": ""}).block for _ in range(9)]
        assert session.drain_sync(5)
    assert blocks == [True] * 8 + [False]
    assert hooks.events()[-2:] == ["task.complete", "SessionEnd"]


def test_a_host_can_be_handed_a_session_wherever_hooks_are_expected() -> None:
    hooks: HooksLike = Session(Recording())
    hooks.dispatch_sync("SessionStart", {"source": "startup"})
    assert asyncio.run(hooks.dispatch("Notification", {"message": "x"})).event == "Notification"
    hooks.notify("user.name.set", {"name": "Ada", "assistant_id": "agent"})
    asyncio.run(hooks.drain())
    assert hooks.drain_sync(1)
