from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
import uvloop

from boathook.run import fanout
from boathook.run.fanout import Escaped, Forgotten, Withdrawn
from boathook.run.pool import Pool
from boathook.run.process import Cancel, Command, Exit, run
from run_children import (
    Before,
    alive,
    command,
    host,
    in_a_thread,
    quoted,
    read_pid,
    shell,
    until,
    until_async,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path


def job(order: Command) -> Callable[[Cancel, float], Exit]:
    return lambda cancel, waited: run(order, cancel)


def codes(results: list[Exit | Exception]) -> list[object]:
    return [one.code if isinstance(one, Exit) else type(one) for one in results]


def exits(*numbers: int) -> list[Callable[[Cancel, float], Exit]]:
    """Jobs that end in the reverse order, each with its number."""
    return [job(shell(f"sleep {0.03 * (len(numbers) - n)}; exit {code}")) for n, code in enumerate(numbers)]


async def gathered(pool: Pool) -> list[object]:
    return codes(await fanout.start(pool, exits(3, 1, 2)).gather())


LOOPS: dict[str, Callable[[Callable[[], Coroutine[object, object, list[object]]]], list[object]]] = {
    "asyncio": lambda main: asyncio.run(main()),
    "uvloop": lambda main: uvloop.run(main()),
    "asyncio in a worker thread": lambda main: in_a_thread(lambda: asyncio.run(main())),
    "uvloop in a worker thread": lambda main: in_a_thread(lambda: uvloop.run(main())),
}
# libuv opens a pipe for signals once in a process and keeps it.
uvloop.run(asyncio.sleep(0))
loops = pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)


@loops
def test_results_come_in_the_order_of_the_jobs_on_every_loop(loop: Callable[..., list[object]]) -> None:
    before = Before()
    assert loop(lambda: gathered(Pool(8))) == [3, 1, 2]
    until(before.holds_again)


@pytest.mark.parametrize("where", [lambda call: call(), in_a_thread], ids=["main thread", "worker thread"])
def test_results_come_in_the_order_of_the_jobs_without_a_loop(where: Callable[..., list[object]]) -> None:
    assert where(lambda: codes(fanout.start(Pool(8), exits(3, 1, 2)).wait())) == [3, 1, 2]


def test_a_blocking_wait_works_inside_a_running_loop() -> None:
    async def main() -> list[object]:
        return codes(fanout.start(Pool(2), exits(3, 1, 2)).wait())

    assert asyncio.run(main()) == [3, 1, 2]


@loops
def test_what_does_not_read_stdin_breaks_no_loop(loop: Callable[..., list[object]]) -> None:
    async def main() -> list[object]:
        pool = Pool(8)
        orders = [command("/bin/true", stdin=b"x" * size) for size in (1, 65537) for _ in range(40)]
        return codes(await fanout.start(pool, [job(order) for order in orders]).gather())

    assert loop(main) == [0] * 80


def test_no_jobs_are_no_wait() -> None:
    assert fanout.start(Pool(1), []).wait() == []
    assert asyncio.run(fanout.start(Pool(1), []).gather()) == []


