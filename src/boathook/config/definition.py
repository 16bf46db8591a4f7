"""What a handler means, as plain data: the same however its file is laid out.

Two handlers with the same definition do the same. Snapshots take their id from it, and
approvals are pinned to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from boathook.config.matcher import Matcher

if TYPE_CHECKING:
    from boathook.config.schema import Handler

PLACE: Final = frozenset({"name", "source", "scope", "pointer", "line", "pinned"})
"""The fields that say where a handler stands, and not what it does."""


def definition(handler: Handler) -> dict[str, Any]:
    """Return everything of a handler that changes what it does, without what is left at its default.

    Whatever field a handler gets in time is part of it by itself; and one that nobody
    uses changes no definition, so that an approval outlives a new version.
    """
    said = {}
    for field in fields(handler):
        value = getattr(handler, field.name)
        if field.name not in PLACE and (field.default is MISSING or value != field.default):
            said[field.name] = _plain(value)
    return said


def canonical(data: object) -> str:
    """Write plain data as JSON in the one way that is hashed."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Matcher):
        return value.text
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    # The text of anything else may hold an address, which is another one in every process.
    return getattr(value, "__qualname__", None) or str(getattr(value, "name", type(value).__qualname__))
