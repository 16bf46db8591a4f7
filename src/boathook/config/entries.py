"""The entries of a hooks file → handlers. One bad entry costs only itself (contract section 2)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from boathook.config.matcher import MATCH_ALL, Matcher, MatcherError, compile_matcher, doubts
from boathook.config.schema import Document, Handler
from boathook.terms.events import EVENTS, NOTIFICATION_TIMEOUT, NOTIFICATIONS, Event, nearest
from boathook.terms.problem import Problem
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from boathook.config.parse import Lines, Member, Node
    from boathook.config.schema import OnFailure, Scope

LARGE_TIMEOUT: Final = 3600.0
"""Seconds above which a timeout was perhaps meant in milliseconds."""

LONGEST_TIMEOUT: Final = 2e6
"""Seconds that any longer timeout is taken as: three weeks, and all that poll(2) can count."""

NAME_LIMIT: Final = 120
STATUS_LIMIT: Final = 500
"""Characters of a text that is shown on one line."""

HANDLER_KEYS: Final = (
    "type",
    "command",
    "argv",
    "timeout",
    "statusMessage",
    "onFailure",
    "passEnv",
    "enabled",
    "name",
    "async",
)
GROUP_KEYS: Final = ("matcher", "hooks")
ENTRY_KEYS: Final = ("command", "events")


class _RefusedError(Exception):
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

    def refuse(self, code: str, found: str, advice: str, pointer: str, offset: int) -> _RefusedError:
        """Note one problem, and return what to raise so that the entry is left out."""
        self.problem(code, found, advice, pointer, offset)
        return _RefusedError()

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


def read_lifecycle(reading: Reading, node: Node) -> None:
    """Read the map shape: event name → groups → handlers."""
    counted: Counter[str] = Counter()
    for member in node.members:
        if reading.ignored(member.key):
            continue
        pointer = reading.pointer("/hooks", member.key)
        event = EVENTS.get(member.key)
        if event is None:
            _unknown_event(reading, member, pointer)
            continue
        if event.name in counted:
            found = f"`{event.name}` stands twice under `hooks`; both lists count, in file order."
            reading.problem("key-duplicate", found, "Join them.", pointer, member.offset)
        if member.node.kind != "array":
            _wrong_type(reading, f"`{member.key}`", "a list of groups", member.node, pointer)
            counted[event.name] += 0
        else:
            for index, group in enumerate(member.node.items):
                place = _Place(event, index + counted[event.name], reading.pointer(pointer, index))
                _read_group(reading, place, group)
            counted[event.name] += len(member.node.items)


@dataclass(frozen=True, slots=True)
class _Place:
    event: Event
    group: int
    pointer: str


def _read_group(reading: Reading, place: _Place, group: Node) -> None:
    try:
        if group.kind != "object":
            raise _wrong_type(reading, "this group", "an object with a `hooks` list", group, place.pointer)
        _note_unknown(reading, group, GROUP_KEYS, place.pointer, and_flat=True)
        lists = [member for member in group.members if member.key == "hooks"]
        if not lists:
            found = "this group has no inner `hooks` list, so nothing of it runs."
            advice = 'Write {"matcher": …, "hooks": [{"type": "command", "command": …}]}.'
            raise reading.refuse("entry-flat", found, advice, place.pointer, group.offset)
        matcher = _read_matcher(reading, place, group)
    except _RefusedError:
        return
    start = 0
    for count, member in enumerate(lists):
        if count:
            found = "`hooks` stands twice in this group; both lists count."
            at = reading.pointer(place.pointer, "hooks")
            reading.problem("key-duplicate", found, "Join them.", at, member.offset)
        start = _read_handlers(reading, place, matcher, member, start)


def _read_handlers(reading: Reading, place: _Place, matcher: Matcher, member: Member, start: int) -> int:
    pointer = reading.pointer(place.pointer, "hooks")
    if member.node.kind != "array":
        _wrong_type(reading, "`hooks`", "a list of handlers", member.node, pointer)
        return start
    for index, node in enumerate(member.node.items):
        name = f"{place.event.name}[{place.group}].hooks[{start + index}]"
        try:
            handler = _read_handler(
                reading, place.event, matcher, name, node, reading.pointer(pointer, index)
            )
        except _RefusedError:
            continue
        reading.handlers.append(handler)
    return start + len(member.node.items)


def _read_matcher(reading: Reading, place: _Place, group: Node) -> Matcher:
    member = _last(reading, group, "matcher", place.pointer)
    if member is None:
        return MATCH_ALL
    pointer = reading.pointer(place.pointer, "matcher")
    text = member.node.value
    if not isinstance(text, str):
        raise _wrong_type(reading, "`matcher`", "a string", member.node, pointer, code="matcher-invalid")
    try:
        matcher = compile_matcher(text)
    except MatcherError as error:
        raise reading.refuse(
            "matcher-invalid", f"{error}.", "This group is off.", pointer, member.node.offset
        ) from None
    if not matcher.everything and place.event.matched is None:
        found = f"{place.event.name} compares nothing, so the matcher {text!r} cannot mean anything; this group is off."
        raise reading.refuse("matcher-unused", found, "Remove the matcher.", pointer, member.node.offset)
    for code, found, advice in doubts(matcher, place.event):
        reading.problem(code, found, advice, pointer, member.node.offset)
    return matcher


def _read_handler(
    reading: Reading, event: Event, matcher: Matcher, name: str, node: Node, pointer: str
) -> Handler:
    if node.kind != "object":
        raise _wrong_type(reading, "this handler", "an object", node, pointer)
    _note_unknown(reading, node, HANDLER_KEYS, pointer)
    fields = _Fields(reading, node, pointer)
    _check_kind(fields)
    if fields.boolean("async", default=False):
        found = "`async: true` is not supported, so this handler is off."
        raise fields.refuse(
            "handler-async", found, "Let the command put its slow part into the background.", "async"
        )
    argv = fields.strings("argv", may_be_empty=False)
    command = None if argv is not None else _command(fields)
    on_failure: OnFailure = "block" if fields.one_of("onFailure", ("allow", "block")) == "block" else "allow"
    return Handler(
        name=fields.words("name", NAME_LIMIT) or name,
        source=reading.path,
        scope=reading.scope,
        pointer=pointer,
        line=reading.lines.at(node.offset)[0],
        events=(event.name,),
        command=command,
        argv=argv,
        timeout=fields.seconds("timeout", event.timeout),
        matcher=matcher,
        status_message=fields.words("statusMessage", STATUS_LIMIT),
        on_failure=on_failure,
        pass_env=fields.strings("passEnv", may_be_empty=True) or (),
        enabled=fields.boolean("enabled", default=True),
    )


def _check_kind(fields: _Fields) -> None:
    kind = fields.string("type")
    if kind == "command":
        return
    if kind is None:
        raise fields.refuse("handler-kind", "this handler has no `type`.", 'Write "type": "command".', None)
    hint = 'Write "command".' if kind.lower() == "command" else 'Only "command" is built.'
    raise fields.refuse(
        "handler-kind", f"handlers of type {kind!r} are not supported, so this one is off.", hint, "type"
    )


def _command(fields: _Fields) -> str:
    command = fields.string("command")
    if command is None:
        found = "this handler has neither `command` nor `argv`, so there is nothing to run."
        raise fields.refuse("handler-command", found, "", None)
    if not command.strip() or "\0" in command:
        found = "`command` is empty." if not command.strip() else "`command` contains a NUL character."
        raise fields.refuse("handler-command", found, "This handler is off.", "command")
    return command


def read_notifications(reading: Reading, node: Node) -> None:
    """Read the list shape: entries that hear dotted events (S0)."""
    for index, entry in enumerate(node.items):
        pointer = reading.pointer("/hooks", index)
        try:
            if entry.kind != "object":
                raise _wrong_type(reading, "this entry", "an object with a `command` list", entry, pointer)
            reading.handlers.append(_read_entry(reading, index, entry, pointer))
        except _RefusedError:
            continue


def _read_entry(reading: Reading, index: int, entry: Node, pointer: str) -> Handler:
    _note_unknown(reading, entry, ENTRY_KEYS, pointer)
    fields = _Fields(reading, entry, pointer)
    argv = fields.strings("command", may_be_empty=False)
    if argv is None:
        found = "this entry has no `command`."
        raise fields.refuse("handler-command", found, 'Write "command": ["program", "argument"].', None)
    return Handler(
        name=f"hooks[{index}]",
        source=reading.path,
        scope=reading.scope,
        pointer=pointer,
        line=reading.lines.at(entry.offset)[0],
        events=_entry_events(fields),
        command=None,
        argv=argv,
        timeout=NOTIFICATION_TIMEOUT,
    )


def _entry_events(fields: _Fields) -> tuple[str, ...]:
    """Return the events an entry hears. Unknown ones are dropped, and never turn it into "all"."""
    names = fields.strings("events", may_be_empty=True)
    if not names:
        return tuple(NOTIFICATIONS)
    for name in names:
        if name not in NOTIFICATIONS:
            found = f"no notification is called {name!r}."
            fields.problem("event-unknown", found, _event_hint(name, lifecycle_here=False), "events")
    return tuple(dict.fromkeys(name for name in names if name in NOTIFICATIONS))


@dataclass(frozen=True, slots=True)
class _Fields:
    """Typed access to one entry's fields; a wrong type is noted and refuses the entry."""

    reading: Reading
    node: Node
    pointer: str

    def problem(self, code: str, found: str, advice: str, key: str | None) -> None:
        at = self.pointer if key is None else self.reading.pointer(self.pointer, key)
        self.reading.problem(code, found, advice, at, self._offset(key))

    def refuse(self, code: str, found: str, advice: str, key: str | None) -> _RefusedError:
        self.problem(code, found, advice, key)
        return _RefusedError()

    def string(self, key: str) -> str | None:
        node = self._get(key)
        if node is None or isinstance(node.value, str):
            return None if node is None else str(node.value)
        raise self._type(key, "a string", node)

    def words(self, key: str, limit: int) -> str | None:
        """Return a text that is only ever shown, fit to be shown."""
        text = self.string(key)
        return text and excerpt(text, limit)

    def boolean(self, key: str, *, default: bool) -> bool:
        node = self._get(key)
        if node is None or isinstance(node.value, bool):
            return default if node is None else bool(node.value)
        raise self._type(key, "true or false", node)

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str | None:
        value = self.string(key)
        if value is None or value in allowed:
            return value
        found = f"`{key}` is {value!r}; it may be {' or '.join(map(repr, allowed))}."
        raise self.refuse("entry-type", found, "This handler is off.", key)

    def strings(self, key: str, *, may_be_empty: bool) -> tuple[str, ...] | None:
        node = self._get(key)
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
        node = self._get(key)
        if node is None:
            return default
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            found = f"`timeout` is a positive number of seconds, not {_shown(node)}."
            raise self.refuse("timeout-invalid", found, "This handler is off.", key)
        if value > LARGE_TIMEOUT:
            found = f"`timeout` is in seconds, and {value:g} seconds are more than an hour."
            self.problem("timeout-large", found, f"If milliseconds were meant, write {value / 1000:g}.", key)
        return min(float(value), LONGEST_TIMEOUT)

    def _get(self, key: str) -> Node | None:
        member = _last(self.reading, self.node, key, self.pointer)
        return None if member is None else member.node

    def _offset(self, key: str | None) -> int:
        offsets = [member.node.offset for member in self.node.members if member.key == key]
        return offsets[-1] if offsets else self.node.offset

    def _type(self, key: str, wanted: str, node: Node) -> _RefusedError:
        at = self.reading.pointer(self.pointer, key)
        return _wrong_type(self.reading, f"`{key}`", wanted, node, at)


