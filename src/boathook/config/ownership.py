"""Who else may write to what runs with this user's permissions, judged as ssh judges its keys.

A file that others may change, or a folder in which they could put another in its place,
is *exposed*.
"""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

ALLOW_VARIABLE: Final = "BOATHOOK_ALLOW_WRITABLE"
"""Set to 1, files are used although others may write to them (shared folders, containers)."""


def allowed() -> bool:
    """Whether the environment says that files may be used although they are exposed."""
    return os.environ.get(ALLOW_VARIABLE, "").strip().lower() in {"1", "true", "yes", "on"}


def exposed(path: str | Path, top: str | Path) -> Problem | None:
    """Return what is wrong with the modes of a file or of a folder on the way to it, or None.

    The write bits of the file and of every folder above it are looked at, by the name it was
    given and by the one its links lead to; the owners of the file and of the folders up to `top`
    are this user or root. In a folder with the sticky bit nobody replaces what is another's.
    """
    named, real = Path(path).absolute(), Path(os.path.realpath(path))
    inside = {Path(top).absolute(), Path(os.path.realpath(top))}
    for each in dict.fromkeys((named, *_above(named), real, *_above(real))):
        owned = each in {named, real} or any(each == folder or folder in each.parents for folder in inside)
        problem = _judge(each, whose=owned)
        if problem is not None:
            return problem
    return None


def _above(path: Path) -> Iterator[Path]:
    yield from path.parents


def _judge(path: Path, *, whose: bool) -> Problem | None:
    try:
        status = path.stat()
    except OSError:
        return None  # what is not there is someone else's finding
    quoted = shlex.quote(str(path))
    if whose and status.st_uid not in {0, os.geteuid()}:
        found = f"{path} belongs to another user (uid {status.st_uid}), who may change it."
        return _refused(path, found, f"Run: chown {os.geteuid()} {quoted}")
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return None
    if status.st_mode & stat.S_IWOTH:
        return _refused(path, f"every user may write to {path}.", f"Run: chmod go-w {quoted}")
    if status.st_mode & stat.S_IWGRP and not _private(status.st_gid):
        return _refused(path, f"the group of {path} may write to it.", f"Run: chmod g-w {quoted}")
    return None


def _refused(path: Path, found: str, mend: str) -> Problem:
    return Problem("file-writable", found, f"{mend} (or set {ALLOW_VARIABLE}=1).", file=str(path))


def _private(gid: int) -> bool:
    """Whether a group is one user's own, as many systems give to each: then it lets in nobody else."""
    import grp
    import pwd

    try:
        group = grp.getgrgid(gid)
        user = pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}
