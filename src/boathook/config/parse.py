"""JSON that remembers where everything stands, and every key that stands twice.

No parser of the standard library or on PyPI gives positions and duplicate keys on
Python 3.11, and a hooks file needs both: a fault is shown where it is, and a guard
behind a repeated key is not lost. Strings are read by the standard library's scanner.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # public at run time, absent from the stubs
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH_LIMIT: Final = 100
"""Levels of nesting that are read; a hooks file needs six."""

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: Final = {"true": True, "false": False, "null": None}
_DIGITS_LIMIT: Final = 300  # the interpreter refuses to read integers of thousands

Scalar = str | int | float | bool | None


class ParseError(ValueError):
    """The text is not JSON. `offset` counts characters from 0."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Member:
    """One ``"key": value`` of an object, in file order, repeated keys included."""

    key: str
    offset: int
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """One value and the offset of its first character.

    `value` is a tuple of `Member` for an object, a tuple of `Node` for an array, else
    the scalar itself; `kind` tells them apart in the words of JSON.
    """

    kind: str
    value: tuple[Member, ...] | tuple[Node, ...] | Scalar
    offset: int

    @property
    def members(self) -> tuple[Member, ...]:
        """The members of an object; empty for anything else."""
        return self.value if self.kind == "object" else ()  # type: ignore[return-value]

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of an array; empty for anything else."""
        return self.value if self.kind == "array" else ()  # type: ignore[return-value]

    def plain(self) -> object:
        """Return the value as `json.loads` would: the last of repeated keys wins."""
        if self.kind == "object":
            return {member.key: member.node.plain() for member in self.members}
        if self.kind == "array":
            return [node.plain() for node in self.items]
        return self.value


class Lines:
    """Turns offsets into lines and columns, both counted from 1, columns in characters."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def parse(text: str) -> Node:
    """Read one JSON value that fills `text`, or raise `ParseError`.

    Comments, trailing commas, NaN and Infinity are refused, as JSON does.
    """
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0)
    end = reader.skip(reader.end)
    if end < len(text):
        raise ParseError(f"nothing may follow the end of the JSON value, but {_seen(text, end)} does", end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        at = match.end() if match else at
        if self.text.startswith(("//", "/*", "#"), at):
            raise ParseError("comments are not JSON; put notes under a key that begins with // or _", at)
        return at

    def value(self, at: int, depth: int) -> Node:
        if depth > DEPTH_LIMIT:
            raise ParseError(f"nested deeper than {DEPTH_LIMIT} levels", at)
        first = self.text[at : at + 1]
        if first == "{":
            return Node("object", tuple(self._members(at, depth)), at)
        if first == "[":
            return Node("array", tuple(self._items(at, depth)), at)
        if first == '"':
            return Node("string", self._string(at), at)
        return self._scalar(at)

    def _members(self, at: int, depth: int) -> Iterator[Member]:
        for start in self._separated(at, "}", "object"):
            if self.text[start : start + 1] != '"':
                raise ParseError(
                    f"a key in double quotes should stand here, not {_seen(self.text, start)}", start
                )
            key = self._string(start)
            colon = self.skip(self.end)
            if self.text[colon : colon + 1] != ":":
                raise ParseError(f"a colon is missing after the key {key!r}", colon)
            yield Member(key, start, self.value(self.skip(colon + 1), depth + 1))

    def _items(self, at: int, depth: int) -> Iterator[Node]:
        for start in self._separated(at, "]", "array"):
            yield self.value(start, depth + 1)

    def _separated(self, at: int, close: str, kind: str) -> Iterator[int]:
        """Yield where each element begins; the consumer leaves `self.end` behind it."""
        at = self.skip(at + 1)
        comma = -1
        while self.text[at : at + 1] != close or comma >= 0:
            if self.text[at : at + 1] == close:
                raise ParseError(
                    f"a trailing comma before the end of the {kind} is not JSON; remove it", comma
                )
            yield at
            at = self.skip(self.end)
            comma = at if self.text[at : at + 1] == "," else -1
            if comma >= 0:
                at = self.skip(at + 1)
            elif self.text[at : at + 1] != close:
                raise ParseError(f"a comma or {close!r} should stand here, not {_seen(self.text, at)}", at)
        self.end = at + 1

    def _string(self, at: int) -> str:
        try:
            value, self.end = scanstring(self.text, at + 1, True)  # noqa: FBT003 - its one spelling
        except JSONDecodeError as error:
            raise ParseError(f"in a string: {error.msg.lower()}", error.pos) from None
        return str(value)

    def _scalar(self, at: int) -> Node:
        for word, value in _WORDS.items():
            if self.text.startswith(word, at):
                self.end = at + len(word)
                return Node("null" if value is None else "boolean", value, at)
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise ParseError(f"a value should stand here, not {_seen(self.text, at)}", at)
        self.end = match.end()
        return Node("number", _number(match), at)


def _number(match: re.Match[str]) -> int | float:
    """Return a number; one that is too large is infinite, for whoever wants a number there to refuse."""
    whole = match.group(1) is None and match.group(2) is None
    return int(match.group()) if whole and len(match.group()) <= _DIGITS_LIMIT else float(match.group())


def _seen(text: str, at: int) -> str:
    if at >= len(text):
        return "the end of the file"
    match = re.compile(r"[\w.+-]+").match(text, at)
    return repr(match.group()[:30] if match else text[at])
