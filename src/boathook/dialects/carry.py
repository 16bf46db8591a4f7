"""A payload in our words → the same in theirs, by a dialect's tables; and changed arguments back again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boathook.dialects.dialect import Heard, ToolRow


def payload(heard: Heard) -> dict[str, Any]:
    """Return what a handler of another agent reads, in the words that it was written for."""
    dialect = heard.dialect
    ours = dict(heard.payload)
    ours["hook_event_name"] = heard.called
    if heard.row.matched and heard.row.matched != "tool_name":
        value = ours.get(heard.row.matched)
        if isinstance(value, str):
            ours[heard.row.matched] = dialect.names(heard.row, value)[0]
    name = ours.get("tool_name")
    if isinstance(name, str):
        ours["tool_name"] = dialect.tool_name(name)
        if isinstance(ours.get("tool_input"), Mapping):
            ours["tool_input"] = arguments(dialect.tool(name), ours["tool_input"])
    theirs = {dialect.keys.get(key, key): value for key, value in ours.items()}
    return dialect.payload(heard, theirs)


def arguments(row: ToolRow | None, ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's arguments under their keys."""
    names = row.keys if row else {}
    return {names.get(key, key): value for key, value in ours.items()}


def arguments_back(row: ToolRow | None, theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that a handler changed under our keys."""
    names = {their: our for our, their in row.keys.items()} if row else {}
    return {names.get(key, key): value for key, value in theirs.items()}
