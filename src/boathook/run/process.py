"""One child process: start it, feed it, time it, cap its output, end all of it, return a value.

It does not know the word hook. `run` blocks, and needs neither an event loop nor a signal
handler nor anything else of the host; what comes out is always an `Exit`.
"""

from __future__ import annotations

import atexit
import errno
import os
import select
import subprocess
from dataclasses import dataclass
from signal import SIGKILL, SIGTERM
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from boathook.run.cancel import Cancel
from boathook.run.descendants import Family, kill_marked
from boathook.run.leader import HAS_PIDFD, Leader
from boathook.run.pipes import Pipes

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MARK_VARIABLE", "Cancel", "Command", "Exit", "run"]

MARK_VARIABLE: Final = "BOATHOOK_MARK"
"""Carries, separated by colons, one mark per engine that a process descends from."""

QUICK: Final = 0.002
"""Seconds in which a command may be over before its output is listened to.

Nothing is lost by it, the pipes hold 64 KiB; and a command that ends sooner wakes us once,
not once for each pipe that it closes.
"""

AFTER_EXIT: Final = 0.2
"""Seconds for which output is still collected once the command itself has ended."""

AFTER_TERM: Final = 1.0
"""Seconds between TERM and KILL."""

AFTER_KILL: Final = 1.0
"""Seconds to wait for what was killed; only a process stuck in the kernel takes longer."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, where, with what. `timeout` is in seconds, the limits in bytes."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes
    timeout: float
    stdout_limit: int = 1 << 20
    stderr_limit: int = 1 << 16


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended.

    Ask in this order: `start_error` (it never ran), `cancelled`, `timed_out` (it was
    killed, or nearly), `lost` (it ended, and other code of this process took its status
    away), `signal`, `code`. `code` and `signal` may stand beside `cancelled` or `timed_out`
    and then say how it took that. A cancel before the start leaves both None. `started` is
    on the monotonic clock; `duration` is in seconds and covers starting and feeding.
    """

    code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    lost: bool = False
    start_error: OSError | ValueError | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_cut: bool = False
    stderr_cut: bool = False
    duration: float = 0.0
    started: float = 0.0


def run(command: Command, cancel: Cancel | None = None, *, pidfd: bool = HAS_PIDFD) -> Exit:
    """Run one command to its end and return how that was. Never raises for what a child or the system does.

    Blocks the calling thread, for little more than ``timeout + 2`` seconds at most. `pidfd`
    False means to do without that facility of the Linux kernel.
    """
    started = monotonic()
    if cancel is None:
        cancel = Cancel()
    token = object()
    # First the entry and then the question: `_end_all` asks and enters the other way round.
    _in_flight[token] = cancel
    try:
        if _closing or cancel.cancelled:
            return Exit(cancelled=True, started=started)
        return _run(command, cancel, started, pidfd=pidfd)
    except (OSError, ValueError) as error:
        return _unstarted(error, started)
    except (RuntimeError, subprocess.SubprocessError) as error:
        # The interpreter shuts down, or the child could not say why it failed.
        return _unstarted(OSError(errno.EAGAIN, str(error)), started)
    finally:
        _in_flight.pop(token, None)


def _unstarted(error: OSError | ValueError, started: float) -> Exit:
    return Exit(start_error=error, started=started, duration=monotonic() - started)


def _run(command: Command, cancel: Cancel, started: float, *, pidfd: bool) -> Exit:
    if not command.argv or not command.argv[0]:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "")
    mark = os.urandom(12).hex()
    wake = cancel.attach()
    try:
        pipes = Pipes(command.stdin, command.stdout_limit, command.stderr_limit)
        try:
            leader = Leader(command.argv, command.cwd, _marked(command.env, mark), pipes.child, pidfd=pidfd)
            return _Running(command, cancel, wake, pipes, leader, mark, started).to_its_end()
        except (KeyboardInterrupt, SystemExit):
            # Ctrl-C in the thread that waits here. It may have come before anybody knew the child's number.
            kill_marked(mark)
            raise
        finally:
            pipes.close()
    finally:
        cancel.detach()


def _marked(env: Mapping[str, str], mark: str) -> dict[str, str]:
    outer = env.get(MARK_VARIABLE)
    return {**env, MARK_VARIABLE: f"{outer}:{mark}" if outer else mark}


