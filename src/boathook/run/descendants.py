"""End everything that a command started, also what moved to a session of its own."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boathook.run.leader import Leader


HAS_PROC = sys.platform == "linux"


def _proc_is_ours() -> bool:
    # A container may show the /proc of another pid namespace, whose numbers mean other processes.
    try:
        return os.readlink("/proc/self") == str(os.getpid())  # noqa: PTH115 - two syscalls less
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Entry:
    """What /proc says about one process. `born` is in clock ticks since boot."""

    pid: int
    alive: bool
    parent: int
    group: int
    session: int
    born: int


def _read(path: str) -> bytes | None:
    """Return a file of /proc, or None for whatever vanished or is not ours to see."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(fd)


def entry(pid: int) -> Entry | None:
    """Return what /proc says about `pid`, or None."""
    text = _read(f"/proc/{pid}/stat")
    if not text:
        return None
    # The name before the last parenthesis may hold anything, more parentheses included.
    fields = text[text.rindex(b")") + 2 :].split()
    # A process whose first thread ended while others run is a Z with more than one thread.
    alive = fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
    return Entry(pid, alive, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def marked(pid: int, mark: bytes) -> bool:
    """Whether `pid` was started with `mark` in its environment."""
    text = _read(f"/proc/{pid}/environ")
    return text is not None and mark in text


def _numbers() -> list[int]:
    """Return every process's number, the newest first as far as numbers tell.

    What forks on and on is read a moment after it was listed, and has no time to go.
    """
    return sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True)


def _same(one: Entry) -> bool:
    now = entry(one.pid)
    return now is not None and now.alive and now.born == one.born


def _send(one: Entry, number: int) -> None:
    """Signal exactly this process, never one that got its number since."""
    try:
        fd = os.pidfd_open(one.pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):
        fd = -1
    try:
        if not _same(one):
            return
        if fd >= 0:
            signal.pidfd_send_signal(fd, number)
        else:
            os.kill(one.pid, number)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        if fd >= 0:
            os.close(fd)


class Family:
    """A leader's whole descent, while it is being ended.

    On Linux that is: what is of the leader's session or group, what carries the mark of the
    run in its environment, and the children of all these. Elsewhere it is the group. Where
    there is no leader to be named, because its start was interrupted, the mark alone tells.
    """

    __slots__ = ("_born", "_known", "_leader", "_mark", "_proc", "_strayed")

    def __init__(self, leader: Leader | None, mark: str) -> None:
        self._leader = leader
        self._mark = os.fsencode(mark)
        self._known: dict[int, Entry] = {}
        self._strayed = False
        self._proc = HAS_PROC and _proc_is_ours()
        group = self._group()
        first = entry(group) if self._proc and group is not None else None
        # Nothing older can descend from it, and need not be looked at closely.
        self._born = first.born if first else 0

    def signal(self, number: int) -> None:
        """Send a signal to all of it: to the group at once, to each that moved away one by one.

        First come those that moved away, while their parents still show whose they are.
        """
        if self._proc:
            self._search(number)
            group = self._group()
        else:
            # The leader may be reaped, and yet the number is the group's while anyone is in it.
            group = None if self._leader is None else self._leader.pid
        if group is not None:
            _signal_group(group, number)

    def living(self) -> bool:
        """Whether anything of it lives, the leader not counted, which has exited.

        Those already known are asked first, which is cheap; all of /proc is read again
        only when they are gone.
        """
        if not self._proc:
            # Its own remains would count as a living group.
            return self._leader is not None and self._leader.reap() and _signal_group(self._leader.pid, 0)
        if any(_same(one) for one in self._known.values()):
            return True
        self._search()
        if not self._known and self._strayed:
            # One that hops from process to process may have slipped through one look, not through two.
            self._search()
        return bool(self._known)

    def _group(self) -> int | None:
        """Return the group's number; None where it may be another's by now, and the mark alone counts."""
        return self._leader.pid if self._leader is not None and self._leader.still_ours() else None

    def _search(self, number: int | None = None) -> None:
        """Find those that live, and signal the ones outside the group as soon as they are found."""
        group = self._group()
        seen: dict[int, Entry] = {}
        kin: dict[int, Entry] = {}
        for pid in _numbers():
            one = entry(pid)
            if one is None or one.born < self._born or pid in (group, os.getpid()):
                continue
            seen[pid] = one
            if self._is_kin(one, group):
                self._found(one, kin, group, number)
        grown = -1
        while grown != len(kin):
            grown = len(kin)
            for one in seen.values():
                if one.pid not in kin and (one.parent in kin or one.parent == group):
                    self._found(one, kin, group, number)
        self._known = {pid: one for pid, one in kin.items() if one.alive}

    def _is_kin(self, one: Entry, group: int | None) -> bool:
        if group is not None and group in (one.group, one.session):
            return True
        known = self._known.get(one.pid)
        return (known is not None and known.born == one.born) or marked(one.pid, self._mark)

    def _found(self, one: Entry, kin: dict[int, Entry], group: int | None, number: int | None) -> None:
        kin[one.pid] = one
        if one.alive and one.group != group:
            self._strayed = True
            if number is not None:
                _send(one, number)


def kill_marked(mark: str) -> None:
    """Kill what carries `mark`, when its start was interrupted and nobody knows its number.

    Looks for it during a twentieth of a second: what is just being loaded shows no environment yet.
    """
    family = Family(None, mark)
    for _ in range(5):
        family.signal(signal.SIGKILL)
        time.sleep(0.01)


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