def test_a_job_that_raises_costs_its_siblings_nothing() -> None:
    def leave(cancel: Cancel, waited: float) -> int:
        sys.exit(2)

    first, second, third = fanout.start(Pool(3), [lambda c, w: 1 // 0, leave, lambda c, w: 7]).wait()
    assert isinstance(first, ZeroDivisionError)
    assert isinstance(second, Escaped)
    assert isinstance(second.__cause__, SystemExit)
    assert third == 7


def test_a_wait_for_a_place_is_told_to_the_job_and_counts_not_in_its_time() -> None:
    slow = shell("sleep 0.15", timeout=10)
    jobs = [lambda cancel, waited: (waited, run(slow, cancel)) for _ in range(3)]
    results = fanout.start(Pool(1), jobs).wait()
    waits = [one[0] for one in results if isinstance(one, tuple)]
    assert waits[0] == 0.0
    assert waits[1] >= 0.14
    assert waits[2] >= 0.28
    assert all(one[1].duration < 5 for one in results if isinstance(one, tuple))


# --- cancelling


class Scene:
    """Sleeping children, as many as have a place, and one more that waits for one."""

    def __init__(self, folder: Path, size: int = 2) -> None:
        self.notes = [folder / str(number) for number in range(size)]
        self.pool = Pool(size)
        self.jobs = [
            job(shell(f"echo $$ > {quoted(note)}; exec sleep 20")) for note in (*self.notes, folder / "late")
        ]
        self._late = folder / "late"

    def running(self) -> bool:
        return all(note.exists() and note.read_text().endswith("\n") for note in self.notes)

    def nothing_left(self) -> bool:
        return not any(alive(read_pid(note)) for note in self.notes) and not self._late.exists()


@loops
def test_cancelling_the_task_ends_the_children_before_it_raises(
    loop: Callable[..., list[object]], tmp_path: Path
) -> None:
    before = Before()
    scene = Scene(tmp_path)

    async def main() -> list[object]:
        batch = fanout.start(scene.pool, scene.jobs)
        task = asyncio.ensure_future(batch.gather())
        await until_async(scene.running)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert scene.nothing_left()
        return [type(one) if isinstance(one, Exception) else one.cancelled for one in batch.results()]

    assert loop(main) == [True, True, Withdrawn]
    until(before.holds_again)


def test_a_timeout_of_the_caller_ends_the_children() -> None:
    async def main() -> None:
        async with asyncio.timeout(0.05):
            await fanout.start(Pool(2), [job(command("/bin/sleep", "20"))] * 4).gather()

    before = Before()
    with pytest.raises(TimeoutError):
        asyncio.run(main())
    until(before.holds_again)


def test_cancelling_before_the_first_step_ends_everything_too() -> None:
    async def main() -> None:
        batch = fanout.start(Pool(2), [job(command("/bin/sleep", "20"))] * 4)
        task = asyncio.ensure_future(batch.gather())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert all(isinstance(one, Withdrawn) or one.cancelled for one in batch.results())  # type: ignore[union-attr]

    before = Before()
    asyncio.run(main())
    until(before.holds_again)


def test_a_second_cancel_stops_the_waiting_and_the_children_still_end(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    stubborn = shell(f"trap '' TERM; echo $$ > {quoted(note)}; while :; do sleep 20; done")

    async def main() -> float:
        task = asyncio.ensure_future(fanout.start(Pool(1), [job(stubborn)]).gather())
        await until_async(lambda: note.exists() and note.read_text())
        task.cancel()
        await asyncio.sleep(0.01)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    before = Before()
    assert asyncio.run(main()) < 0.9
    until(before.holds_again)
    assert not alive(read_pid(note))


def test_cancelling_one_caller_leaves_the_batches_of_others_alone() -> None:
    async def main() -> list[object]:
        pool = Pool(4)
        other = asyncio.ensure_future(fanout.start(pool, exits(5, 6)).gather())
        mine = asyncio.ensure_future(fanout.start(pool, [job(command("/bin/sleep", "20"))] * 9).gather())
        await asyncio.sleep(0.01)
        mine.cancel()
        with pytest.raises(asyncio.CancelledError):
            await mine
        return codes(await other)

    assert asyncio.run(main()) == [5, 6]


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_that_is_closed_meanwhile_disturbs_no_thread(
    new_loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Before()
    complaints: list[object] = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    pool = Pool(2)
    loop = new_loop()
    coroutine = fanout.start(pool, [job(shell("sleep 0.1"))] * 2).gather()
    task = loop.create_task(coroutine)
    loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert pool.drain(20)
    # The abandoned coroutine is thrown away: it may not wait for anything any more.
    coroutine.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    del task, coroutine, loop
    until(before.holds_again)
    assert complaints == []


def test_a_coroutine_that_is_thrown_away_cancels_its_children(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    async def main() -> None:
        coroutine = fanout.start(scene.pool, scene.jobs).gather()
        coroutine.send(None)
        await until_async(scene.running)
        coroutine.close()
        await until_async(lambda: scene.pool.drain(0))
        assert scene.nothing_left()

    asyncio.run(main())


def test_ctrl_c_in_a_blocking_wait_ends_the_children_before_it_raises(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"""
import os
from boathook.run import fanout
from boathook.run.pool import Pool
from boathook.run.process import Command, run
order = Command(("/bin/sh", "-c", "echo $$ > {note}; exec setsid -w sleep 77"), "/", dict(os.environ), b"", 600)
try:
    fanout.start(Pool(1), [lambda cancel, waited: run(order, cancel)] * 3).wait()
except KeyboardInterrupt:
    print(os.path.exists(f"/proc/{{open('{note}').read().strip()}}/exe"))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE) as process:
        read_pid(note)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[0] == b"False\n"


def test_ctrl_c_at_any_moment_of_a_blocking_wait_hangs_nobody_and_costs_no_place() -> None:
    done = host(
        """
        import os, signal
        from boathook.run import fanout
        from boathook.run.pool import Pool
        from boathook.run.process import Command, run
        order = Command(("/bin/sleep", "77"), "/", dict(os.environ), b"", 60.0)
        def interrupt(number, frame):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        pool, hits = Pool(3), 0
        for turn in range(40):
            batch = None
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + turn * 30e-6)
                batch = fanout.start(pool, [lambda cancel, waited: run(order, cancel)] * 4)
                batch.wait()
            except KeyboardInterrupt:
                hits += 1
                if batch is not None:
                    batch.cancel()
        print(hits, pool.drain(20), [pool.submit(lambda waited: 1).result(20) for _ in range(9)] == [1] * 9)
        """
    )
    assert done.stdout == "40 True True\n"


def test_ctrl_c_under_asyncio_run_ends_the_children(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"""
import asyncio, os
from boathook.run import fanout
from boathook.run.pool import Pool
from boathook.run.process import Command, run
order = Command(("/bin/sh", "-c", "echo $$ > {note}; exec setsid -w sleep 77"), "/", dict(os.environ), b"", 600)
async def main():
    await fanout.start(Pool(1), [lambda cancel, waited: run(order, cancel)] * 3).gather()
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print(os.path.exists(f"/proc/{{open('{note}').read().strip()}}/exe"))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE) as process:
        read_pid(note)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[0] == b"False\n"


# --- fired and forgotten


def test_what_was_forgotten_can_be_waited_for_from_both_sides() -> None:
    forgotten, pool = Forgotten(), Pool(2)
    assert forgotten.drain_sync(0)
    batches = [fanout.start(pool, [job(shell("sleep 0.1; exit 3"))]) for _ in range(3)]
    for batch in batches:
        forgotten.add(batch)
    assert not forgotten.drain_sync(0.01)

    async def main() -> None:
        await forgotten.drain()

    asyncio.run(main())
    assert forgotten.drain_sync(0)
    assert [codes(batch.results()) for batch in batches] == [[3]] * 3


def test_cancelling_a_drain_stops_only_the_waiting() -> None:
    forgotten = Forgotten()
    batch = fanout.start(Pool(1), [job(shell("sleep 0.2; exit 3"))])
    forgotten.add(batch)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(forgotten.drain(), 0.02)

    asyncio.run(main())
    assert forgotten.drain_sync(20)
    assert codes(batch.results()) == [3]


# --- and again


def test_2000_events_of_which_a_third_time_out_leave_everything_as_it_was() -> None:
    before = Before()
    pool = Pool(16)
    quick, bad = command("/bin/true"), shell("kill -9 $$")
    slow = [shell("sleep 20 & sleep 20", timeout=0.1), command("/bin/sleep", "20", timeout=0.05)]

    async def event(number: int) -> str:
        order = slow[number % 2] if number % 3 == 0 else (quick, bad)[number % 2]
        [ended] = await fanout.start(pool, [job(order)]).gather()
        assert isinstance(ended, Exit)
        return "timeout" if ended.timed_out else str(ended.code or ended.signal or 0)

    async def main() -> list[str]:
        return await asyncio.gather(*(event(number) for number in range(2000)))

    results = asyncio.run(main())
    assert results == ["timeout" if number % 3 == 0 else "9" if number % 2 else "0" for number in range(2000)]
    until(before.holds_again)
