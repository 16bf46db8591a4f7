"""Wait for a callback that may come from any thread: blocking, or on whatever event loop runs.

A `Subscribe` takes a callback, and calls it once: later from some thread, or here and now.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

SLICE: Final = 0.2
"""Seconds after which a signal is noticed at the latest."""

Callback = Callable[[], None]
Subscribe = Callable[[Callback], None]


def wait_for(subscribe: Subscribe, timeout: float | None = None) -> bool:
    """Block until the callback came; false when `timeout` seconds were not enough."""
    # A bare lock: Ctrl-C inside an Event or a Condition may leave its inner lock held, and then
    # the thread that calls back would hang.
    called = threading.Lock()
    called.acquire()
    subscribe(called.release)
    until = math.inf if timeout is None else monotonic() + timeout
    # In slices: a signal that comes right before a thread blocks does not wake it.
    while not called.acquire(timeout=min(max(0.0, until - monotonic()), SLICE)):
        if monotonic() >= until:
            return False
    return True


async def notified(subscribe: Subscribe) -> None:
    """Wait for the callback without blocking the loop; cancelling stops only the waiting."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    future = loop.create_future()
    subscribe(lambda: _tell(loop, future))
    await future


def _tell(loop: AbstractEventLoop, future: Future[None]) -> None:
    try:
        loop.call_soon_threadsafe(_resolve, future)
    except RuntimeError:
        # The loop was closed meanwhile; whoever waited on it is gone too.
        return


def _resolve(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)
