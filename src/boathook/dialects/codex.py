"""OpenAI Codex CLI: the tables of its events and tools, its files, and what its handlers hear and say.

From its public sources and documentation as of mid 2026. Its form is Claude Code's, in a `hooks.json`
or in the `[hooks]` of a `config.toml`. Its one tool for files is `apply_patch`, so a write or an
edit is shown to a handler as the patch that would do it. Stricter here than there: exit 2 without a
word refuses and `ask` asks, where Codex counts the handler as failed and lets the tool run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from boathook.config.entries import STATUS_LIMIT, read_matcher, shell_command
from boathook.config.groups import GROUP_KEYS, read_groups
from boathook.config.matcher import MATCH_ALL
from boathook.config.read import read_json
from boathook.config.reading import wrong_type
from boathook.dialects.dialect import Dialect, EventRow, Place, ToolRow
from boathook.dialects.entry import (
    EVERYTHING,
    AnyName,
    command_handler,
    duration,
    find_event,
    handlers_in,
    lost,
    text_of,
)
from boathook.dialects.replies import object_of, printed_object
from boathook.dialects.switches import switched_by
from boathook.dialects.toml_file import read_toml
from boathook.dialects.verdicts import INNER, answered, blocked, with_inner
from boathook.terms.events import EVENTS as OURS
from boathook.terms.events import Verdict
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.groups import Place as Group
    from boathook.config.matcher import Matcher
    from boathook.config.parse import Member, Node
    from boathook.config.reading import Fields, Reading
    from boathook.config.schema import Document, Handler
    from boathook.dialects.dialect import Heard, Said, Source
    from boathook.terms.events import Event

EVENTS: Final = (
    EventRow("SessionStart", "SessionStart"),
    EventRow("UserPromptSubmit", "UserPromptSubmit", guards=True, timeout=600.0),
    EventRow("PreToolUse", "PreToolUse", guards=True),
    EventRow("PermissionRequest", "PermissionRequest", guards=True),
    EventRow("PostToolUse", "PostToolUse"),
    EventRow("PreCompact", "PreCompact", guards=True),
    EventRow("Stop", "Stop", guards=True),
    EventRow("SubagentStart", "SubagentStart"),
    EventRow("SubagentStop", "SubagentStop"),
    EventRow("SessionEnd", "SessionEnd", timeout=1.0, longest=3.0),
    EventRow("PostCompact", None, "the end of a compaction is not announced"),
    EventRow("Interrupt", None, "an interruption is not announced"),
)
TOOLS: Final = (
    ToolRow("Bash", "Bash"),
    ToolRow("Write", "apply_patch", also=("Write", "Edit")),
    ToolRow("Edit", "apply_patch", also=("Write", "Edit")),
)
_ALSO: Final = MappingProxyType({"apply_patch": ("Write", "Edit")})
_HANDLER_KEYS: Final = (
    "type",
    "command",
    "commandWindows",
    "timeout",
    "async",
    "statusMessage",
    "additionalContextLimit",
    "server",
    "tool",
    "input",
    "prompt",
    "model",
)
_RESERVED: Final = ("updatedInput", "updatedPermissions", "interrupt")
"""Fields of a permission's answer that Codex keeps for later; until then they deny."""


