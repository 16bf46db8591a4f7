"""The flat shape: event → list of handlers, without groups between them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from boathook.config.groups import entries_of
from boathook.config.reading import Fields, RefusedError, note_unknown, wrong_type
from boathook.dialects.entry import find_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from boathook.config.parse import Member, Node
    from boathook.config.reading import Reading
    from boathook.config.schema import Handler
    from boathook.dialects.dialect import Dialect, EventRow

    ReadHandler = Callable[[EventRow, str, Fields], Handler]
    """Makes a handler of an entry of an event that is called so, or raises `RefusedError`."""


def read_flat(
    reading: Reading, root: Node, dialect: Dialect, keys: tuple[str, ...], handler: ReadHandler
) -> bool:
    """Read the `hooks` map of a file's root, and return whether there is one that can be used.

    `keys` are those that an entry may have. One bad entry costs only itself.
    """

    def event_of(member: Member, pointer: str) -> EventRow | None:
        return find_event(dialect, reading, member, pointer, len(member.node.items))

    for node in [member.node for member in root.members if member.key == "hooks"]:
        if node.kind != "object":
            wrong_type(reading, "`hooks`", "a map of events", node, "/hooks")
            return False
        for entry in entries_of(reading, node, event_of, "a list of handlers"):
            name = f"{entry.said}[{entry.number}]"
            _read_entry(reading, entry.node, entry.pointer, keys, partial(handler, entry.event, name))
    return True


def _read_entry(
    reading: Reading, node: Node, pointer: str, keys: tuple[str, ...], handler: Callable[[Fields], Handler]
) -> None:
    try:
        if node.kind != "object":
            raise wrong_type(reading, "this handler", "an object", node, pointer)
        note_unknown(reading, node, keys, pointer)
        reading.handlers.append(handler(Fields(reading, node, pointer)))
    except RefusedError:
        return
