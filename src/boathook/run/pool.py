"""So many jobs at once and no more, in threads that live only while there is work."""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections import deque
from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from boathook.run.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from boathook.run.waiting import Callback

T = TypeVar("T")


class Task(Protocol):
    """What a pool runs: exactly one of the two is called, once, and neither raises."""

    def run(self, waited: float) -> None:
        """Do it, in a thread of the pool, after `waited` seconds without a place."""

    def fail(self, error: Exception) -> None:
        """Take note that it will never run."""


class Pool:
    """Runs tasks first come, first served, `limit` at once. Safe to use from any thread.

    A task that finds a free place starts at once, has waited 0.0 seconds, and never shares
    a thread with one that runs.
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"a pool needs room for at least one job at once, not {limit}")
        self.limit = limit
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        # Reentrant: a signal handler may announce an event while its thread is in here. And no
        # Condition: Ctrl-C on the way into one leaves it locked.
        self._lock = threading.RLock()
        self._when_idle: list[Callback] = []
        self._queue: deque[tuple[Task, float | None]] = deque()
        self._workers = 0
        self._running = 0

    def submit(self, job: Callable[[float], T]) -> Future[T]:
        """Run ``job(seconds waited)``; the future holds what it returned or raised.

        A future that is cancelled before its job starts keeps it from starting.
        """
        task = _Submitted(job)
        self.enqueue([task])
        return task.future

    def enqueue(self, tasks: Iterable[Task]) -> None:
        """Run all of these, each as soon as there is a place. Returns at once.

        Where no thread can be started and none of the pool is running, the tasks fail.
        """
        if self._owner != os.getpid():
            # A fork of the host: the threads that served this queue are the parent's.
            self._reset()
        begun = threading.Lock()
        begun.acquire()
        claimed = False
        try:
            with self._lock:
                self._append(tasks)
                claimed = self._another()
            if claimed:
                self._start_worker(begun.release)
        except BaseException:
            # Ctrl-C, and only the thread itself can tell whether there is one.
            if claimed and not begun.acquire(timeout=1.0):
                self._give_back()
            raise

    def _append(self, tasks: Iterable[Task]) -> None:
        now = monotonic()
        for task in tasks:
            free = self._running + len(self._queue) < self.limit
            self._queue.append((task, None if free else now))

    def withdraw(self, tasks: Iterable[Task]) -> list[Task]:
        """Take those that have not started out of the queue and return them; they are the caller's again."""
        names = {id(task) for task in tasks}
        with self._lock:
            taken = [task for task, _ in self._queue if id(task) in names]
            if taken:
                self._queue = deque(place for place in self._queue if id(place[0]) not in names)
                self._tell_if_idle()
        return taken

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until nothing runs or is queued; false when `timeout` seconds were not enough."""
        return wait_for(self.when_idle, timeout)

    def when_idle(self, callback: Callback) -> None:
        """Call back once nothing runs or is queued, from any thread; here and now if that is so."""
        with self._lock:
            self._when_idle.append(callback)
            self._tell_if_idle()

    def _another(self) -> bool:
        """Claim a place for one more worker, if there is work for it and room."""
        if not self._queue or self._workers >= self.limit:
            return False
        self._workers += 1
        return True

    def _give_back(self) -> None:
        with self._lock:
            self._workers -= 1

    def _start_worker(self, begun: Callback) -> None:
        try:
            if sys.is_finalizing():
                # A thread started now would never run, and its caller might wait for it.
                raise RuntimeError("can't start new thread: the interpreter is shutting down")
            # Not threading.Thread, whose start waits until the new thread runs: a tenth of what
            # a small command takes in all, and time in which the caller's event loop stands still.
            _thread.start_new_thread(_as_thread, (self._work, begun))
        except RuntimeError as error:
            self._unstarted(error)

    def _unstarted(self, error: RuntimeError) -> None:
        with self._lock:
            self._workers -= 1
            # Where other workers live, the queue is served a little later, and nothing is lost.
            left = [] if self._workers else [task for task, _ in self._queue]
            if left:
                self._queue.clear()
                self._tell_if_idle()
        for task in left:
            task.fail(error)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._workers -= 1
                    return
                task, since = self._queue.popleft()
                self._running += 1
                more = self._another()
            if more:
                # One worker starts the next, so that whoever enqueues sixteen tasks pays for one thread.
                self._start_worker(_nothing)
            try:
                task.run(0.0 if since is None else monotonic() - since)
            finally:
                # An idle thread would keep what the task refers to alive.
                del task
                self._ended()

    def _ended(self) -> None:
        with self._lock:
            self._running -= 1
            self._tell_if_idle()

    def _tell_if_idle(self) -> None:
        if not (self._running or self._queue):
            callbacks, self._when_idle = self._when_idle, []
            for callback in callbacks:
                callback()


def _nothing() -> None:
    """Nobody asks whether this thread begins: only the main thread can be interrupted."""


def _as_thread(work: Callable[[], None], begun: Callback) -> None:
    """Do `work` in a bare thread with what `threading` does for its own."""
    begun()
    if (trace := threading.gettrace()) is not None:
        sys.settrace(trace)
    if (profile := threading.getprofile()) is not None:
        sys.setprofile(profile)
    try:
        work()
    finally:
        _forget_stand_in()


def _forget_stand_in() -> None:
    # Whoever asks a bare thread for its current_thread(), as logging does, makes a stand-in,
    # which threading keeps for ever until 3.13.
    if sys.version_info < (3, 13):
        known: dict[int, threading.Thread] = getattr(threading, "_active", {})
        known.pop(_thread.get_ident(), None)


class _Submitted(Generic[T]):
    """One job and the future of its result."""

    __slots__ = ("_job", "future")

    def __init__(self, job: Callable[[float], T]) -> None:
        self._job = job
        self.future: Future[T] = Future()

    def run(self, waited: float) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._job(waited)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    def fail(self, error: Exception) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)
