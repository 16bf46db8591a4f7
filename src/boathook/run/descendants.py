"""End everything that a command started, also what moved to a session of its own."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boathook.run.leader import Leader


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


def _entries(born: int) -> dict[int, Entry]:
    numbers = (int(name) for name in os.listdir("/proc") if name.isdigit())
    found = (entry(number) for number in numbers if number > 1)
    return {one.pid: one for one in found if one is not None and one.born >= born}


def marked(pid: int, mark: bytes) -> bool:
    """Whether `pid` was started with `mark` in its environment."""
    text = _read(f"/proc/{pid}/environ")
    return text is not None and mark in text


def family(root: int | None, mark: bytes, born: int) -> list[Entry]:
    """Return the living processes that came from `root`, without `root` itself.

    They are of its session or group, carry the mark, or are children of such. Nothing
    older than `born` is looked at closely, because no descendant can be. Where `root` is
    None, its number may be another's by now, and the mark alone counts.
    """
    entries = _entries(born)
    kin = set() if root is None else {root}
    for one in entries.values():
        if one.group in kin or one.session in kin or marked(one.pid, mark):
            kin.add(one.pid)
    grown = 0
    while grown != len(kin):
        grown = len(kin)
        kin.update(one.pid for one in entries.values() if one.parent in kin)
    kin -= {root, os.getpid()}
    return [entries[pid] for pid in kin if pid in entries and entries[pid].alive]


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
    """A leader's whole descent, while it is being ended."""

    __slots__ = ("_born", "_known", "_leader", "_mark", "_proc")

    def __init__(self, leader: Leader, mark: str) -> None:
        self._leader = leader
        self._mark = os.fsencode(mark)
        self._known: list[Entry] = []
        self._proc = sys.platform == "linux" and _proc_is_ours()
        first = entry(leader.pid) if self._proc and leader.still_ours() else None
        self._born = first.born if first else 0

    def signal(self, number: int) -> None:
        """Send a signal to all of it: to the group at once, to each that moved away one by one."""
        group = self._leader.pid if self._leader.still_ours() else None
        if group is not None:
            _signal_group(group, number)
        if self._proc:
            self._known = family(group, self._mark, self._born)
            for one in self._known:
                if one.group != group:
                    _send(one, number)

    def living(self) -> bool:
        """Whether anything of it lives, the leader not counted, which has exited.

        Those already known are asked first, which is cheap; all of /proc is read again
        only when they are gone.
        """
        if not self._proc:
            # Its own remains would count as a living group.
            self._leader.reap()
            return _signal_group(self._leader.pid, 0)
        self._known = [one for one in self._known if _same(one)]
        if not self._known:
            group = self._leader.pid if self._leader.still_ours() else None
            self._known = family(group, self._mark, self._born)
        return bool(self._known)


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
