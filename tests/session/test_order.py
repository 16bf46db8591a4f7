from __future__ import annotations

import asyncio
import threading

import pytest

from boathook.session.life import SessionOrderError
from boathook.session.order import Line, resolved


def test_places_are_called_in_the_order_of_joining() -> None:
    line = Line()
    first, second, third = line.join(), line.join(), line.join()
    assert [place.called.done() for place in (first, second, third)] == [True, False, False]
    line.leave(first)
    assert [place.called.done() for place in (second, third)] == [True, False]


def test_one_that_gives_up_before_its_turn_is_passed_over() -> None:
    line = Line()
    first, second, third = line.join(), line.join(), line.join()
    line.leave(second)
    line.leave(first)
    assert third.called.done()


def test_one_that_walks_beside_waits_for_nobody_and_nobody_waits_for_it() -> None:
    line = Line()
    first, beside, second = line.join(), line.walk_beside(), line.join()
    assert beside.called.done()
    line.leave(first)
    assert second.called.done()


def test_a_closed_line_takes_nobody_and_tells_when_all_have_left() -> None:
    line = Line()
    first, beside = line.join(), line.walk_beside()
    left = line.close()
    with pytest.raises(SessionOrderError, match="ending"):
        line.join()
    assert [gone.done() for gone in left] == [False, False]
    line.leave(first)
    line.leave(beside)
    assert [gone.done() for gone in left] == [True, True]


def test_those_whose_turn_has_not_come_can_be_sent_away() -> None:
    line = Line()
    first, second = line.join(), line.join()
    line.close()
    line.dismiss()
    with pytest.raises(SessionOrderError):
        second.called.result(0)
    line.leave(second)
    line.leave(first)
    assert first.called.result(0) is None


def test_order_holds_over_threads_and_event_loops() -> None:
    line = Line()
    places = [line.join() for _ in range(40)]
    served: list[int] = []

    def by_thread(number: int) -> None:
        with places[number] as place:
            place.called.result(30)
            served.append(number)

    async def by_task(number: int) -> None:
        with places[number] as place:
            await resolved(place.called)
            served.append(number)

    async def tasks() -> None:
        await asyncio.gather(*(by_task(number) for number in range(1, 40, 2)))

    workers = [threading.Thread(target=by_thread, args=(number,)) for number in range(0, 40, 2)]
    workers.append(threading.Thread(target=lambda: asyncio.run(tasks())))
    for worker in reversed(workers):
        worker.start()
    for worker in workers:
        worker.join(30)
    assert served == list(range(40))


def test_a_cancelled_wait_passes_its_turn_on() -> None:
    async def main() -> None:
        line = Line()
        first, second, third = line.join(), line.join(), line.join()

        async def wait() -> None:
            with second:
                await resolved(second.called)

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        line.leave(first)
        assert third.called.done()

    asyncio.run(main())


def test_a_loop_that_is_gone_costs_the_others_nothing() -> None:
    line = Line()
    first, second, third = line.join(), line.join(), line.join()
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(resolved(second.called))
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    loop.run_until_complete(asyncio.gather(waiting, return_exceptions=True))
    loop.close()
    line.leave(first)
    line.leave(second)
    assert third.called.done()
