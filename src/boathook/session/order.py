"""Who comes first goes first: program order over threads and event loops (S0)."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Self, TypeVar

from boathook.session.life import ENDING, SessionOrderError

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")


async def resolved(future: Future[T]) -> T:
    """Await a future that belongs to no loop. Cancelling the wait leaves the future alone."""
    if not future.done():
        loop = asyncio.get_running_loop()
        here = loop.create_future()

        def wake() -> None:
            if not here.done():
                here.set_result(None)

        def arrived(_: Future[T]) -> None:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:  # the loop that waited has been closed: nobody is left to tell
                pass

        future.add_done_callback(arrived)
        await here
    return future.result()


class Place:
    """One caller's place, as a context manager: leaving the block lets the next one go.

    `called` is resolved when it is this place's turn, or holds the error that says why
    the turn will never come; `left` when the caller is gone.
    """

    __slots__ = ("_line", "called", "left")

    def __init__(self, line: Line) -> None:
        """Take a place; only `Line` does."""
        self._line = line
        self.called: Future[None] = Future()
        self.left: Future[None] = Future()

    def __enter__(self) -> Self:
        """Hold the place."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the place up, whether or not its turn ever came."""
        self._line.leave(self)


class Line:
    """A queue of callers from any thread or loop, each called when all before it have left.

    Callers may also walk beside the queue: they wait for nobody, and nobody in the queue
    waits for them, but whoever closes the line is told of both.
    """

    def __init__(self) -> None:
        """Begin with nobody in it."""
        self._lock = threading.Lock()
        self._queue: deque[Place] = deque()
        self._beside: set[Place] = set()
        self._closed = False

    def join(self) -> Place:
        """Take the last place. Raises `SessionOrderError` when the line is closed."""
        place = Place(self)
        with self._lock:
            if self._closed:
                raise SessionOrderError(ENDING)
            self._queue.append(place)
            self._call_first()
        return place

    def walk_beside(self) -> Place:
        """Take a place that is called at once, also when the line is closed."""
        place = Place(self)
        place.called.set_result(None)
        with self._lock:
            self._beside.add(place)
        return place

    def leave(self, place: Place) -> None:
        """Give up a place, and call the next one if this was the first."""
        with self._lock:
            self._beside.discard(place)
            if place in self._queue:
                self._queue.remove(place)
            self._call_first()
        if not place.left.done():
            place.left.set_result(None)

    def close(self) -> list[Future[None]]:
        """Let nobody join any more; return what resolves when those here now have left."""
        with self._lock:
            self._closed = True
            return [place.left for place in (*self._queue, *self._beside)]

    def dismiss(self) -> None:
        """Send away those whose turn has not come, with `SessionOrderError`."""
        with self._lock:
            for place in [place for place in self._queue if not place.called.done()]:
                self._queue.remove(place)
                place.called.set_exception(SessionOrderError(ENDING))

    def _call_first(self) -> None:
        if self._queue and not self._queue[0].called.done():
            self._queue[0].called.set_result(None)
