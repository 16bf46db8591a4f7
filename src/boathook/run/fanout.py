"""Start all jobs, and return their results in the order in which they were given.

One batch serves both kinds of callers: `Batch.wait` blocks a thread, `Batch.gather` awaits
on any event loop. Either way a caller that is interrupted leaves nothing running.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from boathook.run.cancel import Cancel
from boathook.run.waiting import notified, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from boathook.run.pool import Pool
    from boathook.run.waiting import Callback

T = TypeVar("T")
Job: TypeAlias = "Callable[[Cancel, float], T]"
"""Takes what cancels it and the seconds it waited for a place."""


class Withdrawn(Exception):  # noqa: N818 - nothing went wrong
    """The batch was cancelled before this job had its turn."""


class Escaped(Exception):  # noqa: N818 - nothing went wrong with the batch
    """The job raised something that is not an `Exception`, such as `SystemExit`; it is the cause."""


class Batch(Generic[T]):
    """Jobs that were started together. All methods may be called from any thread.

    The result of a job that raised, or never ran, is the exception.
    """

    __slots__ = ("_callbacks", "_cancel", "_left", "_lock", "_pool", "_results", "_tasks")

    def __init__(self, pool: Pool, jobs: Sequence[Job[T]]) -> None:
        self._pool = pool
        self._cancel = Cancel()
        self._lock = threading.RLock()
        self._callbacks: list[Callback] = []
        self._results: list[T | Exception | None] = [None] * len(jobs)
        self._left = len(jobs)
        self._tasks = [_Task(self, index, job) for index, job in enumerate(jobs)]

    def start(self) -> None:
        """Hand the jobs to the pool; `start` below is the usual way."""
        try:
            self._pool.enqueue(self._tasks)
        except BaseException:
            self.cancel()
            raise

    def cancel(self) -> None:
        """Keep from starting what has not, and cancel what runs. Returns at once."""
        self._cancel.cancel()
        for task in self._pool.withdraw(self._tasks):
            task.fail(Withdrawn())

    def wait(self) -> list[T | Exception]:
        """Block until all jobs have ended.

        Ctrl-C, or anything else that is raised into the waiting thread, cancels the jobs
        and goes on its way once they have ended.
        """
        try:
            wait_for(self.when_done)
        except BaseException:
            self.cancel()
            wait_for(self.when_done)
            raise
        return self.results()

    async def gather(self) -> list[T | Exception]:
        """Do the same as `wait`, without blocking the event loop.

        Cancelling the awaiting task cancels the jobs; `CancelledError` goes on its way once
        they have ended, or at once if the task is cancelled a second time.
        """
        from asyncio import CancelledError

        try:
            await notified(self.when_done)
        except CancelledError:
            self.cancel()
            await notified(self.when_done)
            raise
        except BaseException:
            # The loop is gone, and nobody is left to wait.
            self.cancel()
            raise
        return self.results()

    def when_done(self, callback: Callback) -> None:
        """Call back once all jobs have ended, from any thread; here and now if they have."""
        with self._lock:
            if self._left:
                self._callbacks.append(callback)
                return
        callback()

    def results(self) -> list[T | Exception]:
        """Return the results in the order of the jobs; only once all have ended."""
        return cast("list[T | Exception]", self._results)

    def run(self, index: int, job: Job[T], waited: float) -> None:
        """Do one job and keep what comes of it."""
        try:
            result: T | Exception = job(self._cancel, waited)
        except Exception as error:
            result = error
        except BaseException as error:
            result = _escaped(error)
        self.settle(index, result)

    def settle(self, index: int, result: T | Exception) -> None:
        """Keep one result; the last one tells whoever waits."""
        with self._lock:
            self._results[index] = result
            self._left -= 1
            if self._left:
                return
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


def _escaped(cause: BaseException) -> Escaped:
    error = Escaped(f"the job raised {type(cause).__name__}")
    error.__cause__ = cause
    return error


class _Task(Generic[T]):
    """One job of a batch, as the pool sees it."""

    __slots__ = ("_batch", "_index", "_job")

    def __init__(self, batch: Batch[T], index: int, job: Job[T]) -> None:
        self._batch = batch
        self._index = index
        self._job = job

    def run(self, waited: float) -> None:
        self._batch.run(self._index, self._job, waited)

    def fail(self, error: Exception) -> None:
        self._batch.settle(self._index, error)


def start(pool: Pool, jobs: Sequence[Job[T]]) -> Batch[T]:
    """Start all jobs, at once as far as the pool has places, and return the batch to wait for."""
    batch = Batch(pool, jobs)
    batch.start()
    return batch


class Forgotten:
    """Batches that nobody awaits, until somebody wants all of them to have ended."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._batches: set[Batch[Any]] = set()
        self._callbacks: list[Callback] = []

    def add(self, batch: Batch[Any]) -> None:
        """Keep `batch` in mind until it has ended."""
        with self._lock:
            self._batches.add(batch)
        batch.when_done(lambda: self._drop(batch))

    async def drain(self) -> None:
        """Wait until all that were added have ended; cancelling this stops only the waiting."""
        await notified(self._when_empty)

    def drain_sync(self, timeout: float | None = None) -> bool:
        """Do the same as `drain`, blocking; false when `timeout` seconds were not enough."""
        return wait_for(self._when_empty, timeout)

    def _when_empty(self, callback: Callback) -> None:
        with self._lock:
            if self._batches:
                self._callbacks.append(callback)
                return
        callback()

    def _drop(self, batch: Batch[Any]) -> None:
        with self._lock:
            self._batches.discard(batch)
            if self._batches:
                return
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
