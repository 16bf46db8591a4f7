"""A small JSON file of the user that many processes change: whole or not at all, one after the other."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from boathook.config.ownership import allowed, exposed
from boathook.terms.problem import BoathookError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HOME_VARIABLE: Final = "BOATHOOK_HOME"
VERSION: Final = 1
COPY_LIMIT: Final = 256 * 1024
"""Bytes of an approved file that are kept to show later what changed in it."""


class RecordError(BoathookError):
    """A record that cannot be read or written. It was left as it is."""


def home() -> Path:
    """Return the folder of Boathook's own records: `BOATHOOK_HOME`, or `~/.boathook`."""
    return Path(os.environ.get(HOME_VARIABLE) or Path.home() / ".boathook")


class RecordFile:
    """One record, `{"version": 1, NAME: {…}}`; `name` is the key under which its content stands."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self._name = name

    def read(self) -> dict[str, Any]:
        """Return the content, empty where there is no file; or raise `RecordError`."""
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise RecordError(f"{self.path} cannot be read: {error.strerror}.") from None
        if mode & (stat.S_IWGRP | stat.S_IWOTH) and not allowed():
            raise RecordError(
                f"others may write to {self.path}, so nothing in it counts. Look through it, "
                f"then run: chmod 600 {shlex.quote(str(self.path))}"
            )
        problem = None if allowed() else exposed(self.path, self.path.parent)
        if problem is not None:
            raise RecordError(f"nothing in {self.path} counts: {problem.message}")
        return self._checked(data)

    def change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Read, let `change` work on the content, and write it, while no other process does.

        Raises `RecordError` without having written anything.
        """
        with self._locked():
            content = self.read()
            change(content)
            self._sweep()
            text = json.dumps({"version": VERSION, self._name: content}, indent=2, sort_keys=True)
            write_whole(self.path, text.encode() + b"\n")

    def _checked(self, data: bytes) -> dict[str, Any]:
        try:
            record = json.loads(data)
        except (ValueError, RecursionError):
            raise self._damaged("is damaged: it is not JSON") from None
        if not isinstance(record, dict) or not isinstance(record.get(self._name), dict):
            raise self._damaged(f"is damaged: it has no {self._name!r}")
        if record.get("version") != VERSION:
            raise self._damaged(f"is of version {record.get('version')!r}, which this Boathook does not know")
        content: dict[str, Any] = record[self._name]
        return content

    def _damaged(self, how: str) -> RecordError:
        aside = shlex.quote(f"{self.path}.damaged")
        return RecordError(
            f"{self.path} {how}. Nothing in it counts, and it is left as it is. Mend it, or begin anew with: "
            f"mv {shlex.quote(str(self.path))} {aside}"
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RecordError(
                f"{self.path.parent} cannot be written: {error.strerror}. Nothing was recorded."
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _sweep(self) -> None:
        """Remove what a writer left behind that was killed; under the lock there is no other."""
        for left in self.path.parent.glob(f".{self.path.name}.*"):
            with suppress(OSError):
                left.unlink()


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in place so that every reader, and every crash, finds it whole or as it was before."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(6).hex()}")
    try:
        number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        _sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            aside.unlink()
        raise RecordError(f"{path} cannot be written: {error.strerror}. It is as it was.") from None


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def keep_copies(contents: Iterable[bytes]) -> None:
    """Keep what was approved, to show later what changed in it; no copy counts as an approval."""
    folder = home() / "approved"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for data in contents:
        path = folder / hashlib.sha256(data).hexdigest()
        if len(data) <= COPY_LIMIT and not path.exists():
            write_whole(path, data)


def drop_copies(used: set[str]) -> None:
    """Remove the copies that no approval names any more."""
    folder = home() / "approved"
    for path in folder.glob("*"):
        if path.name not in used:
            with suppress(OSError):
                path.unlink()


def copy(sha256: str) -> bytes | None:
    """Return what was approved under a digest, or None where no whole copy was kept."""
    try:
        data = (home() / "approved" / sha256).read_bytes()
    except (OSError, ValueError):
        return None
    return data if hashlib.sha256(data).hexdigest() == sha256 else None
