"""A request to stop that reaches any number of running children from any thread."""

from __future__ import annotations

import os
import threading


class Cancel:
    """Cancels every child that runs, or will run, under it. Once cancelled it stays so.

    Cheap to make: descriptors exist only while a child is attached, one pair for all of
    them. All methods may be called from any thread, and `cancel` from a signal handler's
    thread as well, any number of times.
    """

    __slots__ = ("_attached", "_ends", "_lock", "_owner", "cancelled")

    def __init__(self) -> None:
        self.cancelled = False
        # Reentrant, because a signal handler may cancel while its own thread is in here.
        self._lock = threading.RLock()
        self._attached = 0
        self._ends: tuple[int, int] | None = None
        self._owner = 0

    def cancel(self) -> None:
        """Ask every child under this to end. Returns at once."""
        with self._lock:
            if not self.cancelled:
                self.cancelled = True
                self._wake()

    def attach(self) -> int:
        """Return a descriptor that is readable once cancelled; pair with `detach`. May raise OSError."""
        with self._lock:
            if self._ends is None:
                self._ends = os.pipe()
                self._owner = os.getpid()
                if self.cancelled:
                    self._wake()
            self._attached += 1
            return self._ends[0]

    def detach(self) -> None:
        """Give the descriptor of one `attach` back."""
        with self._lock:
            self._attached -= 1
            if self._attached == 0 and self._ends is not None:
                ends, self._ends = self._ends, None
                os.close(ends[0])
                os.close(ends[1])

    def _wake(self) -> None:
        # A byte, not a close: a fork of the host may hold a copy of the writing end. And never
        # from such a fork, whose copy of this pipe is the parent's.
        if self._ends is not None and self._owner == os.getpid():
            os.write(self._ends[1], b"x")
