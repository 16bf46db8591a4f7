"""Where other agents' hooks files lie → their documents, in the order of precedence that each agent has."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.config.read import read_file
from boathook.dialects import NAMES, named
from boathook.dialects.dialect import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Document, Scope
    from boathook.dialects.dialect import Dialect, Place


@dataclass(frozen=True, slots=True)
class Found:
    """The documents of some agents' files, and all places that decide which they are."""

    documents: tuple[Document, ...] = ()
    places: tuple[str, ...] = ()


def find(names: Sequence[str], root: Path, environ: Mapping[str, str] = os.environ) -> Found:
    """Read the files that the named agents would read in the project at `root`, as far as they are there."""
    documents: list[Document] = []
    places: list[str] = []
    for each in map(named, dict.fromkeys(names)):
        paths = [(path, place) for place in each.places(root, Path.home(), environ) for path in place.files()]
        places += [str(path) for path, _ in paths]
        read = [_read(each, path, place.scope, root) for path, place in _once(paths) if path.exists()]
        documents += each.switched(tuple(read))
    return Found(tuple(documents), tuple(places))


def read_named(name: str, path: str | Path, root: Path, scope: Scope = "given") -> Document:
    """Read one file in an agent's form. Whatever is wrong with it is in the document's problems."""
    return _read(named(name), Path(path), scope, root)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is by its place: whose, of which scope, and of the project at which root."""

    dialect: str
    scope: Scope
    root: Path


def recognised(
    path: Path, root: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Recognised | None:
    """Say what a file is by its absolute path, None where no agent would look for it there.

    `root` is the project, where the caller knows it; else the folders above the file are tried.
    """
    for name in NAMES:
        for base in (root,) if root else path.parents:
            for place in named(name).places(base, Path.home(), environ):
                if path in place.files():
                    return Recognised(name, place.scope, base)
    return None


def _once(paths: Sequence[tuple[Path, Place]]) -> list[tuple[Path, Place]]:
    """Leave out a project's file that is the user's own: in the home folder they are the same."""
    own = {os.path.realpath(path) for path, place in paths if place.scope != "project"}
    return [
        (path, place)
        for path, place in paths
        if place.scope != "project" or os.path.realpath(path) not in own
    ]


def _read(each: Dialect, path: Path, scope: Scope, root: Path) -> Document:
    def read(data: bytes, name: str | Path, scope: Scope) -> Document:
        return each.read(each, Source(data, str(name), scope, root))

    return replace(read_file(path, scope, read), dialect=each.name)
