"""A request to stop that reaches any number of running children from any thread."""

from __future__ import annotations

import os
import sys
import threading
from typing import Final


class Cancel:
    """Cancels every child that runs, or will run, under it. Once cancelled it stays so.

    Cheap to make: descriptors exist only while a child is attached, the same for all of
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
                self._ends = _ends()
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
                for end in set(ends):
                    os.close(end)

    def _wake(self) -> None:
        # A byte, not a close: a fork of the host may hold a copy of the writing end. And never
        # from such a fork, whose copy of this pipe is the parent's.
        if self._ends is not None and self._owner == os.getpid():
            os.write(self._ends[1], _ONE)


_ONE: Final = (1).to_bytes(8, sys.byteorder)


def _ends() -> tuple[int, int]:
    """Return where to read and where to write; the same descriptor where the system can do that."""
    if hasattr(os, "eventfd"):
        both = os.eventfd(0)
        return both, both
    return os.pipe()
