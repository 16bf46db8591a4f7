"""A command line, taken apart as a shell would, without running anything.

Enough of the grammar to see which programs and files a command names: quoting, variables,
command substitution, pipelines and lists, sub-shells, redirections, here-documents.
Nothing is evaluated; what depends on the moment of running stays visible as such.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NESTING_LIMIT: Final = 50

PartKind = Literal["text", "glob", "variable", "command", "unknown"]

_OPERATORS: Final = ("&&", "||", ";;", "|&", ";", "|", "&", "(", ")", "\n")
_REDIRECTION = re.compile(r"\d*(<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SPECIAL = re.compile(r"[0-9@*#?$!-]")
_BRACED = re.compile(r"\{([A-Za-z_]\w*)(?::?[-=]([\w./~+-]*))?\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


class ShellError(ValueError):
    """The text is not a command line that can be read: a quote or bracket is not closed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a word. `text` is literal text, a pattern, a variable's name, or nested source.

    `default` is what a variable stands for when it is not set, None where nothing is said.
    """

    kind: PartKind
    text: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `raw` is how it is written; `assigns` whether it could be an assignment."""

    parts: tuple[Part, ...]
    raw: str
    assigns: bool = False

    def value(self, variables: Mapping[str, str]) -> str | None:
        """Return the word's value as far as `variables` tell it, or None."""
        texts = [_value(part, variables) for part in self.parts]
        known = [text for text in texts if text is not None]
        return "".join(known) if len(known) == len(texts) else None

    @property
    def nested(self) -> tuple[str, ...]:
        """The sources of the command substitutions in it."""
        return tuple(part.text for part in self.parts if part.kind == "command")

    @property
    def pattern(self) -> bool:
        """Whether the shell would look for files that match it."""
        return any(part.kind == "glob" for part in self.parts)


