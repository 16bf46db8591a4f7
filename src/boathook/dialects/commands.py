"""The commands that a line would run, each in every way of writing it that a rule may ask for.

A rule such as `git commit *` speaks of one simple command. A line runs several: joined by `&&`, `||`,
`;`, `|`, `&` or a new line, in sub-shells and substitutions, behind wrappers such as `timeout 5` or
`env A=1`, with quotes that the rule does not have. This module lists them all, and says what it
cannot see because it is known only when the line runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from boathook.config.command_walk import KEYWORDS, NESTING_LIMIT, Words
from boathook.config.shell import ShellError, parse
from boathook.config.wrappers import SHELLS, WRAPPERS, command_begins, shell_argument
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.config.shell import Simple, Word

LINE_LIMIT: Final = 64 * 1024
"""Characters of a line that is read; what is longer may run anything."""
ROOM: Final = 1_000_000
"""Characters of all forms together. Programs that run programs that run … would multiply without end."""

_GIT_OPTIONS: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
)
"""Options of git before its subcommand that take the word after them."""
_WATCH_OPTIONS: Final = frozenset({"-n", "--interval"})
_FIND_ACTIONS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SPLITTING: Final = frozenset({"-S", "--split-string"})


@dataclass(slots=True)
class Commands:
    """What a line would run.

    `forms` holds each simple command as text, words one space apart: as written, without quotes,
    without assignments before it, behind its wrappers, without git's own options before the
    subcommand, and by the bare name of a program that is named by a path.
    """

    forms: set[str] = field(default_factory=set)
    varies: bool = False
    """A substitution or variable stands in it: some word is known only when the line runs."""
    hidden: str | None = None
    """Why it may run commands that are not among `forms`, None if there is no reason to think so."""


def commands_of(line: str, *, home: Path) -> Commands:
    """List what a shell command line would run; what cannot be read as one is `hidden`, never an error."""
    reader = _Reader(line, {"HOME": str(home)})
    if len(line) > LINE_LIMIT:
        reader.hide(f"it has more than {LINE_LIMIT} characters")
    else:
        reader.script(line, 0)
    return reader.found


class _Reader:
    def __init__(self, line: str, variables: dict[str, str]) -> None:
        self.found = Commands()
        self.variables = variables
        self.room = ROOM
        # The lexer skips here-documents, yet the shell expands what stands in them.
        self.expands = "$" in line or "`" in line

    def hide(self, reason: str) -> None:
        self.found.hidden = self.found.hidden or excerpt(reason)

    def script(self, text: str, level: int) -> None:
        if level >= NESTING_LIMIT:
            self.hide("it is nested too deeply to be followed")
            return
        try:
            commands = parse(text)
        except ShellError as error:
            self.hide(f"it cannot be read as a shell command: {error}")
            return
        for command in commands:
            if self.room > 0:
                self.simple(command, level + 1)

    def simple(self, command: Simple, level: int) -> None:
        if command.fed and self.expands:
            self.hide("its here-document may run commands")
        for word in (*command.words, *command.reads, *command.others):
            self.varies(word)
            for source in word.nested:
                self.script(source, level)
        words = list(command.words)
        self.add([word.value(self.variables) for word in words], [word.raw for word in words])
        while words and (words[0].raw in {*KEYWORDS, "coproc"} or words[0].assigns):
            words.pop(0)
        if words:
            self.name(words[0])
            self.program(
                [word.value(self.variables) for word in words],
                [word.raw for word in words],
                level,
                fed=command.fed,
            )

    def varies(self, word: Word) -> None:
        for index, part in enumerate(word.parts):
            tilde = index == 0 and word.raw.startswith("~")
            if part.kind in {"variable", "command", "unknown"} and not tilde:
                self.found.varies = True
            if part.kind == "unknown" and ("$(" in part.text or "`" in part.text):
                self.hide(f"{word.raw} may run commands")
        # $'…' and $"…" are quotes that the lexer takes for a dollar sign before an ordinary one.
        self.found.varies |= any(quote in word.raw for quote in ("$'", '$"'))

    def name(self, word: Word) -> None:
        braces = word.raw.startswith("{") or "," in word.raw
        if word.pattern or braces or any(quote in word.raw for quote in ("$'", '$"')):
            self.hide(f"which program {word.raw} names is known only when it runs")

    def program(self, words: Words, raws: list[str], level: int, *, fed: bool = False) -> None:
        if level >= NESTING_LIMIT or self.room <= 0:
            self.hide("it is nested too deeply to be followed")
            return
        if words[0] is None:
            self.hide(f"which program {raws[0]} names is known only when it runs")
            return
        name = PurePath(words[0]).name
        self.add(words, raws)
        self.add([name, *words[1:]], [name, *raws[1:]])
        if name in SHELLS:
            self.shell(words, raws, level, fed=fed)
        elif name == "eval":
            self.text(words[1:], level)
        elif name == "trap":
            self.text(words[1:2], level)
        elif name == "watch":
            self.text(_behind_options(words, _WATCH_OPTIONS), level)
        elif name == "git":
            behind = len(words) - len(_behind_options(words, _GIT_OPTIONS))
            self.add(["git", *words[behind:]], ["git", *raws[behind:]])
        elif name == "find":
            for index, word in enumerate(words[:-1]):
                if word in _FIND_ACTIONS:
                    self.program(words[index + 1 :], raws[index + 1 :], level + 1)
        elif name in WRAPPERS:
            self.wrapper(name, words, raws, level)

    def wrapper(self, name: str, words: Words, raws: list[str], level: int) -> None:
        begin = command_begins(words)
        if name == "env" and any(
            (word or "").startswith(tuple(_SPLITTING)) or word is None for word in words[1:begin]
        ):
            self.hide("env takes its command apart itself")
        if words[begin:]:
            self.program(words[begin:], raws[begin:], level + 1)

    def shell(self, words: Words, raws: list[str], level: int, *, fed: bool) -> None:
        found = shell_argument(words)
        if found is None or fed:
            self.hide(f"{' '.join(raws)} reads commands from its input")
        elif found[1]:
            self.text(words[found[0] : found[0] + 1], level)

    def text(self, words: Words, level: int) -> None:
        if None in words:
            self.hide("it runs a text that is known only then")
        else:
            self.script(" ".join(word or "" for word in words), level + 1)

    def add(self, words: Words, raws: list[str]) -> None:
        values = [raw if word is None else word for word, raw in zip(words, raws, strict=True)]
        forms = {" ".join(values), " ".join(raws)}
        self.found.forms |= forms
        self.room -= sum(map(len, forms)) + len(words)
        if self.room <= 0:
            self.hide("it runs more than can be followed")


def _behind_options(words: Words, valued: frozenset[str]) -> Words:
    """Return the words behind a program's own options; those of `valued` take the word after them."""
    index = 1
    while index < len(words):
        word = words[index]
        if word is None or not word.startswith("-"):
            break
        index += 2 if word in valued else 1
    return words[index:]
