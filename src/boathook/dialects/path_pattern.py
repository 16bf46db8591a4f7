"""Path patterns of permission rules: those of gitignore, with four places to start from.

`//a` starts at the root of the file system, `~/a` in the home folder, `/a` in the project, `a` and
`./a` in the working directory. As in gitignore, a pattern that matches a folder covers what lies in
it, `**` stands for any number of folders, and a pattern without a slash matches at any depth.
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Start = Literal["root", "home", "project", "cwd"]

_ANY: Final = "**"
_IGNORES_CASE: Final = sys.platform in {"darwin", "win32"}
"""Whether file names that differ in case are usually the same file."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern: where it starts, and its segments. `folder` says that it names folders only."""

    start: Start
    segments: tuple[str, ...]
    folder: bool = False

    @classmethod
    def parse(cls, text: str) -> PathPattern:
        """Read a pattern, or raise `ValueError` with what is wrong."""
        if text.startswith("!"):
            raise ValueError("a path cannot be turned round with !")
        start, rest = _start(text)
        folder = rest.endswith("/")
        segments = [each for each in rest.split("/") if each not in {"", "."}]
        if not segments and start == "cwd":
            raise ValueError("it names no path")
        if start == "cwd" and len(segments) == 1 and not text.startswith("./") and segments[0] != "..":
            segments.insert(0, _ANY)
        return cls(start, tuple(segments), folder)

    def matches(self, path: Path, *, cwd: Path, home: Path, project: Path) -> bool:
        """Whether a path, or where its links lead, is covered. A relative path starts in `cwd`."""
        base, segments = self._based(cwd, home, project)
        for place, given in _both_ways(base, cwd / path):
            if given.is_relative_to(place) and _covers(
                segments, given.relative_to(place).parts, folder=self.folder
            ):
                return True
        return False

    def may_lie_in(self, folder: Path, *, cwd: Path, home: Path, project: Path) -> bool:
        """Whether something that the pattern covers could lie in a folder, as a search of it would find."""
        base, segments = self._based(cwd, home, project)
        fixed = []
        for segment in segments:
            if segment == _ANY or any(char in segment for char in "*?[\\"):
                break
            fixed.append(segment)
        return any(
            given.is_relative_to(place) or place.is_relative_to(given)
            for place, given in _both_ways(base.joinpath(*fixed), cwd / folder)
        )

    def _based(self, cwd: Path, home: Path, project: Path) -> tuple[Path, tuple[str, ...]]:
        base = {"root": Path("/"), "home": home, "project": project, "cwd": cwd}[self.start]
        segments = self.segments
        while segments[:1] == ("..",):
            base, segments = Path(os.path.normpath(base)).parent, segments[1:]
        return base, segments


def _start(text: str) -> tuple[Start, str]:
    if text.startswith("//"):
        return "root", text[2:]
    if text == "~" or text.startswith("~/"):
        return "home", text[2:]
    if text.startswith("/"):
        return "project", text[1:]
    return "cwd", text


def _both_ways(base: Path, path: Path) -> tuple[tuple[Path, Path], ...]:
    """By name and by where links lead: a rule that holds one way must not be escaped the other."""
    named = Path(os.path.normpath(base)), Path(os.path.normpath(path))
    real = Path(os.path.realpath(base)), Path(os.path.realpath(path))
    return named, real, (named[0], real[1])


def _covers(segments: tuple[str, ...], parts: tuple[str, ...], *, folder: bool) -> bool:
    """Whether the segments match the path or a folder above it, in time linear in both."""
    end = len(segments)
    places = _onward({0}, segments)
    if end in places:
        return True
    for index, part in enumerate(parts):
        after = set[int]()
        for place in places:
            if segments[place] == _ANY:
                after |= {place, place + 1} if place + 1 == end else {place}
            elif _segment(segments[place], part):
                after.add(place + 1)
        places = _onward(after, segments)
        if end in places and not (folder and index + 1 == len(parts)):
            return True
        places.discard(end)
    return False


def _onward(places: set[int], segments: tuple[str, ...]) -> set[int]:
    """Add the places that are reached because `**` may stand for no folder; at the end it stands for one."""
    found = set(places)
    for place in sorted(places):
        current = place
        while current + 1 < len(segments) and segments[current] == _ANY:
            current += 1
            found.add(current)
    return found


def _segment(pattern: str, part: str) -> bool:
    written = re.sub(r"\\(.)", r"[\1]", pattern).replace("[^", "[!")
    if _IGNORES_CASE:
        return fnmatch.fnmatchcase(part.casefold(), written.casefold())
    return fnmatch.fnmatchcase(part, written)
