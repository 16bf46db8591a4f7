"""The map shape: event → groups → handlers, walked once for every kind of file that has it.

What the names and fields mean is the `Form`'s affair; that one bad entry costs only itself,
and that lists which stand twice are joined, is the same for all (contract section 2).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from boathook.config.matcher import MATCH_ALL, Matcher
from boathook.config.reading import Fields, RefusedError, last, note_unknown, wrong_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boathook.config.parse import Member, Node
    from boathook.config.reading import Reading
    from boathook.config.schema import Handler
    from boathook.terms.events import Event

T = TypeVar("T")

GROUP_KEYS: Final = ("matcher", "hooks")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group stands: under the event that the file calls `said`, the `group`-th of them."""

    event: Event
    said: str
    group: int
    pointer: str

    def name(self, index: int) -> str:
        """Return what a handler is called that has no name of its own."""
        return f"{self.said}[{self.group}].hooks[{index}]"


class Form(Protocol):
    """What a kind of file means by its names and fields."""

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The keys of a group."""

    @property
    def handler_keys(self) -> tuple[str, ...]:
        """The keys of a handler."""

    def event(self, reading: Reading, member: Member, pointer: str) -> Event | None:
        """Return our row of the event that a key names; None where there is none, and that is noted."""

    def matcher(self, reading: Reading, place: Place, node: Node, pointer: str) -> Matcher:
        """Return what a group's `matcher` means, or raise `RefusedError` so that the group is off."""

    def handler(self, fields: Fields, place: Place, matcher: Matcher, name: str) -> Handler:
        """Return one handler, or raise `RefusedError` so that it is off."""


def read_groups(reading: Reading, node: Node, form: Form, base: str = "/hooks") -> None:
    """Read the map at `base` and add what it holds to `reading`."""

    def event_of(member: Member, pointer: str) -> Event | None:
        return form.event(reading, member, pointer)

    for entry in entries_of(reading, node, event_of, "a list of groups", base):
        place = Place(entry.event, entry.said, entry.number, entry.pointer)
        _read_group(reading, form, place, entry.node)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One item of an event's list: the `number`-th under the name `said`, over all lists of that name."""

    event: T
    said: str
    number: int
    pointer: str
    node: Node


def entries_of(
    reading: Reading,
    node: Node,
    event_of: Callable[[Member, str], T | None],
    wanted: str,
    base: str = "/hooks",
) -> Iterator[Entry[T]]:
    """Yield what stands in the lists of a map of events, in file order; lists that stand twice are joined.

    `event_of` takes a member and its pointer, and returns None where it has noted that
    there is no such event. `wanted` says what a value should be: "a list of groups".
    """
    counted: Counter[str] = Counter()
    for member in node.members:
        if reading.ignored(member.key):
            continue
        pointer = reading.pointer(base, member.key)
        event = event_of(member, pointer)
        if event is None:
            continue
        if member.key in counted:
            found = f"`{member.key}` stands twice under `hooks`; both lists count, in file order."
            reading.problem("key-duplicate", found, "Join them.", pointer, member.offset)
        items = member.node.items if member.node.kind == "array" else ()
        if member.node.kind != "array":
            wrong_type(reading, f"`{member.key}`", wanted, member.node, pointer)
        for index, item in enumerate(items):
            number = counted[member.key] + index
            yield Entry(event, member.key, number, reading.pointer(pointer, index), item)
        counted[member.key] += len(items)  # an empty list is there, too


def _read_group(reading: Reading, form: Form, place: Place, group: Node) -> None:
    try:
        if group.kind != "object":
            raise wrong_type(reading, "this group", "an object with a `hooks` list", group, place.pointer)
        note_unknown(reading, group, form.group_keys, place.pointer, inner=form.handler_keys)
        lists = [member for member in group.members if member.key == "hooks"]
        if not lists:
            found = "this group has no inner `hooks` list, so nothing of it runs."
            advice = 'Write {"matcher": …, "hooks": [{"type": "command", "command": …}]}.'
            raise reading.refuse("entry-flat", found, advice, place.pointer, group.offset)
        member = last(reading, group, "matcher", place.pointer)
        pointer = reading.pointer(place.pointer, "matcher")
        matcher = MATCH_ALL if member is None else form.matcher(reading, place, member.node, pointer)
    except RefusedError:
        return
    start = 0
    for count, member in enumerate(lists):
        if count:
            found = "`hooks` stands twice in this group; both lists count."
            at = reading.pointer(place.pointer, "hooks")
            reading.problem("key-duplicate", found, "Join them.", at, member.offset)
        start = _read_handlers(reading, form, place, matcher, member, start)


def _read_handlers(
    reading: Reading, form: Form, place: Place, matcher: Matcher, member: Member, start: int
) -> int:
    pointer = reading.pointer(place.pointer, "hooks")
    if member.node.kind != "array":
        wrong_type(reading, "`hooks`", "a list of handlers", member.node, pointer)
        return start
    for index, node in enumerate(member.node.items):
        at = reading.pointer(pointer, index)
        try:
            if node.kind != "object":
                raise wrong_type(reading, "this handler", "an object", node, at)
            note_unknown(reading, node, form.handler_keys, at)
            fields = Fields(reading, node, at)
            handler = form.handler(fields, place, matcher, place.name(start + index))
        except RefusedError:
            continue
        reading.handlers.append(handler)
    return start + len(member.node.items)
