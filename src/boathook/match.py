"""Snapshot + event → the handlers that apply, each once (contract section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from boathook.dialects import named
from boathook.terms.problem import Problem
from boathook.terms.tools import NATIVE_NAMES, wire_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.schema import Handler
    from boathook.snapshot import Snapshot
    from boathook.terms.events import Event

REMEMBERED: Final = 1024
"""Selections that a snapshot keeps; an agent has fewer tools than that."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The handlers that apply, in configured order, and what was noticed while choosing."""

    handlers: tuple[Handler, ...] = ()
    problems: tuple[Problem, ...] = ()


def compared(row: Event, payload: Mapping[str, object]) -> str:
    """Return the value that this event's matchers are compared with, "" where there is none."""
    value = payload.get(row.matched) if row.matched else ""
    return value if isinstance(value, str) else ""


def nothing_to_compare(snapshot: Snapshot, row: Event, payload: Mapping[str, object]) -> tuple[Problem, ...]:
    """Say that a payload lacks what matchers are waiting for: then a guard may not have run."""
    if row.matched is None or isinstance(payload.get(row.matched), str):
        return ()
    if all(handler.matcher.everything for handler in snapshot.by_event[row.name]):
        return ()
    what = "is not a string" if row.matched in payload else "is missing"
    found = (
        f"`{row.matched}` {what} in the payload of {row.name}, so its matchers had nothing to compare with."
    )
    return (Problem("payload-key", found, "Let the host say it."),)


def remembered(snapshot: Snapshot, event: str, value: str) -> Selection | None:
    """Return an earlier selection for the same event and value."""
    selection: Selection | None = snapshot.selections.get((event, value))
    return selection


def needs_search(snapshot: Snapshot, event: str) -> bool:
    """Whether expressions have to be searched, which may take a while."""
    return any(handler.matcher.pattern is not None for handler in snapshot.by_event[event])


def select(snapshot: Snapshot, row: Event, value: str) -> Selection:
    """Choose the handlers whose matcher fits `value`, and remember the choice.

    Handlers that are equal in everything that matters run once, in the place of the
    first of them that fits. An expression that cannot be decided in time counts as
    fitting, so that no guard is skipped by a slow one.
    """
    tool = row.matched == "tool_name"
    wire = wire_name(value) if tool else value
    native = NATIVE_NAMES.get(wire, wire) if tool else value
    chosen: dict[object, Handler] = {}
    problems = []
    for handler in snapshot.by_event[row.name]:
        names = (wire, native) if handler.dialect is None else named(handler.dialect).names(row, wire)
        fits = handler.matcher.matches(*names)
        if fits is None:
            problems.append(_slow(handler, value))
        if fits is not False:
            first = chosen.setdefault(handler.identity, handler)
            if first.pinned and not handler.pinned:
                chosen[handler.identity] = handler  # whoever names it without an approval needs none
    selection = Selection(tuple(chosen.values()), tuple(problems))
    if len(snapshot.selections) < REMEMBERED:
        snapshot.selections[row.name, value] = selection
    return selection


def _slow(handler: Handler, value: str) -> Problem:
    return Problem(
        "matcher-slow",
        f"the matcher {handler.matcher.text!r} could not be decided for {value[:80]!r} within 0.1 s, so its handler runs.",
        "Write a simpler expression.",
        file=handler.source,
        pointer=handler.pointer,
        line=handler.line,
        handler=handler.name,
    )
