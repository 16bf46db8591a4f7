"""Which files inside a project a handler's command names, and what of it cannot be told.

The command line is read as a shell would read it. Files that it names are *covered*: their
bytes belong to an approval. What depends on the moment of running is put into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.config.command_walk import Walk
from boathook.config.programs import step
from boathook.config.shell import literal

if TYPE_CHECKING:
    from boathook.config.schema import Handler


@dataclass(frozen=True, slots=True)
class Coverage:
    """The covered files, absolute as they are named, and in words what is not covered."""

    files: tuple[str, ...]
    uncovered: tuple[str, ...]


def cover(handler: Handler, root: str | Path, base: str | Path | None = None) -> Coverage:
    """Say what approving this handler of the project at `root` covers. Runs nothing, reads only inside it.

    `base` is the folder that it runs in, where that is not `root`.
    """
    walk = Walk.at(Path(root).absolute(), Path(base or root).absolute(), step)
    for name, value in handler.env:
        walk.variables[name] = value
    if handler.argv is not None:
        walk.run(literal(handler.argv))
    else:
        walk.script(handler.command or "")
    return Coverage(tuple(walk.files), tuple(walk.doubts))
