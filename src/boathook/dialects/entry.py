"""What the entries of other agents' files have in common: losses that are said, timeouts, matchers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from boathook.config.matcher import DECISION_SECONDS, MATCH_ALL, Matcher
from boathook.config.reading import LONGEST_TIMEOUT, shown, wrong_type
from boathook.config.schema import Handler
from boathook.config.scopes import count
from boathook.terms.events import EVENTS, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.parse import Member, Node
    from boathook.config.reading import Fields, Reading, RefusedError
    from boathook.dialects.dialect import Dialect, EventRow

EVERYTHING: Final = ("", "*")
"""Matchers that every agent takes for "all"."""

_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)

SHORT_TIMEOUT: Final = 0.2
"""Seconds below which a timeout in milliseconds was perhaps meant in seconds."""


def find_event(
    dialect: Dialect, reading: Reading, member: Member, pointer: str, number: int
) -> EventRow | None:
    """Return the row of an event that one of ours stands for; what is lost with any other is said.

    `number` is how many handlers the event has.
    """
    row = dialect.event(member.key)
    if row is None:
        hint = nearest(member.key, [each.theirs for each in dialect.events])
        found = f"{dialect.title} has no event that is called {member.key!r}, so its handlers never run."
        advice = f"Did you mean {hint!r}?" if hint else ""
        reading.problem("event-unknown", found, advice, pointer, member.offset)
        return None
    if row.ours is not None:
        if row.guards and number and not EVENTS[row.ours].block.refuses:
            found = f"{member.key} can refuse in {dialect.title}, but {row.ours} cannot here; what its handlers refuse happens all the same."
            reading.problem("dialect-weaker", found, "Refuse it on another event.", pointer, member.offset)
        return row
    runs = "runs" if number == 1 else "run"
    found = f"{count(number, 'handler')} of {member.key} never {runs}: {row.why}."
    advice = "What it kept from happening is not kept from happening here." if row.guards else ""
    if number:
        code = "dialect-guard" if row.guards else "dialect-entry"
        reading.problem(code, found, advice, pointer, member.offset)
    return None


def handlers_in(node: Node) -> int:
    """Count the handlers of an event in the map shape."""
    groups = [member.node for group in node.items for member in group.members if member.key == "hooks"]
    return sum(len(group.items) for group in groups)


def lost(fields: Fields, row: EventRow, what: str, key: str | None) -> RefusedError:
    """Refuse a handler that cannot be carried over. `what` is it; a lost guard is an error."""
    guards = row.guards or (row.ours is not None and EVENTS[row.ours].block.refuses)
    code = "dialect-guard" if guards else "dialect-entry"
    return fields.refuse(
        code, f"{what} is not carried over, so this one never runs.", "Write it as a command.", key
    )


def duration(fields: Fields, key: str, default: float, *, unit: float = 1.0) -> float:
    """Return a handler's timeout in seconds; the file gives it in units of `unit` seconds."""
    node = fields.get(key)
    if node is None:
        return default
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        words = "seconds" if unit == 1.0 else "milliseconds"
        found = f"`{key}` is a positive number of {words}, not {shown(node)}."
        raise fields.refuse("timeout-invalid", found, "This handler is off.", key)
    seconds = min(float(value) * unit, LONGEST_TIMEOUT)
    if unit < 1.0 and seconds < SHORT_TIMEOUT:
        found = f"`{key}` is in milliseconds, and {value:g} ms are hardly enough to start a program."
        fields.problem("dialect-note", found, f"If seconds were meant, write {value / unit:g}.", key)
    return seconds


def environment(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Return the variables that a handler's `env` sets, as they are written; one that is none refuses the handler."""
    node = fields.get("env")
    if node is None:
        return ()
    if node.kind != "object":
        pointer = fields.reading.pointer(fields.pointer, "env")
        raise wrong_type(fields.reading, "`env`", "a map of variables", node, pointer)
    found = []
    for member in node.members:
        value = member.node.value
        if not isinstance(value, str) or "\0" in value or not _VARIABLE.fullmatch(member.key):
            words = f"`env` gives {member.key!r} no text, or that is no name of a variable."
            raise fields.refuse("entry-type", words, "This handler is off.", "env")
        if "$" in value:
            words = f"`env` sets {member.key} as it is written: no variable is filled in."
            fields.problem("dialect-note", words, "", "env")
        found.append((member.key, value))
    return tuple(found)


def text_of(reading: Reading, node: Node, pointer: str) -> str:
    """Return a matcher's text, or raise `RefusedError` where it is none."""
    if not isinstance(node.value, str):
        raise wrong_type(reading, "`matcher`", "a string", node, pointer, code="matcher-invalid")
    return node.value


def expression(
    reading: Reading,
    node: Node,
    pointer: str,
    *,
    anchored: bool = False,
    others: Mapping[str, tuple[str, ...]] | None = None,
) -> Matcher:
    """Return the matcher of an agent whose matchers are always expressions, or raise `RefusedError`.

    `anchored` says that the whole name has to fit; `others` are more names of tools, by their first.
    """
    text = text_of(reading, node, pointer)
    if text in EVERYTHING:
        return MATCH_ALL
    import regex  # only files that hold an expression pay for it

    try:
        compiled: Any = regex.compile(f"^(?:{text})$" if anchored else text)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        found = f"the matcher {text!r} is not a regular expression: {error}."
        raise reading.refuse(
            "matcher-invalid", found, "What it is for is off.", pointer, node.offset
        ) from None
    return Matcher(text, pattern=AnyName(compiled, others) if others else compiled)


def fits(condition: str, text: str) -> bool:
    """Whether an expression that was read before is found in a text; if that takes too long, it counts as found."""
    try:
        return _compiled(condition).search(text, timeout=DECISION_SECONDS, concurrent=True) is not None
    except TimeoutError:
        return True


def fault(condition: str) -> str | None:
    """Say what is wrong with an expression, None where nothing is."""
    import regex

    try:
        _compiled(condition)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        return f"{condition!r} is not a regular expression: {error}"
    return None


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:  # noqa: ANN401 - the library that compiles has no types
    import regex

    return regex.compile(text)


@dataclass(frozen=True, slots=True)
class AnyName:
    """An expression that is looked for in every name of a tool."""

    pattern: Any
    others: Mapping[str, tuple[str, ...]]

    def search(self, name: str, *, timeout: float, concurrent: bool) -> object | None:
        names = (name, *self.others.get(name, ()))
        found = (self.pattern.search(each, timeout=timeout, concurrent=concurrent) for each in names)
        return next((match for match in found if match is not None), None)


def command_handler(
    fields: Fields,
    dialect: Dialect,
    row: EventRow,
    *,
    name: str,
    command: str,
    timeout: float,
    matcher: Matcher = MATCH_ALL,
    condition: str | None = None,
    fails_closed: bool = False,
    env: tuple[tuple[str, str], ...] = (),
    background: bool = False,
    enabled: bool = True,
) -> Handler:
    """Return the handler that runs a shell command on every event of ours that the row stands for."""
    assert row.ours is not None
    return Handler(
        name=name,
        source=fields.reading.path,
        scope=fields.reading.scope,
        pointer=fields.pointer,
        line=fields.line,
        events=(row.ours, *row.more),
        command=command,
        argv=None,
        timeout=min(timeout, row.longest) if row.longest else timeout,
        matcher=matcher,
        on_failure="block" if fails_closed else "allow",
        env=env,
        dialect=dialect.name,
        said=row.theirs,
        condition=condition,
        background=background,
        enabled=enabled,
    )
