"""Ctrl-C and its kin: the first ends the work in order, the second hurries the end, the third forces out."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FORCED: Final = 3


def exit_status(number: int) -> int:
    """Return the exit status of a program that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + number


async def supervise(work: Callable[[], Awaitable[int]], end: Callable[[], Awaitable[None]]) -> int:
    """Do `work`, then `end` whatever became of it, and return the exit status.

    A first signal cancels the work, a second one cancels the end, a third leaves at once.
    One that finds the work done already has nothing to cancel: the end goes on.
    Must run in the main thread's event loop.
    """
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    caught: list[int] = []
    is_done = False

    def on_signal(number: int) -> None:
        caught.append(number)
        if len(caught) >= _FORCED:
            os._exit(exit_status(number))
        if task is not None and not (is_done and len(caught) == 1):
            task.cancel()

    # Whoever starts us with a signal ignored (nohup, a shell's background job) means it.
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, on_signal, number)
    try:
        try:
            return await _uninterrupted(work, caught, task)
        finally:
            is_done = True
            await _ended(end, caught, task)
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)


async def _uninterrupted(
    work: Callable[[], Awaitable[int]], caught: list[int], task: asyncio.Task[int] | None
) -> int:
    try:
        return await work()
    except asyncio.CancelledError:
        if not caught or task is None:
            raise
        task.uncancel()
        return exit_status(caught[0])


async def _ended(
    end: Callable[[], Awaitable[None]], caught: list[int], task: asyncio.Task[int] | None
) -> None:
    try:
        await end()
    except asyncio.CancelledError:
        if not caught or task is None:
            raise
        task.uncancel()
