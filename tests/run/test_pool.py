from __future__ import annotations

import _thread
import logging
import sys
import threading
import time
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING

import pytest

from boathook.run.pool import Pool
from run_children import Before, host, until

if TYPE_CHECKING:
    from collections.abc import Callable


class Gate:
    """A job that says when it runs and goes on when it is told to."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.go = threading.Event()
        self.waited = -1.0

    def __call__(self, waited: float) -> float:
        self.waited = waited
        self.began.set()
        assert self.go.wait(20)
        return waited


def test_a_result_and_an_exception_come_through_the_future() -> None:
    pool = Pool(2)
    assert pool.submit(lambda waited: 5).result(20) == 5
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda waited: 1 / 0).result(20)
    with pytest.raises(SystemExit):
        pool.submit(lambda waited: sys.exit(3)).result(20)
    assert pool.submit(lambda waited: 6).result(20) == 6


def test_jobs_submitted_at_once_start_at_once_while_there_is_room_and_have_not_waited() -> None:
    pool = Pool(8)
    gates = [Gate() for _ in range(8)]
    for gate in gates:
        pool.submit(gate)
    assert all(gate.began.wait(20) for gate in gates)
    for gate in gates:
        gate.go.set()
    assert pool.drain(20)
    assert [gate.waited for gate in gates] == [0.0] * 8


def test_never_more_than_the_limit_run_at_once_and_all_of_them_run() -> None:
    pool = Pool(3)
    lock = threading.Lock()
    now, most, total = 0, 0, 0

    def job(waited: float) -> None:
        nonlocal now, most, total
        with lock:
            now += 1
            total += 1
            most = max(most, now)
        time.sleep(0.001)
        with lock:
            now -= 1

    submitters = [threading.Thread(target=lambda: [pool.submit(job) for _ in range(50)]) for _ in range(4)]
    for thread in submitters:
        thread.start()
    for thread in submitters:
        thread.join()
    assert pool.drain(20)
    assert (most, total, now) == (3, 200, 0)


def test_jobs_start_in_the_order_of_submission() -> None:
    pool = Pool(1)
    first, order = Gate(), list[int]()
    pool.submit(first)
    for number in range(20):
        pool.submit(lambda waited, number=number: order.append(number))  # type: ignore[misc]
    first.go.set()
    assert pool.drain(20)
    assert order == list(range(20))


def test_a_job_knows_how_long_it_waited_for_a_place() -> None:
    pool = Pool(1)
    first = Gate()
    pool.submit(first)
    began = time.monotonic()
    second = pool.submit(lambda waited: waited)
    assert first.began.wait(20)
    time.sleep(0.02)
    first.go.set()
    assert 0.02 <= second.result(20) <= time.monotonic() - began


def test_a_queued_job_that_is_cancelled_never_starts() -> None:
    pool = Pool(1)
    first, ran = Gate(), list[int]()
    pool.submit(first)
    second = pool.submit(lambda waited: ran.append(2))
    third = pool.submit(lambda waited: ran.append(3))
    assert second.cancel()
    first.go.set()
    third.result(20)
    assert ran == [3]
    with pytest.raises(CancelledError):
        second.result(20)


def test_draining_waits_for_what_runs_and_what_is_queued_and_gives_up_in_time() -> None:
    pool = Pool(1)
    assert pool.drain(0)
    first = Gate()
    pool.submit(first)
    second = pool.submit(lambda waited: "done")
    assert not pool.drain(0.01)
    first.go.set()
    assert pool.drain(20)
    assert second.done()


def test_threads_live_only_while_there_is_work() -> None:
    before = Before()
    pool = Pool(4)
    for _ in range(3):
        futures = [pool.submit(lambda waited: None) for _ in range(40)]
        for future in futures:
            future.result(20)
        until(before.holds_again)


def test_a_job_that_asks_for_its_thread_leaves_no_trace_of_it(caplog: pytest.LogCaptureFixture) -> None:
    before = Before()
    with caplog.at_level(logging.INFO):
        Pool(1).submit(lambda waited: logging.getLogger("boathook").info("hello")).result(20)
    assert caplog.messages == ["hello"]
    until(before.holds_again)


def test_debuggers_and_profilers_see_the_jobs() -> None:
    seen: list[str] = []

    def profile(frame: object, event: str, argument: object) -> None:
        seen.append(event)

    threading.setprofile(profile)
    try:
        Pool(1).submit(lambda waited: None).result(20)
    finally:
        threading.setprofile(None)
    assert "call" in seen


def test_a_signal_handler_may_submit_while_its_own_thread_submits() -> None:
    done = host(
        """
        import signal
        from boathook.run.pool import Pool
        pool, results = Pool(2), []
        def handler(number, frame):
            results.append(pool.submit(lambda waited: 1))
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        while len(results) < 200:
            pool.submit(lambda waited: 1).result(20)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(sum(one.result(20) for one in results) >= 200)
        """
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_where_no_thread_can_be_started_the_job_fails_and_nobody_hangs() -> None:
    done = host(
        """
        import threading
        from boathook.run import fanout
        from boathook.run.pool import Pool
        pool = Pool(2)
        usual = threading.stack_size(1 << 46)  # more than any address space has
        futures = [pool.submit(lambda waited: 1) for _ in range(3)]
        print([type(one.exception(20)).__name__ for one in futures], pool.drain(0))
        print([type(one).__name__ for one in fanout.start(pool, [lambda cancel, waited: 1] * 2).wait()])
        threading.stack_size(usual)
        print(pool.submit(lambda waited: 1).result(20))
        """
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "['RuntimeError', 'RuntimeError', 'RuntimeError'] True",
        "['RuntimeError', 'RuntimeError']",
        "1",
    ]


def test_where_no_further_thread_can_be_started_the_jobs_wait_for_those_that_run() -> None:
    done = host(
        """
        import threading
        from boathook.run.pool import Pool
        pool, go = Pool(2), threading.Event()
        first = pool.submit(lambda waited: go.wait(20))
        usual = threading.stack_size(1 << 46)
        second = pool.submit(lambda waited: "second")
        go.set()
        print(first.result(20), second.result(20), pool.drain(20))
        """
    )
    assert (done.stdout, done.stderr) == ("True second True\n", "")


def test_a_pool_without_any_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Pool(0)


def test_a_pool_serves_threads_it_knows_nothing_of() -> None:
    pool = Pool(2)
    futures: list[Future[float]] = []
    submit: Callable[[], None] = lambda: futures.append(pool.submit(lambda waited: waited))  # noqa: E731
    for _ in range(5):
        _thread.start_new_thread(submit, ())
    until(lambda: len(futures) == 5)
    assert [future.result(20) for future in futures] == [future.result() for future in futures]
