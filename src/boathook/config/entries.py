"""The entries of a hooks file → handlers. One bad entry costs only itself (contract section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from boathook.config.groups import GROUP_KEYS, Place, read_groups
from boathook.config.matcher import Matcher, MatcherError, compile_matcher, doubts
from boathook.config.reading import Fields, RefusedError, note_unknown, wrong_type
from boathook.config.schema import Handler
from boathook.terms.agents import SPOKEN
from boathook.terms.events import EVENTS, NOTIFICATION_TIMEOUT, NOTIFICATIONS, Event, nearest

if TYPE_CHECKING:
    from boathook.config.parse import Member, Node
    from boathook.config.reading import Reading
    from boathook.config.schema import OnFailure

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
    "dialect",
    "if",
)
ENTRY_KEYS: Final = ("command", "events")


def read_lifecycle(reading: Reading, node: Node) -> None:
    """Read the map shape: event name → groups → handlers."""
    read_groups(reading, node, _Own())


@dataclass(frozen=True, slots=True)
class _Own:
    """The map shape as this project's own files have it."""

    group_keys = GROUP_KEYS
    handler_keys = HANDLER_KEYS

    def event(self, reading: Reading, member: Member, pointer: str) -> Event | None:
        event = EVENTS.get(member.key)
        if event is None:
            _unknown_event(reading, member, pointer)
        return event

    def matcher(self, reading: Reading, place: Place, node: Node, pointer: str) -> Matcher:
        matcher = read_matcher(reading, place.event, node, pointer)
        if not matcher.everything and place.event.matched is None:
            found = f"{place.event.name} compares nothing, so the matcher {matcher.text!r} cannot mean anything; this group is off."
            raise reading.refuse("matcher-unused", found, "Remove the matcher.", pointer, node.offset)
        return matcher

    def handler(self, fields: Fields, place: Place, matcher: Matcher, name: str) -> Handler:
        return read_handler(fields, place.event, matcher, name)


def read_matcher(reading: Reading, event: Event, node: Node, pointer: str) -> Matcher:
    """Return the matcher that a text means (contract section 4), or raise `RefusedError`; doubts are noted."""
    text = node.value
    if not isinstance(text, str):
        raise wrong_type(reading, "`matcher`", "a string", node, pointer, code="matcher-invalid")
    try:
        matcher = compile_matcher(text)
    except MatcherError as error:
        raise reading.refuse(
            "matcher-invalid", f"{error}.", "This group is off.", pointer, node.offset
        ) from None
    if event.matched is not None:
        for code, found, advice in doubts(matcher, event):
            reading.problem(code, found, advice, pointer, node.offset)
    return matcher


def read_handler(fields: Fields, event: Event, matcher: Matcher, name: str) -> Handler:
    """Return a handler of our own form, or raise `RefusedError`."""
    _check_kind(fields)
    if fields.boolean("async", default=False):
        found = "`async: true` is not supported, so this handler is off."
        raise fields.refuse(
            "handler-async", found, "Let the command put its slow part into the background.", "async"
        )
    argv = fields.strings("argv", may_be_empty=False)
    command = None if argv is not None else shell_command(fields)
    on_failure: OnFailure = "block" if fields.one_of("onFailure", ("allow", "block")) == "block" else "allow"
    dialect, said = _dialect(fields)
    return Handler(
        name=fields.words("name", NAME_LIMIT) or name,
        source=fields.reading.path,
        scope=fields.reading.scope,
        pointer=fields.pointer,
        line=fields.line,
        events=(event.name,),
        command=command,
        argv=argv,
        timeout=fields.seconds("timeout", event.timeout),
        matcher=matcher,
        status_message=fields.words("statusMessage", STATUS_LIMIT),
        on_failure=on_failure,
        pass_env=fields.strings("passEnv", may_be_empty=True) or (),
        enabled=fields.boolean("enabled", default=True),
        dialect=dialect,
        said=said,
        condition=_condition(fields, dialect),
    )


def _dialect(fields: Fields) -> tuple[str | None, str]:
    """Return the agent that a handler was written for, and what that one calls the event."""
    text = fields.string("dialect")
    if text is None:
        return None, ""
    name, colon, event = text.partition(":")
    if name not in SPOKEN or bool(colon) != bool(event):
        found = f"`dialect` is {text!r}; it may be {', '.join(SPOKEN)}, and after a colon that agent's name of the event."
        raise fields.refuse("entry-type", found, "This handler is off.", "dialect")
    return name, event


def _condition(fields: Fields, dialect: str | None) -> str | None:
    rule = fields.string("if")
    if rule is not None and dialect is None:
        found = "`if` is another agent's; without `dialect` nobody knows whose."
        raise fields.refuse("entry-type", found, 'Write "dialect": "claude", or remove the `if`.', "if")
    return rule


def _check_kind(fields: Fields) -> None:
    kind = fields.string("type")
    if kind == "command":
        return
    if kind is None:
        raise fields.refuse("handler-kind", "this handler has no `type`.", 'Write "type": "command".', None)
    hint = 'Write "command".' if kind.lower() == "command" else 'Only "command" is built.'
    raise fields.refuse(
        "handler-kind", f"handlers of type {kind!r} are not supported, so this one is off.", hint, "type"
    )


def shell_command(fields: Fields) -> str:
    """Return the handler's `command`, or raise `RefusedError` where it is none."""
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
                raise wrong_type(reading, "this entry", "an object with a `command` list", entry, pointer)
            reading.handlers.append(_read_entry(reading, index, entry, pointer))
        except RefusedError:
            continue


def _read_entry(reading: Reading, index: int, entry: Node, pointer: str) -> Handler:
    note_unknown(reading, entry, ENTRY_KEYS, pointer)
    fields = Fields(reading, entry, pointer)
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


def _entry_events(fields: Fields) -> tuple[str, ...]:
    """Return the events an entry hears. Unknown ones are dropped, and never turn it into "all"."""
    names = fields.strings("events", may_be_empty=True)
    if not names:
        return tuple(NOTIFICATIONS)
    for name in names:
        if name not in NOTIFICATIONS:
            found = f"no notification is called {name!r}."
            fields.problem("event-unknown", found, _event_hint(name, lifecycle_here=False), "events")
    return tuple(dict.fromkeys(name for name in names if name in NOTIFICATIONS))


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