def _value(part: Part, variables: Mapping[str, str]) -> str | None:
    if part.kind in {"text", "glob"}:
        return part.text
    return variables.get(part.text, part.default) if part.kind == "variable" else None


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its words, the files it reads from, and how many sub-shells it is inside of.

    `fed` says that a here-document is its input, `others` are the words of all other redirections.
    """

    words: tuple[Word, ...]
    reads: tuple[Word, ...] = ()
    depth: int = 0
    fed: bool = False
    others: tuple[Word, ...] = ()


def literal(words: Sequence[str]) -> Simple:
    """Return the command that runs these words as they are."""
    return Simple(tuple(Word((Part("text", word),), word) for word in words))


def parse(text: str) -> tuple[Simple, ...]:
    """Take a command line apart, in the order of writing, or raise `ShellError`."""
    try:
        return _Reader(text).read()
    except RecursionError:
        raise ShellError("quotes and brackets are nested too deeply") from None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.commands: list[Simple] = []
        self.words: list[Word] = []
        self.reads: list[Word] = []
        self.others: list[Word] = []
        self.fed = False
        self.documents: list[str] = []

    def read(self) -> tuple[Simple, ...]:
        while self.at < len(self.text):
            self._step()
        self._end_command()
        if self.depth:
            raise ShellError("a parenthesis is not closed")
        return tuple(self.commands)

    def _step(self) -> None:
        text, at = self.text, self.at
        if text[at] in " \t" or text.startswith("\\\n", at):
            self.at += 1 if text[at] in " \t" else 2
        elif text[at] == "#":
            end = text.find("\n", at)
            self.at = len(text) if end < 0 else end
        elif (redirection := _REDIRECTION.match(text, at)) is not None:
            self._redirection(redirection)
        elif (operator := self._operator()) is not None:
            self._end_command()
            self.at += len(operator)
            self._after(operator)
        else:
            self.words.append(self.word())

    def _operator(self) -> str | None:
        return next((each for each in _OPERATORS if self.text.startswith(each, self.at)), None)

    def _after(self, operator: str) -> None:
        if operator == "(":
            self.depth += 1
        elif operator == ")":
            self.depth = max(0, self.depth - 1)  # an extra one closes a pattern of `case`
        elif operator == "\n":
            self._skip_documents()

    def _end_command(self) -> None:
        if self.words or self.reads or self.others:
            redirected = tuple(self.reads), self.depth, self.fed, tuple(self.others)
            self.commands.append(Simple(tuple(self.words), *redirected))
        self.words, self.reads, self.others, self.fed = [], [], [], False

    def _redirection(self, match: re.Match[str]) -> None:
        self.at = match.end()
        while self.text[self.at : self.at + 1] in {" ", "\t"}:
            self.at += 1
        if self.text.startswith(("(", "\n"), self.at) or self.at >= len(self.text):
            return  # a process substitution is read as the sub-shell that it is
        word = self.word()
        if match.group(1) == "<":
            self.reads.append(word)
        elif match.group(1) in {"<<", "<<-"}:
            self.documents.append("".join(part.text for part in word.parts))
            self.fed = True
        else:
            self.others.append(word)

    def _skip_documents(self) -> None:
        for delimiter in self.documents:
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if line.lstrip("\t") == delimiter:
                    break
        self.documents = []

    def word(self) -> Word:
        start = self.at
        parts: list[Part] = []
        tilde = re.compile(r"~(?=/|\s|$|[;&|])").match(self.text, self.at)
        if tilde is not None:
            parts.append(Part("variable", "HOME"))
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;&|<>()":
            parts.extend(self._part())
        raw = self.text[start : self.at]
        return Word(tuple(parts), raw, _ASSIGNMENT.match(raw) is not None)

    def _part(self) -> list[Part]:
        char = self.text[self.at]
        if char == "'":
            return [Part("text", self._until("'"))]
        if char == '"':
            return self._double()
        if char == "`":
            return [Part("command", self._until("`"))]
        if char == "$":
            return [self._dollar()]
        self.at += 1
        if char == "\\":
            self.at += 1
            following = self.text[self.at - 1 : self.at]
            return [] if following == "\n" else [Part("text", following)]
        return [Part("glob" if char in "*?[" else "text", char)]

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise ShellError(f"a {quote} is not closed")
        found, self.at = self.text[self.at + 1 : end], end + 1
        return found

    def _double(self) -> list[Part]:
        parts: list[Part] = []
        self.at += 1
        while self.text[self.at : self.at + 1] != '"':
            char = self.text[self.at : self.at + 1]
            if not char:
                raise ShellError('a " is not closed')
            if char == "`":
                parts.append(Part("command", self._until("`")))
            elif char == "$":
                parts.append(self._dollar())
            elif char == "\\" and self.text[self.at + 1 : self.at + 2] in {"$", "`", '"', "\\", "\n"}:
                parts.append(Part("text", self.text[self.at + 1].replace("\n", "")))
                self.at += 2
            else:
                parts.append(Part("text", char))
                self.at += 1
        self.at += 1
        return parts or [Part("text", "")]

    def _dollar(self) -> Part:
        self.at += 1
        following = self.text[self.at : self.at + 1]
        if following == "(":
            return Part("command", self._bracketed("(", ")"))
        if following == "{":
            braced = _BRACED.match(self.text, self.at)
            if braced is None:
                return Part("unknown", self._bracketed("{", "}"))
            self.at = braced.end()
            return Part("variable", braced.group(1), braced.group(2))
        name = _NAME.match(self.text, self.at) or _SPECIAL.match(self.text, self.at)
        if name is None:
            return Part("text", "$")
        self.at = name.end()
        return Part("variable", name.group())

    def _bracketed(self, opening: str, closing: str) -> str:
        """Return what stands between brackets that may hold others, and quotes."""
        start, level = self.at + 1, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "'`":
                self._until(char)
                continue
            if char == '"':
                self._double()
                continue
            self.at += 2 if char == "\\" else 1
            level += (char == opening) - (char == closing)
            if level == 0:
                return self.text[start : self.at - 1]
            if level > NESTING_LIMIT:
                raise ShellError("brackets are nested too deeply")
        raise ShellError(f"a {opening} is not closed")
