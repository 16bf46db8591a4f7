"""Noticing that a hooks file changed while a session runs, at next to no cost."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERVAL: Final = 1.0
"""Seconds between two looks. Between them, asking costs one reading of the clock."""

Signature = tuple[int, int, int, int]


class Watch:
    """The files that a snapshot came from. Says once that one of them is no longer as it was.

    Safe to use from any thread. `files` maps each path to the SHA-256 of the bytes that
    were read, "" where there was no file.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._read = dict(files)
        # What was read is compared at the first look; afterwards only what has another signature.
        self._seen: dict[str, Signature | None] = {}
        self._due = monotonic() + INTERVAL if files else float("inf")
        self._lock = threading.Lock()

    def look(self) -> Problem | None:
        """Return the notice when a file changed. After it there is no other."""
        if monotonic() < self._due or not self._lock.acquire(blocking=False):
            return None
        try:
            changed = [path for path, sha256 in self._read.items() if self._changed(path, sha256)]
            self._due = float("inf") if changed else monotonic() + INTERVAL
        finally:
            self._lock.release()
        return _notice(changed) if changed else None

    def _changed(self, path: str, sha256: str) -> bool:
        signature = _signature(path)
        if path in self._seen and self._seen[path] == signature:
            return False
        self._seen[path] = signature
        return _digest(path) != sha256


def _notice(changed: list[str]) -> Problem:
    found = f"{' and '.join(changed)} changed on disk; this session goes on with what it read at its start."
    return Problem("config-changed", found, "Start a new session, or reload.", file=changed[0])


def _signature(path: str) -> Signature | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - on the way of an event, and several times as fast
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""
