from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from boathook.session import Session
from boathook.terms.decision import Decision
from session_recording import Recording, until_async

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest


def test_callers_that_come_at_once_are_served_one_by_one_in_the_order_of_their_calls() -> None:
    hooks = Recording()

    async def main() -> None:
        async with Session(hooks) as session:
            await asyncio.gather(
                session.start(),
                session.prompt("go"),
                session.dispatch("context.offload"),
                session.compact("auto"),
                session.stop("done"),
            )

    asyncio.run(main())
    names = ["SessionStart", "UserPromptSubmit", "context.offload", "PreCompact", "Stop", "SessionEnd"]
    assert hooks.log == [(what, name) for name in names for what in ("begin", "end")]


def test_tool_calls_and_subagents_wait_neither_for_each_other_nor_for_the_ordered_ones() -> None:
    beside = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop")
    hooks = Recording(hold=("PreCompact", *beside))

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            tasks = [asyncio.create_task(session.compact("auto"))]
            tasks += [asyncio.create_task(session.dispatch(event)) for event in beside]
            await until_async(lambda: len(hooks.events()) == 7)  # all of them run, none has ended
            await session.dispatch("tool.use", {})
            for event in ("PreCompact", *beside):
                hooks.release(event)
            await asyncio.gather(*tasks)

    asyncio.run(main())


def test_order_holds_between_threads_and_the_loop() -> None:
    hooks = Recording(hold=("PreCompact",))

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            first = asyncio.create_task(session.compact("auto"))
            await until_async(hooks.reached["PreCompact"].is_set)
            with ThreadPoolExecutor() as pool:
                second = pool.submit(session.dispatch_sync, "context.offload")
                await until_async(lambda: len(session._line._queue) == 2)
                third = asyncio.create_task(session.stop("done"))
                await asyncio.sleep(0)
                hooks.release("PreCompact")
                await asyncio.gather(first, third, asyncio.wrap_future(second))

    asyncio.run(main())
    assert hooks.events() == ["SessionStart", "PreCompact", "context.offload", "Stop", "SessionEnd"]


def test_an_ordered_notification_that_is_fired_and_forgotten_comes_in_its_turn_all_the_same() -> None:
    hooks = Recording(hold=("PreCompact",))

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            first = asyncio.create_task(session.compact("auto"))
            await until_async(hooks.reached["PreCompact"].is_set)
            session.notify("context.offload")
            after = asyncio.create_task(session.stop("done"))
            await asyncio.sleep(0)
            assert not session.drain_sync(0)
            hooks.release("PreCompact")
            await session.drain()
            assert ("end", "context.offload") in hooks.log
            await asyncio.gather(first, after)

    asyncio.run(main())
    assert hooks.events() == ["SessionStart", "PreCompact", "context.offload", "Stop", "SessionEnd"]


def test_one_that_is_cancelled_while_it_waits_is_never_dispatched_and_lets_the_next_one_go() -> None:
    hooks = Recording(hold=("PreCompact",))

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            first = asyncio.create_task(session.compact("auto"))
            await until_async(hooks.reached["PreCompact"].is_set)
            second = asyncio.create_task(session.prompt("never mind"))
            third = asyncio.create_task(session.stop("done"))
            await asyncio.sleep(0)
            second.cancel()
            hooks.release("PreCompact")
            await asyncio.gather(first, second, third, return_exceptions=True)
            assert second.cancelled()

    asyncio.run(main())
    assert hooks.events() == ["SessionStart", "PreCompact", "Stop", "SessionEnd"]


def test_one_that_raises_lets_the_next_one_go() -> None:
    from boathook import Hooks, PayloadError

    async def main() -> None:
        async with Session(Hooks.load(files=[])) as session:
            await session.start()
            results = await asyncio.gather(
                session.dispatch("context.offload", [1]),  # type: ignore[arg-type]
                session.stop("done"),
                return_exceptions=True,
            )
            assert isinstance(results[0], PayloadError)
            assert not isinstance(results[1], BaseException)

    asyncio.run(main())


def test_many_threads_at_once_are_all_served() -> None:
    hooks = Recording()
    with Session(hooks) as session:
        session.dispatch_sync("SessionStart", {"source": "startup"})
        threads = [
            threading.Thread(target=session.dispatch_sync, args=(event,))
            for event in ("context.offload", "PreToolUse", "Stop") * 20
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    ordered = [entry for entry in hooks.log if entry[1] in {"context.offload", "Stop"}]
    assert len(ordered) == 80
    assert all(ordered[at][1] == ordered[at + 1][1] for at in range(0, 80, 2))
    assert all([ordered[at][0], ordered[at + 1][0]] == ["begin", "end"] for at in range(0, 80, 2))


def test_a_delivery_in_the_background_that_fails_is_logged_and_lets_the_next_one_go(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def answer(event: str, payload: Mapping[str, Any]) -> Decision:
        if event == "context.offload":
            raise OSError("no more processes")
        return Decision(event, "")

    with Session(Recording(answer)) as session:
        session.dispatch_sync("SessionStart", {"source": "startup"})
        session.notify("context.offload")
        assert session.dispatch_sync("Stop").event == "Stop"
        assert session.drain_sync(30)
    assert "context.offload could not be delivered" in caplog.text
