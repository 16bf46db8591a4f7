"""Claude Code's settings → a document: its groups and handlers, and its switches.

Other keys of a settings file are none of our business, and nothing is said about them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from boathook.config.entries import STATUS_LIMIT, read_matcher, shell_command
from boathook.config.groups import GROUP_KEYS, read_groups
from boathook.config.matcher import MATCH_ALL
from boathook.config.placeholders import in_argument, in_shell
from boathook.config.read import read_json, switch
from boathook.config.reading import RefusedError, wrong_type
from boathook.config.schema import Handler
from boathook.config.scopes import silenced
from boathook.dialects.entry import find_event, handlers_in
from boathook.dialects.permission_rule import RuleError, parse
from boathook.dialects.switches import switched_by
from boathook.terms.events import EVENTS

if TYPE_CHECKING:
    from boathook.config.groups import Place
    from boathook.config.matcher import Matcher
    from boathook.config.parse import Member, Node
    from boathook.config.reading import Fields, Reading
    from boathook.config.schema import Document
    from boathook.dialects.dialect import Dialect, Source
    from boathook.terms.events import Event

COMMAND_KEYS: Final = (
    "type",
    "command",
    "args",
    "if",
    "timeout",
    "statusMessage",
    "once",
    "onFailure",
    "async",
    "asyncRewake",
    "shell",
)
OTHER_KINDS: Final = {
    "http": ("url", "headers", "allowedEnvVars"),
    "mcp_tool": ("server", "tool", "input"),
    "prompt": ("prompt", "model", "continueOnBlock"),
    "agent": ("prompt", "model"),
}
"""The kinds of handlers that are no commands, with the fields of their own."""

ASKED: Final = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"})
"""Events of ours on which an `if` is asked; everywhere else it keeps its handler from running."""


PLUGINS_ONLY: Final = "strictPluginOnlyCustomization"


def read(dialect: Dialect, source: Source) -> Document:
    """Read one settings file."""
    form = ClaudeForm(dialect, os.path.realpath(source.root))
    return read_json(
        source.data, source.path, source.scope, lambda reading, root: _read_root(reading, root, form)
    )


def _read_root(reading: Reading, root: Node, form: ClaudeForm) -> Document:
    usable = True
    for member in root.members:
        if member.key != "hooks":
            continue
        if member.node.kind == "object":
            read_groups(reading, member.node, form)
        else:
            wrong_type(reading, "`hooks`", "a map of events", member.node, "/hooks")
            usable = False
    disable_all = switch(reading, root, "disableAllHooks", ("managed", "user", "project", "given"))
    managed_only = switch(reading, root, "allowManagedHooksOnly", ("managed",))
    return replace(
        reading.document(usable=usable),
        disable_all=disable_all,
        managed_only=managed_only,
        plugins_only=reading.scope == "managed" and _leaves_hooks_to_plugins(root),
    )


def _leaves_hooks_to_plugins(root: Node) -> bool:
    """Read the switch of an operator that is true for everything, or a list of what it is for."""
    values = [member.node for member in root.members if member.key == PLUGINS_ONLY]
    return any(node.value is True or "hooks" in [item.value for item in node.items] for node in values)


def switched(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    """Silence what the switches of these files turn off."""
    documents = switched_by("disableAllHooks")(documents)
    for document in documents:
        if document.plugins_only:
            words = f"`{PLUGINS_ONLY}` in {document.path} leaves hooks to plugins"
            return tuple(
                each if each.scope == "managed" else silenced(each, "managed-only", words)
                for each in documents
            )
    return documents


@dataclass(frozen=True, slots=True)
class ClaudeForm:
    """The map shape as Claude Code has it. `root` is the real path of the project."""

    dialect: Dialect
    root: str
    group_keys: tuple[str, ...] = GROUP_KEYS
    handler_keys: tuple[str, ...] = (
        *COMMAND_KEYS,
        *dict.fromkeys(key for keys in OTHER_KINDS.values() for key in keys),
    )

    def event(self, reading: Reading, member: Member, pointer: str) -> Event | None:
        """Return our row of an event; what is lost with one that has none is said."""
        row = find_event(self.dialect, reading, member, pointer, handlers_in(member.node))
        return None if row is None or row.ours is None else EVENTS[row.ours]

    def matcher(self, reading: Reading, place: Place, node: Node, pointer: str) -> Matcher:
        """Return the matcher; where there is nothing to compare it with, it is ignored, as there."""
        matcher = read_matcher(reading, place.event, node, pointer)
        if matcher.everything or place.event.matched is not None:
            return matcher
        found = f"{place.said} compares nothing, so the matcher {matcher.text!r} is ignored, as {self.dialect.title} does."
        reading.problem("dialect-note", found, "Remove the matcher.", pointer, node.offset)
        return MATCH_ALL

    def handler(self, fields: Fields, place: Place, matcher: Matcher, name: str) -> Handler:
        """Return one command; every other kind is refused by name."""
        self._check_kind(fields, place.event)
        self._check_shell(fields, place.event)
        row = self.dialect.event(place.said)
        default = row.timeout if row and row.timeout else place.event.timeout
        seconds = fields.seconds("timeout", default)
        background = self._background(fields)
        argv = self._argv(fields)
        if fields.boolean("once", default=False):
            fields.problem(
                "dialect-note", "`once` counts in skills only, and is ignored in settings.", "", "once"
            )
        return Handler(
            name=name,
            source=fields.reading.path,
            scope=fields.reading.scope,
            pointer=fields.pointer,
            line=fields.line,
            events=(place.event.name,),
            command=None if argv else in_shell(shell_command(fields)),
            argv=argv,
            timeout=min(seconds, row.longest) if row and row.longest else seconds,
            matcher=matcher,
            status_message=fields.words("statusMessage", STATUS_LIMIT),
            on_failure="block" if fields.one_of("onFailure", ("continue", "block")) == "block" else "allow",
            dialect=self.dialect.name,
            condition=self._condition(fields, place),
            background=background,
        )

    def _check_kind(self, fields: Fields, event: Event) -> None:
        kind = fields.string("type")
        if kind == "command":
            return
        if kind not in OTHER_KINDS:
            found = (
                "this handler has no `type`." if kind is None else f"there is no handler of type {kind!r}."
            )
            raise fields.refuse(
                "handler-kind", found, 'Write "type": "command".', None if kind is None else "type"
            )
        raise self._lost(fields, event, f"a handler of type {kind!r} is not carried over", "type")

    def _check_shell(self, fields: Fields, event: Event) -> None:
        shell = fields.one_of("shell", ("bash", "powershell"))
        if shell == "powershell" and fields.get("args") is None:
            raise self._lost(fields, event, "a command for PowerShell is not carried over", "shell")

    def _lost(self, fields: Fields, event: Event, what: str, key: str) -> RefusedError:
        code = "dialect-guard" if event.block.refuses else "dialect-entry"
        return fields.refuse(code, f"{what}, so this one never runs.", "Write it as a command.", key)

    def _background(self, fields: Fields) -> bool:
        wakes = fields.boolean("asyncRewake", default=False)
        if wakes:
            found = "`asyncRewake` runs the command in the background, but its exit status wakes nobody here."
            fields.problem("dialect-field", found, "", "asyncRewake")
        return fields.boolean("async", default=False) or wakes

    def _argv(self, fields: Fields) -> tuple[str, ...] | None:
        args = fields.strings("args", may_be_empty=True)
        if args is None:
            return None
        values = {"CLAUDE_PROJECT_DIR": self.root}
        argv = tuple(in_argument(word, values) for word in (shell_command(fields), *args))
        if any("\0" in word for word in argv):
            raise fields.refuse(
                "handler-command", "`args` contains a NUL character.", "This handler is off.", "args"
            )
        return argv

    def _condition(self, fields: Fields, place: Place) -> str | None:
        rule = fields.string("if")
        if rule is None:
            return None
        if place.event.name not in ASKED:
            found = f"`if` asks about a tool call, and {place.said} is none, so this handler never runs."
            raise fields.refuse("condition-unused", found, "Remove the `if`.", "if")
        try:
            parse(rule)
        except RuleError as error:
            found = f"{error}, so this handler runs on every call that its matcher fits, and what it allows does not count."
            fields.problem("condition-invalid", found, "Write one rule, such as Bash(git push *).", "if")
        return rule
