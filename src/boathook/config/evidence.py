"""What there is to approve of one hooks file: its definition, and the files that its commands name."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.coverage import cover
from boathook.config.definition import canonical, definition
from boathook.config.ownership import allowed, exposed
from boathook.config.records import COPY_LIMIT

if TYPE_CHECKING:
    from boathook.config.schema import Document, Handler
    from boathook.terms.problem import Problem

SIZE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one file that are covered; a larger one is said not to be."""


@dataclass(frozen=True, slots=True)
class File:
    """One covered file, read once: the digest is of these bytes and no others.

    `named` and `real` are relative to the real root where they lie in it, else absolute.
    `data` is kept as long as it is small enough to show what changed in it later.
    """

    named: str
    real: str
    sha256: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Covered:
    """One handler, what approving it covers, and in words what it does not."""

    handler: Handler
    files: tuple[File, ...]
    uncovered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One hooks file of the project at `root` (links resolved), called `path` inside it.

    `text` is its definition: everything in it that changes what its handlers do, in one
    order and one spelling. `exposures` say which files others may write to.
    """

    root: str
    path: str
    document: Document
    text: str
    handlers: tuple[Covered, ...]
    exposures: tuple[Problem, ...]

    @property
    def data(self) -> bytes:
        """The definition's bytes; JSON can hold half a character, and that must not stop anyone."""
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def sha256(self) -> str:
        """The digest of the definition."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def files(self) -> dict[str, File]:
        """Every covered file, by the name that is used for it."""
        return {file.named: file for handler in self.handlers for file in handler.files}


def gather(root: str | Path, document: Document) -> Evidence:
    """Read whatever one hooks file's commands name inside the project. Runs nothing."""
    reader = _Reader(Path(root).absolute(), os.path.realpath(root))
    handlers = tuple(reader.covered(handler) for handler in document.handlers)
    paths = [document.path, *(str(reader.absolute(file)) for each in handlers for file in each.files)]
    return Evidence(
        root=reader.real_root,
        path=os.path.relpath(document.path, root),
        document=document,
        text=_text(document),
        handlers=handlers,
        exposures=_exposures(paths, reader.root),
    )


def _text(document: Document) -> str:
    """Write the definition: one block per handler, in an order that does not depend on the file's."""
    said = sorted((definition(handler) for handler in document.handlers), key=canonical)
    return json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _exposures(paths: list[str], root: Path) -> tuple[Problem, ...]:
    if allowed():
        return ()
    found = (exposed(path, root) for path in dict.fromkeys(paths))
    return tuple(dict.fromkeys(problem for problem in found if problem is not None))


class _Reader:
    """Reads each file once, however many handlers name it."""

    def __init__(self, root: Path, real_root: str) -> None:
        self.root = root
        self.real_root = real_root
        self._read: dict[str, File | str] = {}

    def covered(self, handler: Handler) -> Covered:
        coverage = cover(handler, self.root)
        found = [self._file(path) for path in coverage.files]
        files = tuple(file for file in found if isinstance(file, File))
        words = tuple(file for file in found if isinstance(file, str))
        return Covered(handler, files, (*coverage.uncovered, *words))

    def absolute(self, file: File) -> Path:
        return Path(self.root, file.named)

    def _file(self, path: str) -> File | str:
        if path not in self._read:
            self._read[path] = self._fresh(path)
        return self._read[path]

    def _fresh(self, path: str) -> File | str:
        real = os.path.realpath(path)
        data = read_regular(real)
        if isinstance(data, str):
            return f"{path}, {data}"
        # A command may spell the project's path out, by another name than the one that we came by.
        named = _relative(_relative(path, str(self.root)), self.real_root)
        real = _relative(real, self.real_root)
        return File(named, real, hashlib.sha256(data).hexdigest(), data if len(data) <= COPY_LIMIT else None)


def read_regular(path: str) -> bytes | str:
    """Return the bytes of a regular file, or in words why they cannot be covered."""
    try:
        # Without O_NONBLOCK, a pipe in a file's place would hold us until someone writes to it.
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(number, "rb") as file:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode):
                return "which is not a regular file"
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        return f"which cannot be read ({error.strerror})"
    return data if len(data) <= SIZE_LIMIT else f"which is larger than {SIZE_LIMIT} bytes"


def _relative(path: str, root: str) -> str:
    return os.path.relpath(path, root) if Path(path).is_relative_to(root) else path
