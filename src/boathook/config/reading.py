"""Typed access to a configuration file's values; whatever is wrong with one is noted where it stands."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from boathook.config.schema import Document, Handler
from boathook.terms.events import nearest
from boathook.terms.problem import Problem
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from boathook.config.parse import Lines, Member, Node
    from boathook.config.schema import Scope

LARGE_TIMEOUT: Final = 3600.0
"""Seconds above which a timeout was perhaps meant in milliseconds."""

LONGEST_TIMEOUT: Final = 2e6
"""Seconds that any longer timeout is taken as: three weeks, and all that poll(2) can count."""


class RefusedError(Exception):
    """The entry is off; the problem that says why was already noted."""


@dataclass(slots=True)
class Reading:
    """One file while it is read: where it is, and what was found so far."""

    path: str
    scope: Scope
    lines: Lines
    handlers: list[Handler] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, code: str, found: str, advice: str, pointer: str, offset: int) -> None:
        """Note one problem at a place of this file."""
        line, column = self.lines.at(offset)
        self.problems.append(
            Problem(code, found, advice, file=self.path, pointer=pointer, line=line, column=column)
        )

    def refuse(self, code: str, found: str, advice: str, pointer: str, offset: int) -> RefusedError:
        """Note one problem, and return what to raise so that the entry is left out."""
        self.problem(code, found, advice, pointer, offset)
        return RefusedError()

    def document(self, *, usable: bool) -> Document:
        """Return what was read. Of an unusable file no handler counts."""
        handlers = tuple(self.handlers) if usable else ()
        return Document(self.path, self.scope, handlers, tuple(self.problems), usable)

    @staticmethod
    def pointer(base: str, *parts: str | int) -> str:
        """Extend a JSON pointer (RFC 6901)."""
        return base + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)

    @staticmethod
    def ignored(key: str) -> bool:
        """Whether a key is a note, which no one is told about."""
        return key in {"$schema", "description"} or key.startswith(("//", "_"))


@dataclass(frozen=True, slots=True)
class Fields:
    """Typed access to one entry's fields; a wrong type is noted and refuses the entry."""

    reading: Reading
    node: Node
    pointer: str

    @property
    def line(self) -> int:
        """The line on which the entry begins, from 1."""
        return self.reading.lines.at(self.node.offset)[0]

    def problem(self, code: str, found: str, advice: str, key: str | None) -> None:
        """Note a problem of one field, or with None of the entry."""
        at = self.pointer if key is None else self.reading.pointer(self.pointer, key)
        self.reading.problem(code, found, advice, at, self._offset(key))

    def refuse(self, code: str, found: str, advice: str, key: str | None) -> RefusedError:
        """Note a problem, and return what to raise so that the entry is left out."""
        self.problem(code, found, advice, key)
        return RefusedError()

    def string(self, key: str) -> str | None:
        """Return a text, None where there is none."""
        node = self.get(key)
        if node is None or isinstance(node.value, str):
            return None if node is None else str(node.value)
        raise self._type(key, "a string", node)

    def words(self, key: str, limit: int) -> str | None:
        """Return a text that is only ever shown, fit to be shown."""
        text = self.string(key)
        return text and excerpt(text, limit)

    def boolean(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        node = self.get(key)
        if node is None or isinstance(node.value, bool):
            return default if node is None else bool(node.value)
        raise self._type(key, "true or false", node)

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str | None:
        """Return one of some words, None where there is none."""
        value = self.string(key)
        if value is None or value in allowed:
            return value
        found = f"`{key}` is {value!r}; it may be {' or '.join(map(repr, allowed))}."
        raise self.refuse("entry-type", found, "This handler is off.", key)

    def strings(self, key: str, *, may_be_empty: bool) -> tuple[str, ...] | None:
        """Return a list of texts, None where there is none; a command must name a program."""
        node = self.get(key)
        if node is None:
            return None
        values = [item.value for item in node.items]
        texts = [value for value in values if isinstance(value, str)]
        if node.kind != "array" or len(texts) != len(values):
            raise self._type(key, "a list of strings", node)
        if not may_be_empty and (not texts or not texts[0] or any("\0" in text for text in texts)):
            found = f"`{key}` must name a program in its first string, and hold no NUL character."
            raise self.refuse("handler-command", found, "This handler is off.", key)
        return tuple(texts)

    def seconds(self, key: str, default: float) -> float:
        """Return a length of time in seconds."""
        node = self.get(key)
        if node is None:
            return default
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            found = f"`timeout` is a positive number of seconds, not {shown(node)}."
            raise self.refuse("timeout-invalid", found, "This handler is off.", key)
        if value > LARGE_TIMEOUT:
            found = f"`timeout` is in seconds, and {value:g} seconds are more than an hour."
            self.problem("timeout-large", found, f"If milliseconds were meant, write {value / 1000:g}.", key)
        return min(float(value), LONGEST_TIMEOUT)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, None where there is none."""
        member = last(self.reading, self.node, key, self.pointer)
        return None if member is None else member.node

    def _offset(self, key: str | None) -> int:
        offsets = [member.node.offset for member in self.node.members if member.key == key]
        return offsets[-1] if offsets else self.node.offset

    def _type(self, key: str, wanted: str, node: Node) -> RefusedError:
        at = self.reading.pointer(self.pointer, key)
        return wrong_type(self.reading, f"`{key}`", wanted, node, at)


def last(reading: Reading, node: Node, key: str, pointer: str) -> Member | None:
    """Return the member of an object that counts for `key`; that it stands twice is noted, once."""
    members = [member for member in node.members if member.key == key]
    if len(members) > 1 and not any(
        problem.code == "key-duplicate" and problem.pointer == reading.pointer(pointer, key)
        for problem in reading.problems
    ):
        found = f"`{key}` stands twice in this object; the last one counts."
        reading.problem(
            "key-duplicate", found, "Remove one.", reading.pointer(pointer, key), members[-1].offset
        )
    return members[-1] if members else None


def wrong_type(
    reading: Reading, what: str, wanted: str, node: Node, pointer: str, code: str = "entry-type"
) -> RefusedError:
    """Note that a value has the wrong type, and return what to raise so that its entry is left out."""
    return reading.refuse(code, f"{what} should be {wanted}, not {shown(node)}.", "", pointer, node.offset)


def note_unknown(
    reading: Reading, node: Node, known: tuple[str, ...], pointer: str, inner: tuple[str, ...] = ()
) -> None:
    """Note the keys of an object that mean nothing in it; those of `inner` belong further inside."""
    for member in node.members:
        if member.key in known or reading.ignored(member.key):
            continue
        if member.key in inner:
            advice = "It belongs to a handler, inside the inner `hooks` list."
        else:
            hint = nearest(member.key, known)
            advice = f"Did you mean `{hint}`?" if hint else ""
        found = f"the key `{member.key}` means nothing here."
        reading.problem("key-unknown", found, advice, reading.pointer(pointer, member.key), member.offset)


def shown(node: Node) -> str:
    """Return a value as a message shows it."""
    if node.kind in {"object", "array"}:
        return f"an {node.kind}"
    return (
        "null"
        if node.value is None
        else str(node.value).lower()
        if node.kind == "boolean"
        else repr(node.value)
    )
