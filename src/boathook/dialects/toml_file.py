"""TOML → the same nodes as JSON, so that one reader serves both. Places are those of the tables.

The standard library's parser gives no positions. A problem in a TOML file is therefore shown at the
header of the table that it is in, which is found by looking for the headers themselves.
"""

from __future__ import annotations

import codecs
import hashlib
import re
import tomllib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from boathook.config.parse import Lines, Member, Node
from boathook.config.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from boathook.config.schema import Document, Scope

Route = tuple[str | int, ...]

_HEADER = re.compile(r"^[ \t]*(\[\[?)([^\n]{1,500}?)\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_KEY = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^.\s]+)")
_LONG_TEXT = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'', re.DOTALL)
_NESTING_LIMIT: Final = 50
_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)")


def read_toml(
    data: bytes, path: str | Path, scope: Scope, then: Callable[[Reading, Node], Document]
) -> Document:
    """Read bytes that should be TOML, and let `then` make a document of it. Never raises."""
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        reading = Reading(str(path), scope, Lines(""))
        reading.problem("file-encoding", f"this is not UTF-8: {error}.", "Save it as UTF-8.", "", 0)
        return replace(reading.document(usable=False), sha256=hashlib.sha256(data).hexdigest())
    reading = Reading(str(path), scope, Lines(text))
    try:
        root = _node(tomllib.loads(text), (), _headers(text), 0)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        words = f"this is not TOML: {error}."
        reading.problem("file-syntax", words, "Nothing of this file is used.", "", _offset(text, str(error)))
        document = reading.document(usable=False)
    else:
        document = then(reading, root)
    return replace(document, sha256=hashlib.sha256(data).hexdigest())


def _headers(text: str) -> dict[Route, int]:
    """Find where each table begins, apart from what only looks like a header in a text of several lines."""
    text = _LONG_TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    places: dict[Route, int] = {}
    counted: Counter[tuple[str, ...]] = Counter()
    for match in _HEADER.finditer(text):
        keys = tuple(next(filter(None, key), "") for key in _KEY.findall(match.group(2)))
        if match.group(1) == "[[":
            counted[keys] += 1
            for inner in [each for each in counted if each[: len(keys)] == keys and each != keys]:
                del counted[inner]  # a new table begins its own lists anew
        route: Route = ()
        for length in range(1, len(keys) + 1):
            route = (*route, keys[length - 1])
            number = counted.get(keys[:length], 0)
            route = (*route, number - 1) if number else route
        places.setdefault(route, match.start(1))
    return places


def _node(value: object, route: Route, places: Mapping[Route, int], offset: int, depth: int = 0) -> Node:
    offset = places.get(route, offset)
    if depth > _NESTING_LIMIT:
        raise RecursionError("it is nested too deeply")
    if isinstance(value, dict):
        members = tuple(
            Member(key, node.offset, node)
            for key, each in value.items()
            for node in [_node(each, (*route, key), places, offset, depth + 1)]
        )
        return Node("object", members, offset)
    if isinstance(value, list):
        items = tuple(
            _node(each, (*route, index), places, offset, depth + 1) for index, each in enumerate(value)
        )
        return Node("array", items, items[0].offset if items else offset)
    if isinstance(value, bool):
        return Node("boolean", value, offset)
    if isinstance(value, int | float):
        return Node("number", value, offset)
    return Node("string", value if isinstance(value, str) else str(value), offset)


def _offset(text: str, error: str) -> int:
    found = _POSITION.search(error)
    if found is None:
        return len(text) if "end of document" in error else 0
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: int(found.group(1)) - 1])) + int(found.group(2)) - 1
