"""A walk along a command line, the way a shell would take it, that notes the files named on it.

What a program does with its words is not known here: whoever starts the walk hands over the
function that tells, see `boathook.config.programs`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.imports import imported, is_python
from boathook.config.shell import ShellError, Simple, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boathook.config.shell import Word

NESTING_LIMIT: Final = 20
TREE_LIMIT: Final = 2000
"""Files of one named folder that are covered; more are said to be too many."""

KEYWORDS: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "time"}
)

Words = list[str | None]
"""The values of words, None where one is known only when the command runs."""

Step = Callable[["Walk", Words, list[str]], None]
"""Reads a program and its words; the last are the words as they are written."""


@dataclass(slots=True)
class Walk:
    """A walk along a command line. `base` is the folder that a step finds itself in, None when unknown."""

    root: Path
    base: Path | None
    variables: dict[str, str]
    step: Callable[[str], Step | None]
    files: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    level: int = 0

    @classmethod
    def at(cls, root: Path, base: Path, step: Callable[[str], Step | None]) -> Walk:
        """Begin in the folder `base` of the project at `root`."""
        variables = {"HOME": str(Path.home()), "PWD": str(base)}
        variables |= dict.fromkeys(("CLAUDE_PROJECT_DIR", "DEEPAGENTS_PROJECT_DIR"), str(base))
        return cls(root, base, variables, step)

    def script(self, text: str) -> None:
        """Walk along a command line; where it goes in a sub-shell does not matter after it."""
        if self.level >= NESTING_LIMIT:
            self.doubt("it is nested too deeply to be followed")
            return
        try:
            commands = parse(text)
        except ShellError as error:
            self.doubt(f"it cannot be read as a shell command: {error}")
            return
        self.level += 1
        outer = [self.base]
        for command in commands:
            while len(outer) > command.depth + 1:
                self.base = outer.pop()
            while len(outer) < command.depth + 1:
                outer.append(self.base)
            self.run(command)
        self.base = outer[0] if len(outer) > 1 else self.base
        self.level -= 1

    def run(self, command: Simple) -> None:
        """Cover what one simple command names."""
        try:
            self._run(command)
        except (OSError, ValueError, RecursionError) as error:
            # A name that no file system takes, such as one with half a character in it.
            self.doubt(f"what {' '.join(word.raw for word in command.words)} names ({error})")

    def _run(self, command: Simple) -> None:
        words = [self._word(word) for word in command.words]
        for word in command.reads:
            self.name(self._word(word)[0], word.raw)
        for word in command.others:
            self._word(word)
        raws = [word.raw for word in command.words]
        while words and (raws[0] in KEYWORDS or command.words[len(command.words) - len(words)].assigns):
            self.assign(words[0][0], raws[0])
            words, raws = words[1:], raws[1:]
        if command.fed:
            self.doubt("files that its here-document names, where a program runs that as a script")
        if words:
            self.program([text for text, _ in words], raws)
            self._patterns(words)

    def assign(self, word: str | None, raw: str) -> None:
        """Remember what an assignment sets, or that it is no longer known; anything else is none."""
        name, sign, _ = raw.partition("=")
        if sign and word is not None and not name.endswith("+"):
            self.variables[name] = word.partition("=")[2]
        elif sign:
            self.variables.pop(name.rstrip("+"), None)

    def _word(self, word: Word) -> tuple[str | None, bool]:
        for source in word.nested:
            base = self.base
            self.script(source)
            self.base = base
        return word.value(self.variables), word.pattern

    def _patterns(self, words: Sequence[tuple[str | None, bool]]) -> None:
        for text, pattern in words:
            if pattern and text and self.base is not None and not text.startswith("-"):
                for found in sorted(self._matches(text)):
                    self.name(found, found)

    def _matches(self, text: str) -> list[str]:
        import glob

        return glob.glob(str(Path(self.base or self.root, text)))[:TREE_LIMIT]

    def program(self, words: Words, raws: list[str]) -> None:
        """Cover a program and what it does with its words."""
        program = words[0]
        if program is None:
            self.doubt(f"the program {raws[0]}, which is known only when it runs")
            self.arguments(words[1:], raws[1:])
            return
        name = Path(program).name if program else ""
        self._start(program)
        step = self.step(name)
        if step is None:
            self.arguments(words[1:], raws[1:])
        else:
            step(self, words, raws)

    def doubt(self, words: str) -> None:
        """Say that something is not covered."""
        self.doubts[words] = None

    def _start(self, program: str) -> None:
        """Cover a program itself, when it lies in the project."""
        if "/" in program:
            self.target(program, program)
            return
        found = shutil.which(program)
        if found is not None and self._inside(Path(found)):
            self.files[found] = None
        elif found is None and self.step(program) is None:
            self.doubt(f"the program {program}, which is not found on PATH")

    def target(self, text: str | None, raw: str) -> None:
        """Cover a script that is about to run, and say so where that cannot be done."""
        path = self._path(text)
        if path is None:
            self.doubt(f"the script {raw}, which is known only when it runs")
        elif path.is_dir() and self._inside(path):
            self.tree(path)
        elif not path.is_file():
            self.doubt(f"the script {raw}, which is not there")
        elif not self._inside(path):
            self.doubt(f"{raw}, which lies outside the project")
        else:
            self.files[str(path)] = None
            if is_python(path):
                self.imports(path, path.parent)

    def imports(self, script: Path, first: Path) -> None:
        """Cover the modules of the project that a script imports; `first` is where Python looks first."""
        folders = [first, *self.python_path()]
        self.files |= dict.fromkeys(str(path) for path in imported(script, folders) if self._inside(path))

    def python_path(self) -> list[Path]:
        """Return the folders of `PYTHONPATH`, as far as the command sets it."""
        entries = self.variables.get("PYTHONPATH", "").split(":")
        return [Path(os.path.normpath(Path(self.base or self.root, each))) for each in entries if each]

    def arguments(self, words: Sequence[str | None], raws: Sequence[str]) -> None:
        """Cover the files among a program's words, also behind the sign of an option."""
        for word, raw in zip(words, raws, strict=True):
            self.name(word, raw)
            if word is not None and word.startswith("-") and "=" in word:
                self.name(word.partition("=")[2], raw)

    def name(self, text: str | None, raw: str) -> None:
        """Cover a file that is named, if there is one."""
        path = self._path(text)
        if path is None:
            if text is None:
                self.doubt(f"{raw}, where it names a file: it is known only when it runs")
        elif _is_file(path) and self._inside(path):
            self.files[str(path)] = None

    def _path(self, text: str | None) -> Path | None:
        if text is None or not text or "\0" in text or (self.base is None and not text.startswith("/")):
            return None
        return Path(os.path.normpath(Path(self.base or "/", text)))

    def _inside(self, path: Path) -> bool:
        """Whether a path lies in the project, by its name; where its links lead belongs to the approval."""
        return path.is_relative_to(self.root) or Path(os.path.realpath(path)).is_relative_to(
            os.path.realpath(self.root)
        )

    def tree(self, folder: Path) -> None:
        """Cover all files of a folder."""
        files = sorted(
            path for path in folder.rglob("*") if path.suffix not in {".pyc", ".pyo"} and path.is_file()
        )
        if len(files) > TREE_LIMIT:
            self.doubt(f"the folder {folder.name}, which holds more than {TREE_LIMIT} files")
            return
        self.files |= dict.fromkeys(str(path) for path in files)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
