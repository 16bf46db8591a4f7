"""The flat shape: event → list of handlers, without groups between them."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from boathook.config.reading import Fields, RefusedError, note_unknown, wrong_type
from boathook.dialects.entry import find_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from boathook.config.parse import Node
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
    for node in [member.node for member in root.members if member.key == "hooks"]:
        if node.kind != "object":
            wrong_type(reading, "`hooks`", "a map of events", node, "/hooks")
            return False
        counted: Counter[str] = Counter()
        for member in node.members:
            if reading.ignored(member.key):
                continue
            pointer = reading.pointer("/hooks", member.key)
            row = find_event(dialect, reading, member, pointer, len(member.node.items))
            if row is None:
                continue
            if member.key in counted:
                found = f"`{member.key}` stands twice under `hooks`; both lists count, in file order."
                reading.problem("key-duplicate", found, "Join them.", pointer, member.offset)
            if member.node.kind != "array":
                wrong_type(reading, f"`{member.key}`", "a list of handlers", member.node, pointer)
            for index, item in enumerate(member.node.items):
                name = f"{member.key}[{counted[member.key] + index}]"
                _read_entry(reading, item, reading.pointer(pointer, index), keys, partial(handler, row, name))
            counted[member.key] += len(member.node.items)
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
