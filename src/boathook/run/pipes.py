"""A child's three pipes: feed the one, keep what comes out of the other two up to a limit."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK: Final = 65536
"""Bytes moved at once: what a pipe holds on Linux."""

AT_ONCE: Final = 512
"""Bytes that POSIX promises to take into an empty pipe without blocking, on every system."""


class Sink:
    """What comes out of one pipe: kept up to `limit` bytes, read and dropped beyond."""

    __slots__ = ("cut", "fd", "room", "texts")

    def __init__(self, fd: int, limit: int) -> None:
        self.fd = fd
        self.room = limit
        self.cut = False
        self.texts: list[bytes] = []

    def take(self) -> bool:
        """Read what is there, at most one chunk; false at the end of file."""
        text = os.read(self.fd, CHUNK)
        if len(text) > self.room:
            self.cut = True
        if self.room and text:
            self.texts.append(text[: self.room])
            self.room -= len(self.texts[-1])
        return bool(text)

    def text(self) -> bytes:
        """Return all that was kept."""
        return self.texts[0] if len(self.texts) == 1 else b"".join(self.texts)


class Pipes:
    """The host's ends of stdin, stdout and stderr, and the child's until it has started.

    Every descriptor is closed exactly once, by this object, whatever happens.
    """

    __slots__ = ("_ours", "_rest", "_sinks", "_stdin", "child", "stderr", "stdout")

    def __init__(self, text: bytes, stdout_limit: int, stderr_limit: int) -> None:
        """Open all three pipes or none (OSError), and put as much of `text` into stdin as it takes.

        Before the start nobody can be missing at the other end, and a short text needs no
        further care at all.
        """
        ends = _three_pipes()
        self.child = [ends[0], ends[3], ends[5]]
        self._stdin = ends[1]
        self.stdout = Sink(ends[2], stdout_limit)
        self.stderr = Sink(ends[4], stderr_limit)
        self._sinks = {ends[2]: self.stdout, ends[4]: self.stderr}
        self._ours = {ends[1], ends[2], ends[4]}
        self._rest = memoryview(text)
        if len(text) > AT_ONCE:
            os.set_blocking(self._stdin, False)
        self._feed()

    def watch(self, poll: select.poll) -> None:
        """Close the child's ends, which it has by now, and have `poll` tell when stdin takes more."""
        self._close_child_ends()
        if self._stdin in self._ours:
            poll.register(self._stdin, select.POLLOUT)

    def listen(self, poll: select.poll) -> None:
        """Have `poll` tell about output."""
        for fd in self._sinks:
            poll.register(fd, select.POLLIN)

    def serve(self, fd: int, poll: select.poll) -> None:
        """Move what can be moved through `fd`, of which `poll` said that it is ready."""
        sink = self._sinks.get(fd)
        if sink is None:
            self._feed_on(poll)
        elif not sink.take():
            poll.unregister(fd)
            self._close(fd)

    @property
    def open_ends(self) -> bool:
        """Whether more output may still come."""
        return self.stdout.fd in self._ours or self.stderr.fd in self._ours

    def starve(self, poll: select.poll) -> None:
        """End the feeding; whoever read stdin is gone."""
        if self._stdin in self._ours:
            poll.unregister(self._stdin)
            self._close(self._stdin)

    def close(self) -> None:
        """Close all that is still open."""
        self._close_child_ends()
        for fd in tuple(self._ours):
            self._close(fd)

    def _feed_on(self, poll: select.poll) -> None:
        with _no_sigpipe():
            self._feed()
        if self._stdin not in self._ours:
            poll.unregister(self._stdin)

    def _feed(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._stdin, self._rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            # EPIPE: nobody reads any more, which is no error (contract section 5).
            pass
        self._close(self._stdin)

    def _close(self, fd: int) -> None:
        if fd in self._ours:
            self._ours.remove(fd)
            os.close(fd)

    def _close_child_ends(self) -> None:
        while self.child:
            os.close(self.child.pop())


def _three_pipes() -> tuple[int, int, int, int, int, int]:
    ends: list[int] = []
    try:
        for _ in range(3):
            ends += os.pipe()
    except OSError:
        for fd in ends:
            os.close(fd)
        raise
    return ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]


@contextlib.contextmanager
def _no_sigpipe() -> Iterator[None]:
    """Let a write to a closed pipe be an error also in hosts where SIGPIPE kills."""
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    waiting = signal.SIGPIPE in signal.sigpending()
    try:
        yield
        if not waiting and signal.SIGPIPE in signal.sigpending():
            signal.sigwait({signal.SIGPIPE})
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