def places(root: Path, home: Path, environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return the files of a session in `root`: each layer may have both kinds, and both count."""
    own = Path(environ.get("CODEX_HOME") or home / ".codex")
    layers = ((Path("/etc/codex"), "managed"), (root / ".codex", "project"), (own, "user"))
    return tuple(
        Place(folder / name, scope)  # type: ignore[arg-type]  # a literal, but for the loop
        for folder, scope in layers
        for name in ("hooks.json", "config.toml")
    )


def read(dialect: Dialect, source: Source) -> Document:
    """Read one file, of either kind."""
    form = CodexForm(dialect)
    reader = read_toml if source.path.endswith(".toml") else read_json
    return reader(
        source.data, source.path, source.scope, lambda reading, root: _read_root(reading, root, form)
    )


def _read_root(reading: Reading, root: Node, form: CodexForm) -> Document:
    usable = True
    for member in root.members:
        if member.key == "hooks" and member.node.kind == "object":
            read_groups(reading, _without_state(member.node), form)
        elif member.key == "hooks":
            wrong_type(reading, "`hooks`", "a map of events", member.node, "/hooks")
            usable = False
    features = object_of(object_of(root.plain()).get("features"))
    off = features.get("hooks", features.get("codex_hooks")) is False
    return replace(reading.document(usable=usable), disable_all=off)


def _without_state(node: Node) -> Node:
    """Leave out Codex's own record of what is trusted; trust is not taken over from it."""
    return replace(node, value=tuple(member for member in node.members if member.key != "state"))


@dataclass(frozen=True, slots=True)
class CodexForm:
    """The map shape as Codex has it."""

    dialect: Dialect
    group_keys: tuple[str, ...] = GROUP_KEYS
    handler_keys: tuple[str, ...] = _HANDLER_KEYS

    def event(self, reading: Reading, member: Member, pointer: str) -> Event | None:
        """Return our row of an event; what is lost with one that has none is said."""
        row = find_event(self.dialect, reading, member, pointer, handlers_in(member.node))
        return None if row is None or row.ours is None else OURS[row.ours]

    def matcher(self, reading: Reading, place: Group, node: Node, pointer: str) -> Matcher:
        """Return names or an expression, told apart as in our own files; ignored where nothing is compared."""
        if place.event.matched is None or text_of(reading, node, pointer) in EVERYTHING:
            return MATCH_ALL
        matcher = read_matcher(reading, place.event, node, pointer)
        if place.event.matched == "tool_name" and matcher.pattern is not None:
            matcher = replace(matcher, pattern=AnyName(matcher.pattern, _ALSO))
        if place.event.name == "PreToolUse" and matcher.matches("Bash") and not matcher.matches("Read"):
            found = "Codex reads and searches files through its shell; here tools of their own do, which this matcher does not fit."
            advice = "To guard them too, add Read, Grep, Glob and LS to the matcher."
            reading.problem("dialect-note", found, advice, pointer, node.offset)
        return matcher

    def handler(self, fields: Fields, place: Group, matcher: Matcher, name: str) -> Handler:
        """Return one command; every other kind is refused by name."""
        row = self.dialect.event(place.said)
        assert row is not None
        kind = fields.string("type")
        if kind != "command":
            raise lost(fields, row, f"a handler of type {kind!r}", None if kind is None else "type")
        handler = command_handler(
            fields,
            self.dialect,
            row,
            name=name,
            command=shell_command(fields),
            timeout=duration(fields, "timeout", row.timeout or 600.0),
            matcher=matcher,
            background=fields.boolean("async", default=False),
        )
        return replace(handler, status_message=fields.words("statusMessage", STATUS_LIMIT))


def payload(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    """Show a write or an edit as the patch that would do it."""
    theirs["turn_id"] = str(theirs.get("prompt_id") or "")
    arguments = theirs.get("tool_input")
    if theirs.get("tool_name") == "apply_patch" and isinstance(arguments, dict):
        folder = str(theirs.get("cwd") or heard.root)
        theirs["tool_input"] = {"command": _patch(str(heard.payload.get("tool_name")), arguments, folder)}
    return theirs


def _patch(tool: str, arguments: Mapping[str, Any], folder: str) -> str:
    path = os.path.normpath(str(arguments.get("file_path")))
    # Codex's patches name files from the working folder, and a guard looks for them by that.
    for base in (folder, os.path.realpath(folder)):
        path = os.path.relpath(path, base) if Path(path).is_relative_to(base) else path
    if tool == "Write":
        kind, lines = "Add", _lines("+", arguments.get("content"))
    else:
        kind = "Update"
        lines = [
            "@@",
            *_lines("-", arguments.get("old_string")),
            *_lines("+", arguments.get("new_string")),
        ]
    return "\n".join(["*** Begin Patch", f"*** {kind} File: {path}", *lines, "*** End Patch"]) + "\n"


def _lines(sign: str, text: object) -> list[str]:
    return [sign + line for line in text.split("\n")] if isinstance(text, str) else []


def answer(heard: Heard, said: Said) -> Said:
    """Put what a handler said into our words, which are nearly its own."""
    if said.code != 0:
        return said
    reply = printed_object(said.stdout)
    if reply is None:
        return said
    reply.pop("suppressOutput", None)
    if heard.row.verdict is Verdict.PERMISSION:
        return _permission(heard, said, reply)
    inner = object_of(reply.get(INNER))
    if inner.get("permissionDecision") != "allow":
        return answered(said, reply)
    # Codex takes an allow only as the companion of a changed input, and grants nothing by it.
    inner.pop("permissionDecision")
    if "updatedInput" in inner:
        return answered(said, with_inner(heard, {**reply, INNER: {}}, **inner))
    found = "`allow` counts in Codex only beside `updatedInput`, and grants nothing here."
    return answered(said, {**reply, INNER: inner}, Problem("answer-decision", found, "Leave it out."))


def _permission(heard: Heard, said: Said, reply: dict[str, Any]) -> Said:
    decision = object_of(object_of(reply.get(INNER)).get("decision"))
    reserved = [key for key in _RESERVED if key in decision]
    if decision.get("behavior") == "allow" and reserved:
        words = f"{heard.handler.name} used {', '.join(reserved)}, which Codex keeps for later and denies."
        return answered(said, blocked(heard, {}, words))
    return answered(said, reply)


DIALECT: Final = Dialect(
    name="codex",
    title="Codex",
    events=EVENTS,
    tools=TOOLS,
    places=places,
    read=read,
    switched=switched_by("hooks = false"),
    payload=payload,
    answer=answer,
)
