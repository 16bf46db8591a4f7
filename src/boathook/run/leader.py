"""The process that a command started: seen to exit, and reaped, without trusting anybody."""

from __future__ import annotations

import os
import select
import subprocess
import threading
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HAS_PIDFD: Final = hasattr(os, "pidfd_open")
HAS_WAITID = hasattr(os, "waitid")
"""Not so on macOS before Python 3.13: there, to see an exit is to reap it."""

_LOOKS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
"""Seconds between looks where the system cannot tell of an exit; the last one repeats."""

_TRACED: Final = 1.0
"""Seconds to wait for the status of what has ended: who traces us (strace, gdb) is handed it first."""


class Leader:
    """One child, leader of a session and a process group of its own.

    It stays unreaped, and with it its number in use, until `reap`: nobody else can have
    got the number while the group is signalled. `lost` says that somebody else of this
    process reaped it (SIGCHLD is ignored, or a ``waitpid(-1)``), so that nobody knows how
    it ended.
    """

    __slots__ = ("_looks", "_pidfd", "_popen", "_reaped", "code", "exited", "lost", "pid", "signal")

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        pipes: Sequence[int],
        *,
        pidfd: bool = HAS_PIDFD,
    ) -> None:
        """Start it. Raises OSError or ValueError where it cannot be."""
        self.code: int | None = None
        self.signal: int | None = None
        self.exited = False
        self.lost = False
        self._reaped = False
        self._looks = 0
        self._pidfd = -1
        # start_new_session costs nothing; a preexec_fn would cost a full fork of the host.
        self._popen = subprocess.Popen(
            argv,
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        self.pid = self._popen.pid
        if pidfd:
            self._open_pidfd()

    def _open_pidfd(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except ProcessLookupError:
            self._lose()
        except OSError:
            # An old kernel, a sandbox, or no descriptor left: looking from time to time will do.
            self._pidfd = -1

    def _lose(self) -> None:
        self.exited = self.lost = self._reaped = True
        self._popen.returncode = -1

    def watch(self, poll: select.poll) -> None:
        """Have `poll` wake when it exits, where the system can do that."""
        if self._pidfd >= 0:
            poll.register(self._pidfd, select.POLLIN)

    def patience(self) -> float:
        """Return for how many seconds one may sleep in `poll` before looking again."""
        if self._pidfd >= 0 or self.exited:
            return 3600.0
        pause = _LOOKS[min(self._looks, len(_LOOKS) - 1)]
        self._looks += 1
        return pause

    def told(self, fd: int, poll: select.poll) -> bool:
        """Take note of a ready descriptor; false if it is not this one's."""
        if fd != self._pidfd:
            return False
        self.exited = True
        poll.unregister(fd)
        return True

    def look(self) -> None:
        """See whether it exited, where nothing tells of it."""
        if self._pidfd >= 0 or self.exited:
            return
        if not HAS_WAITID:
            self._wait(os.WNOHANG)
            return
        try:
            self.exited = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except ChildProcessError:
            self._lose()

    def still_ours(self) -> bool:
        """Whether its number is certainly its own, running or unreaped."""
        if self._reaped:
            return False
        if self._pidfd >= 0:
            try:
                os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            except ChildProcessError:
                self._lose()
        else:
            self.look()
        return not self._reaped

    def reap(self) -> bool:
        """Take its exit status if it exited; false while it has not."""
        if self._reaped:
            return True
        if not HAS_WAITID:
            self._wait(os.WNOHANG)
            return self._reaped
        which, number = (os.P_PIDFD, self._pidfd) if self._pidfd >= 0 else (os.P_PID, self.pid)
        try:
            ended = os.waitid(which, number, os.WEXITED | os.WNOHANG)
            until = monotonic() + _TRACED
            while ended is None and self.exited and monotonic() < until:
                sleep(_LOOKS[0])
                ended = os.waitid(which, number, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            self._lose()
            return True
        if ended is not None:
            self._end(ended.si_status, by_itself=ended.si_code == os.CLD_EXITED)
        return self._reaped

    def _wait(self, flags: int) -> None:
        try:
            pid, status = os.waitpid(self.pid, flags)
        except ChildProcessError:
            self._lose()
            return
        if pid:
            by_itself = os.WIFEXITED(status)
            self._end(os.WEXITSTATUS(status) if by_itself else os.WTERMSIG(status), by_itself=by_itself)

    def _end(self, status: int, *, by_itself: bool) -> None:
        self.exited = self._reaped = True
        if by_itself:
            self.code = status
        else:
            self.signal = status
        # Nobody shall wait for this number again, not even a garbage collector.
        self._popen.returncode = status if by_itself else -status

    def close(self) -> None:
        """Reap it and give the descriptor back; one that cannot die yet is left to a thread."""
        reaped = self.reap()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if not reaped:
            self._leave_to_a_thread()

    def _leave_to_a_thread(self) -> None:
        waiter = threading.Thread(target=self._wait, args=(0,), name=f"boathook-reap-{self.pid}", daemon=True)
        try:
            waiter.start()
        except RuntimeError:
            # No thread to be had: subprocess reaps it when it next starts something.
            return
