"""The end of a session: once, off the host's loop, within a budget (S0, contract section 11)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from boathook.session.order import resolved
from boathook.terms.decision import Decision
from boathook.terms.events import EVENTS, NOTIFICATION_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator
    from types import FrameType

    from boathook.session.hooks_like import HooksLike

END_BUDGET: Final = 10.0
"""Seconds that the handlers of ``SessionEnd`` get together where none declares more."""

END_LIMIT: Final = 60.0
"""Seconds that the budget never exceeds, whatever a handler declares."""

PATIENCE: Final = NOTIFICATION_TIMEOUT + 1.0
"""Seconds that the end waits for what came before it: one notification, and the second its killing takes."""

log = logging.getLogger("boathook")


def end_budget(hooks: HooksLike) -> float:
    """Return the seconds for ``SessionEnd``: the largest declared timeout, from `END_BUDGET` to `END_LIMIT`.

    A handler whose timeout is the event's default of 600 s counts as having declared none.
    """
    by_event = getattr(getattr(hooks, "snapshot", None), "by_event", {})
    default = EVENTS["SessionEnd"].timeout
    declared: list[float] = [row.timeout for row in by_event.get("SessionEnd", ()) if row.timeout != default]
    return min(max([END_BUDGET, *declared]), END_LIMIT)


class Ending:
    """A session's end under way on a thread of its own. Await it, or `wait` for it.

    Cancelling the await does not cancel the end, and the interpreter waits for it before
    it exits; only `abandon`, or the death of the process, drops it. `reason` is that of
    the first who asked. Nothing that goes wrong in here is raised: it is logged.
    """

    def __init__(self, reason: str) -> None:
        """Begin nothing yet; `Session.begin_end` does."""
        self.reason = reason
        self.decision = Decision("SessionEnd", "")
        self.delivered = False
        self._over: Future[None] = Future()
        self._lock = threading.Lock()
        self._cancel: Callable[[], object] | None = None
        self._dropped = False

    def __await__(self) -> Generator[Any, None, Decision]:
        """Wait for the end without blocking the loop; return what ``SessionEnd`` came to."""
        yield from resolved(self._over).__await__()
        return self.decision

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, blocking this thread; false when `timeout` seconds were not enough."""
        try:
            self._over.result(timeout)
        except TimeoutError:
            return False
        return True

    @property
    def over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self._over.done()

    def abandon(self) -> None:
        """Force the exit: kill the handlers that still run, dispatch nothing more (at most once, S0)."""
        with self._lock:
            self._dropped = True
            if self._cancel:
                self._cancel()

    def begin(self, moments: Callable[[], Awaitable[None]]) -> None:
        """Run the last moments on a thread with a loop of its own.

        Where the interpreter no longer starts threads (some versions of Python, in an
        exit handler), they run here and block.
        """
        # Not a daemon: a normal exit of the process waits, as long as the budget allows.
        thread = threading.Thread(target=self._work, args=(moments,), name="boathook-end", daemon=False)
        try:
            thread.start()
        except RuntimeError:
            self._work(moments)

    def _work(self, moments: Callable[[], Awaitable[None]]) -> None:
        try:
            asyncio.run(self._main(moments))
        except asyncio.CancelledError:
            log.warning("the end of the session was forced; SessionEnd may not have been delivered")
        except Exception:
            log.exception("the end of the session failed")
        finally:
            self._over.set_result(None)

    async def _main(self, moments: Callable[[], Awaitable[None]]) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        with self._lock:
            if self._dropped:
                raise asyncio.CancelledError
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            await moments()
        finally:
            with self._lock:
                self._cancel = None


async def within(seconds: float, work: Awaitable[object]) -> bool:
    """Await `work` for at most that long, then cancel it; whether it was enough."""
    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        return False
    return True


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into `SystemExit` (143) inside the block, so that ``with session`` ends it.

    For the main thread; a host with an event loop may instead cancel its main task.
    """

    def leave(_number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