def _last(reading: Reading, node: Node, key: str, pointer: str) -> Member | None:
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


def _wrong_type(
    reading: Reading, what: str, wanted: str, node: Node, pointer: str, code: str = "entry-type"
) -> _RefusedError:
    return reading.refuse(code, f"{what} should be {wanted}, not {_shown(node)}.", "", pointer, node.offset)


def _note_unknown(
    reading: Reading, node: Node, known: tuple[str, ...], pointer: str, *, and_flat: bool = False
) -> None:
    for member in node.members:
        if member.key in known or reading.ignored(member.key):
            continue
        if and_flat and member.key in HANDLER_KEYS:
            advice = "It belongs to a handler, inside the inner `hooks` list."
        else:
            hint = nearest(member.key, known)
            advice = f"Did you mean `{hint}`?" if hint else ""
        found = f"the key `{member.key}` means nothing here."
        reading.problem("key-unknown", found, advice, reading.pointer(pointer, member.key), member.offset)


def _unknown_event(reading: Reading, member: Member, pointer: str) -> None:
    found = f"no lifecycle event is called {member.key!r}, so its handlers never run."
    reading.problem(
        "event-unknown", found, _event_hint(member.key, lifecycle_here=True), pointer, member.offset
    )


def _event_hint(name: str, *, lifecycle_here: bool) -> str:
    here, there = (EVENTS, NOTIFICATIONS) if lifecycle_here else (NOTIFICATIONS, EVENTS)
    if name in there:
        return (
            'Dotted names belong into a list-shaped file: {"hooks": [{"command": […], "events": […]}]}.'
            if lifecycle_here
            else f'Lifecycle events belong into a map-shaped file: {{"hooks": {{"{name}": […]}}}}.'
        )
    hint = nearest(name, here)
    return f"Did you mean {hint!r}?" if hint else f"The events are: {', '.join(here)}."


def _shown(node: Node) -> str:
    if node.kind in {"object", "array"}:
        return f"an {node.kind}"
    return (
        "null"
        if node.value is None
        else str(node.value).lower()
        if node.kind == "boolean"
        else repr(node.value)
    )
