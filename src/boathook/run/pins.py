"""Whether the files that a handler was approved with are still those files, right before it runs."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from typing import TYPE_CHECKING, Final

from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from boathook.config.schema import Handler, Pin

SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a file's times tell every change; file systems count in up to two seconds."""

_Signature = tuple[int, int, int, int, int]

_known: dict[str, tuple[_Signature, str]] = {}
"""Real path → its signature and the digest of its bytes. Only of files that had settled when they were read."""


def changed(handler: Handler) -> Problem | None:
    """Return why a handler may not run: a pinned file is not as it was approved."""
    for pin in handler.pinned:
        how = _difference(pin)
        if how is not None:
            found = f"it was not run: {pin.named} {how} since it was approved."
            advice = "Look at it, approve it with boathook trust, and start a new session."
            return Problem("run-changed", found, advice)
    return None


def _difference(pin: Pin) -> str | None:
    real = os.path.realpath(pin.named)
    if real != pin.real:
        return f"leads to another place ({real})"
    try:
        return None if _digest(real) == pin.sha256 else "changed"
    except OSError as error:
        return f"cannot be read any more ({error.strerror})"


def _digest(path: str) -> str:
    """Return a file's digest; it is read again only when its times, size or place say that it may differ.

    The time of a status change cannot be set back by whoever writes to the file.
    """
    signature = _signature(os.stat(path))  # noqa: PTH116 - before every run
    known = _known.get(path)
    if known is not None and known[0] == signature:
        return known[1]
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            return ""
        before = time.time_ns()
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        after = os.fstat(number)
    if (
        _signature(after) == _signature(status)
        and before - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED
    ):
        _known[path] = (_signature(status), digest)
    return digest


def _signature(status: os.stat_result) -> _Signature:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
