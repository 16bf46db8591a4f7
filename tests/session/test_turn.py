from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from boathook.session import Session
from boathook.session.turn import MAX_CONTINUATIONS
from boathook.terms.decision import Decision
from session_recording import Recording, blocking

if TYPE_CHECKING:
    from collections.abc import Mapping


def active_flags(hooks: Recording) -> list[bool]:
    return [payload["stop_hook_active"] for event, payload in hooks.payloads if event == "Stop"]


def test_a_turn_goes_on_eight_times_in_a_row_and_the_ninth_stop_is_final() -> None:
    hooks = Recording(blocking("Stop"))

    async def main() -> list[Decision]:
        async with Session(hooks) as session:
            await session.start()
            await session.prompt("go")
            return [await session.stop("done?") for _ in range(MAX_CONTINUATIONS + 1)]

    decisions = asyncio.run(main())
    assert MAX_CONTINUATIONS == 8
    assert [decision.block for decision in decisions] == [True] * 8 + [False]
    assert active_flags(hooks) == [False] + [True] * 8
    assert decisions[-1].feedback == ()
    (notice,) = decisions[-1].notices
    assert "8 continuations" in notice
    assert "not yet" in notice


def test_the_final_stop_completes_the_task_once() -> None:
    hooks = Recording(blocking("Stop"))

    async def main() -> None:
        async with Session(hooks, session_id="s") as session:
            await session.start()
            await session.prompt("go")
            for _ in range(9):
                await session.stop("done?")

    asyncio.run(main())
    assert hooks.payload("task.complete") == {"thread_id": "s"}


def test_tools_in_between_do_not_reset_the_count() -> None:
    hooks = Recording(blocking("Stop"))

    async def main() -> list[bool]:
        blocks = []
        async with Session(hooks) as session:
            await session.start()
            await session.prompt("go")
            for _ in range(9):
                await session.dispatch("PreToolUse", {"tool_name": "ls"})
                session.notify("tool.use", {})
                await session.dispatch("PostToolUse", {"tool_name": "ls"})
                blocks.append((await session.stop("")).block)
        return blocks

    assert asyncio.run(main()) == [True] * 8 + [False]


def test_a_new_prompt_resets_the_count_and_a_refused_one_does_not() -> None:
    def answer(event: str, payload: Mapping[str, Any]) -> Decision:
        refused = event == "UserPromptSubmit" and payload["prompt"] == "refuse me"
        return Decision(event, "", block=refused or event == "Stop")

    hooks = Recording(answer)
    shown: list[bool] = []

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            await session.prompt("go")
            await session.stop("")
            await session.prompt("refuse me")
            shown.append(session.stop_hook_active)
            await session.stop("")
            await session.prompt("go on")
            shown.append(session.stop_hook_active)
            await session.stop("")

    asyncio.run(main())
    assert shown == [True, False]
    assert active_flags(hooks) == [False, True, False]


def test_a_turn_that_ended_begins_the_count_anew() -> None:
    stops = iter([True, False, True])

    def answer(event: str, payload: Mapping[str, Any]) -> Decision:
        return Decision(event, "", block=event == "Stop" and next(stops))

    hooks = Recording(answer)

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            for _ in range(3):
                await session.stop("")

    asyncio.run(main())
    assert active_flags(hooks) == [False, True, False]


def test_continue_false_beats_a_block_so_the_turn_ends() -> None:
    hooks = Recording(lambda event, payload: Decision(event, "", continue_=False, block=event == "Stop"))

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            await session.stop("")
            await session.stop("")

    asyncio.run(main())
    assert active_flags(hooks) == [False, False]


def test_the_host_cannot_talk_the_session_out_of_its_count() -> None:
    hooks = Recording(blocking("Stop"))

    async def main() -> None:
        async with Session(hooks) as session:
            await session.start()
            await session.stop("")
            await session.dispatch("Stop", {"last_assistant_message": "", "stop_hook_active": False})

    asyncio.run(main())
    assert active_flags(hooks) == [False, True]
