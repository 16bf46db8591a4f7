"""Where other agents' hooks files lie → their documents, in the order of precedence that each agent has."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.config.read import read_file
from boathook.dialects import named
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


def scope_of(name: str, path: Path, root: Path, environ: Mapping[str, str] = os.environ) -> Scope:
    """Return the scope that a file has by its place, `given` for one that lies anywhere else."""
    for place in named(name).places(root, Path.home(), environ):
        if path.absolute() in place.files():
            return place.scope
    return "given"


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
