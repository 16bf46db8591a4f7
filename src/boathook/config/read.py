"""One hooks file: bytes → a checked, frozen `Document`. Both shapes, all faults at once."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.entries import read_lifecycle, read_notifications
from boathook.config.parse import Lines, ParseError, parse
from boathook.config.reading import Reading
from boathook.config.schema import Document
from boathook.terms.events import nearest
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from boathook.config.parse import Member, Node
    from boathook.config.schema import Scope

SIZE_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of a hooks file; more is a mistake in the path."""

_TOP_KEYS: Final = ("hooks", "disableAllHooks", "allowManagedHooksOnly")


Reader = Callable[[bytes, str | Path, "Scope"], Document]
"""Reads the bytes of a hooks file that is called so. Never raises."""


HooksReader = Callable[["Reading", "Node"], bool]
"""Reads the value of a `hooks` key; false where it has no shape that is known."""


def read_file(path: str | Path, scope: Scope = "given", read: Reader | None = None) -> Document:
    """Read one file. Whatever is wrong with it is in the document's problems; this never raises.

    `read` is for files of another form than this project's own.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        return _unusable(path, scope, "file-missing", "there is no such file.", "Check the path.")
    except OSError as error:
        return _unusable(path, scope, "file-unreadable", f"the file cannot be read: {error.strerror}.", "")
    if len(data) > SIZE_LIMIT:
        return _unusable(
            path,
            scope,
            "file-unreadable",
            f"more than {SIZE_LIMIT} bytes are no hooks file.",
            "Check the path.",
        )
    return (read or read_bytes)(data, path, scope)


def read_bytes(
    data: bytes, path: str | Path, scope: Scope = "given", hooks: HooksReader | None = None
) -> Document:
    """Read the bytes of a hooks file that is called `path`. Never raises.

    `hooks` reads the value of its `hooks` key, where that is not of our own form.
    """
    return read_json(data, path, scope, lambda reading, root: _read_root(reading, root, hooks or read_hooks))


def read_json(
    data: bytes, path: str | Path, scope: Scope, then: Callable[[Reading, Node], Document]
) -> Document:
    """Read bytes that should be one JSON object, and let `then` make a document of it. Never raises."""
    return replace(_read(data, path, scope, then), sha256=hashlib.sha256(data).hexdigest())


def _read(data: bytes, path: str | Path, scope: Scope, then: Callable[[Reading, Node], Document]) -> Document:
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        advice = "Save it as UTF-8."
        return _unusable(path, scope, "file-encoding", f"byte {error.start} is not UTF-8.", advice)
    reading = Reading(str(path), scope, Lines(text))
    try:
        root = parse(text)
    except ParseError as error:
        reading.problem(
            "file-syntax", f"this is not JSON: {error}.", "Nothing of this file is used.", "", error.offset
        )
        return reading.document(usable=False)
    if root.kind != "object":
        found = f"a hooks file is an object with a `hooks` key, but this is {_a(root.kind)}."
        reading.problem("file-shape", found, 'Begin with {"hooks": …}.', "", root.offset)
        return reading.document(usable=False)
    return then(reading, root)


def _read_root(reading: Reading, root: Node, read: HooksReader) -> Document:
    hooks = [member for member in root.members if member.key == "hooks"]
    for member in root.members:
        _check_top_key(reading, member, seen_hooks=bool(hooks))
    if not hooks and not any(member.key in _TOP_KEYS for member in root.members):
        reading.problem("file-empty", "there is no `hooks` key, so nothing here runs.", "", "", root.offset)
    if len(hooks) > 1:
        reading.problem(
            "key-duplicate", "`hooks` stands twice; both count.", "Join them.", "/hooks", hooks[-1].offset
        )
    usable = True
    for member in hooks:
        usable = read(reading, member.node) and usable
    disable_all = switch(reading, root, "disableAllHooks", ("user", "given"))
    managed_only = switch(reading, root, "allowManagedHooksOnly", ("managed",))
    return replace(reading.document(usable=usable), disable_all=disable_all, managed_only=managed_only)


def switch(reading: Reading, root: Node, key: str, scopes: tuple[Scope, ...]) -> bool:
    """Read one of the two switches, which only files of some scopes may set. The one that restricts counts as set when it is not readable."""
    members = [member for member in root.members if member.key == key]
    pointer = reading.pointer("", key)
    values = [member.node.value for member in members]
    for member in members:
        if reading.scope not in scopes:
            found = f"`{key}` means nothing in a {reading.scope} file; only a {' or '.join(scopes)} file may set it."
            reading.problem("key-scope", found, "", pointer, member.offset)
        elif not isinstance(member.node.value, bool):
            found = f"`{key}` should be true or false, not {_a(member.node.kind)}."
            reading.problem("entry-type", found, "", pointer, member.node.offset)
    if reading.scope not in scopes:
        return False
    if key == "allowManagedHooksOnly":
        return any(value is not False for value in values)
    return any(value is True for value in values)


def read_hooks(reading: Reading, node: Node) -> bool:
    """Read the value of a `hooks` key, in either shape; false where it has neither."""
    if node.kind == "array":
        read_notifications(reading, node)
    elif node.kind == "object":
        read_lifecycle(reading, node)
    else:
        found = f"`hooks` is a map of events or a list of notifications, but this is {_a(node.kind)}."
        reading.problem("file-shape", found, "Nothing of this file is used.", "/hooks", node.offset)
        return False
    return True


def _check_top_key(reading: Reading, member: Member, *, seen_hooks: bool) -> None:
    if member.key in _TOP_KEYS or reading.ignored(member.key):
        return
    hint = nearest(member.key, _TOP_KEYS if not seen_hooks else _TOP_KEYS[1:])
    advice = f"Did you mean `{hint}`?" if hint else ""
    found = f"the key `{member.key}` means nothing here."
    reading.problem("key-unknown", found, advice, reading.pointer("", member.key), member.offset)


def _unusable(path: str | Path, scope: Scope, code: str, found: str, advice: str) -> Document:
    return Document(str(path), scope, problems=(Problem(code, found, advice, file=str(path)),), usable=False)


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else ("null" if kind == "null" else f"a {kind}")