class _Running:
    """One child between its start and its end."""

    __slots__ = ("_cancel", "_deadline", "_leader", "_mark", "_pipes", "_poll", "_started", "_wake")

    def __init__(
        self,
        command: Command,
        cancel: Cancel,
        wake: int,
        pipes: Pipes,
        leader: Leader,
        mark: str,
        started: float,
    ) -> None:
        self._cancel = cancel
        self._wake = wake
        self._pipes = pipes
        self._leader = leader
        self._mark = mark
        self._started = started
        self._deadline = started + command.timeout
        self._poll = select.poll()

    def to_its_end(self) -> Exit:
        """See the child through, and leave nothing behind but what it put into the background."""
        try:
            self._poll.register(self._wake, select.POLLIN)
            self._leader.watch(self._poll)
            self._pipes.watch(self._poll)
            timed_out = not self._ends_in_time() and not self._cancel.cancelled
            if not self._leader.exited:
                self._kill()
            self._pipes.starve(self._poll)
            self._collect()
            return self._exit(timed_out=timed_out)
        except BaseException:
            # Ctrl-C or a bug of ours: the child does not survive either.
            Family(self._leader, self._mark).signal(SIGKILL)
            raise
        finally:
            self._leader.close()

    def _ends_in_time(self) -> bool:
        self._turn(min(self._deadline, monotonic() + QUICK))
        self._pipes.listen(self._poll)
        while not self._leader.exited and not self._cancel.cancelled:
            late = monotonic() >= self._deadline
            self._turn(self._deadline)
            if late:
                # Even then that turn has looked: we may have slept longer than the command ran.
                break
        return self._leader.exited

    def _turn(self, until: float) -> bool:
        """Wait for anything to happen, and deal with it; false if nothing did."""
        leader, pipes, poll = self._leader, self._pipes, self._poll
        pause = min(until - monotonic(), leader.patience())
        ready = poll.poll(max(0.0, pause) * 1000)
        for fd, _ in ready:
            if fd == self._wake:
                poll.unregister(fd)
            elif not leader.told(fd, poll):
                pipes.serve(fd, poll)
        leader.look()
        return bool(ready)

    def _kill(self) -> None:
        family = Family(self._leader, self._mark)
        family.signal(SIGTERM)
        if self._gone(family, AFTER_TERM):
            return
        until = monotonic() + AFTER_KILL
        pause = 0.002
        while True:
            family.signal(SIGKILL)
            if self._gone(family, pause) or monotonic() >= until:
                return
            pause = min(2 * pause, 0.05)

    def _gone(self, family: Family, patience: float) -> bool:
        """Whether nothing lives any more; waits for it, `patience` seconds at most."""
        until = monotonic() + patience
        pause = 0.001
        while not self._leader.exited:
            if monotonic() >= until:
                return False
            self._turn(until)
        while family.living():
            now = monotonic()
            if now >= until:
                return False
            self._turn_for(min(pause, until - now))
            pause = min(2 * pause, 0.02)
        return True

    def _turn_for(self, seconds: float) -> None:
        """Go on serving the pipes for a while; what is being ended may still have to write."""
        until = monotonic() + seconds
        while monotonic() < until:
            self._turn(until)

    def _collect(self) -> None:
        """Take what is in the pipes, and what comes within `AFTER_EXIT` while someone holds them."""
        until = monotonic() + AFTER_EXIT
        while self._pipes.open_ends and monotonic() < until and not self._cancel.cancelled:
            self._turn(until)

    def _exit(self, *, timed_out: bool) -> Exit:
        leader, pipes = self._leader, self._pipes
        leader.reap()
        return Exit(
            code=leader.code,
            signal=leader.signal,
            timed_out=timed_out,
            cancelled=self._cancel.cancelled,
            lost=leader.lost,
            stdout=pipes.stdout.text(),
            stderr=pipes.stderr.text(),
            stdout_cut=pipes.stdout.cut,
            stderr_cut=pipes.stderr.cut,
            duration=monotonic() - self._started,
            started=self._started,
        )


_in_flight: dict[object, Cancel] = {}
_closing = False


def _end_all() -> None:
    """Leave no child behind an interpreter that exits; from here on none starts either."""
    global _closing  # noqa: PLW0603 - one interpreter, one end
    _closing = True
    until = monotonic() + AFTER_TERM + AFTER_KILL + 1.0
    while _in_flight and monotonic() < until:
        for cancel in list(_in_flight.values()):
            cancel.cancel()
        sleep(0.002)


# A fork has the parent's book, but neither its threads nor its children.
os.register_at_fork(after_in_child=_in_flight.clear)
atexit.register(_end_all)
