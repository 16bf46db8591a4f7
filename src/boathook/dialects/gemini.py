"""Gemini CLI: the tables of its events and tools, its settings, and what its handlers hear and say.

From its public sources and documentation as of August 2026. Where the two differ, the sources count:
JSON decides whatever the exit status, on stdout or, if that is empty, on stderr; text beside any
status from 2 on refuses, so that a guard whose program is missing refuses too. Stricter here than
there: exit 2 without a word refuses, as the documentation says, where the sources let it pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from boathook.config.entries import NAME_LIMIT, shell_command
from boathook.config.groups import read_groups
from boathook.config.matcher import MATCH_ALL, Matcher
from boathook.config.read import read_json
from boathook.config.reading import wrong_type
from boathook.dialects.dialect import Dialect, EventRow, Place, ToolRow
from boathook.dialects.entry import (
    EVERYTHING,
    command_handler,
    duration,
    environment,
    expression,
    find_event,
    handlers_in,
    lost,
    text_of,
)
from boathook.dialects.replies import object_of, printed_object
from boathook.dialects.replies import text_of as words_of
from boathook.dialects.switches import switched_by
from boathook.dialects.verdicts import (
    INNER,
    answered,
    asking,
    blocked,
    cannot_block,
    refuses,
    stderr_of,
    stdout_of,
    with_inner,
)
from boathook.terms.events import EVENTS as OURS
from boathook.terms.events import Block

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from boathook.config.groups import Place as Group
    from boathook.config.parse import Member, Node
    from boathook.config.reading import Fields, Reading
    from boathook.config.schema import Document, Handler
    from boathook.dialects.dialect import Heard, Said, Source
    from boathook.terms.events import Event

MILLISECOND: Final = 0.001

EVENTS: Final = (
    EventRow("SessionStart", "SessionStart", timeout=60.0),
    EventRow("SessionEnd", "SessionEnd", timeout=60.0),
    EventRow("BeforeAgent", "UserPromptSubmit", guards=True, timeout=60.0),
    EventRow("AfterAgent", "Stop", guards=True, timeout=60.0),
    EventRow("BeforeTool", "PreToolUse", guards=True, timeout=60.0),
    EventRow("AfterTool", "PostToolUse", timeout=60.0, more=("PostToolUseFailure",)),
    EventRow("PreCompress", "PreCompact", timeout=60.0),
    EventRow("Notification", "Notification", timeout=60.0),
    EventRow("BeforeModel", None, "requests to the model are not announced", guards=True),
    EventRow("AfterModel", None, "what the model says is not announced piece by piece", guards=True),
    EventRow("BeforeToolSelection", None, "the model chooses among all tools", guards=True),
)
_DIRECTORY: Final = MappingProxyType({"path": "dir_path"})
TOOLS: Final = (
    ToolRow("Bash", "run_shell_command"),
    ToolRow("Write", "write_file"),
    ToolRow("Edit", "replace"),
    ToolRow("Read", "read_file"),
    ToolRow("Glob", "glob", keys=_DIRECTORY),
    ToolRow("Grep", "grep_search", keys=MappingProxyType({"path": "dir_path", "glob": "include"})),
    ToolRow("LS", "list_directory", keys=_DIRECTORY),
    ToolRow("write_todos", "write_todos"),
)
_HANDLER_KEYS: Final = ("type", "name", "command", "timeout", "description", "env")
_ADVISORY: Final = frozenset({"SessionStart", "SessionEnd", "PreCompact", "Notification"})
"""Events of ours on which a refusal of theirs has no effect."""


def places(root: Path, home: Path, environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return the settings files of a session in `root`."""
    from pathlib import Path

    system = environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or "/etc/gemini-cli/settings.json"
    return (
        Place(Path(system), "managed"),
        Place(root / ".gemini" / "settings.json", "project"),
        Place(home / ".gemini" / "settings.json", "user"),
    )


def read(dialect: Dialect, source: Source) -> Document:
    """Read one settings file."""
    form = GeminiForm(dialect)
    return read_json(
        source.data, source.path, source.scope, lambda reading, root: _read_root(reading, root, form)
    )


def _read_root(reading: Reading, root: Node, form: GeminiForm) -> Document:
    options = object_of(object_of(root.plain()).get("hooksConfig"))
    usable = True
    for member in root.members:
        if member.key == "hooks" and member.node.kind == "object":
            read_groups(reading, member.node, form)
        elif member.key == "hooks":
            wrong_type(reading, "`hooks`", "a map of events", member.node, "/hooks")
            usable = False
    named = options.get("disabled")
    off = {name for name in named if isinstance(name, str)} if isinstance(named, list) else set[str]()
    document = reading.document(usable=usable)
    handlers = tuple(
        replace(handler, enabled=False) if {handler.name, handler.command} & off else handler
        for handler in document.handlers
    )
    return replace(document, handlers=handlers, disable_all=options.get("enabled") is False)


@dataclass(frozen=True, slots=True)
class GeminiForm:
    """The map shape as Gemini CLI has it."""

    dialect: Dialect
    group_keys: tuple[str, ...] = ("matcher", "hooks", "sequential")
    handler_keys: tuple[str, ...] = _HANDLER_KEYS

    def event(self, reading: Reading, member: Member, pointer: str) -> Event | None:
        """Return our row of an event; what is lost with one that has none is said."""
        row = find_event(self.dialect, reading, member, pointer, handlers_in(member.node))
        return None if row is None or row.ours is None else OURS[row.ours]

    def matcher(self, reading: Reading, place: Group, node: Node, pointer: str) -> Matcher:
        """Return an expression for tools, and an exact text for anything else."""
        text = text_of(reading, node, pointer)
        if text in EVERYTHING or place.event.matched is None:
            return MATCH_ALL
        if place.event.matched == "tool_name":
            return expression(reading, node, pointer)
        return Matcher(text, names=frozenset({text}))

    def handler(self, fields: Fields, place: Group, matcher: Matcher, name: str) -> Handler:
        """Return one command; `runtime` is for programs that embed Gemini CLI, never for a file."""
        row = self.dialect.event(place.said)
        assert row is not None
        kind = fields.string("type")
        if kind != "command":
            raise lost(fields, row, f"a handler of type {kind!r}", None if kind is None else "type")
        command = shell_command(fields)
        return command_handler(
            fields,
            self.dialect,
            row,
            name=fields.words("name", NAME_LIMIT) or name,
            command=command,
            timeout=duration(fields, "timeout", row.timeout or 60.0, unit=MILLISECOND),
            matcher=matcher,
            env=environment(fields),
        )


def payload(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    """Add what Gemini CLI tells beside, and give a tool's result the shape that it has there."""
    theirs["timestamp"] = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if heard.row.name in {"PostToolUse", "PostToolUseFailure"}:
        error = theirs.pop("error", None)
        told = theirs.pop("tool_response", None)
        said = error if error is not None else told
        theirs["tool_response"] = {"llmContent": said, "returnDisplay": said, "error": None}
        if error is not None:
            theirs["tool_response"]["error"] = {"message": error}
    if heard.row.name == "Stop":
        theirs["prompt_response"] = theirs.pop("last_assistant_message", "")
    return theirs


def answer(heard: Heard, said: Said) -> Said:
    """Put what a handler said into our words: JSON first, then text by exit status."""
    reply = printed_object(said.stdout) or (None if stdout_of(said) else printed_object(said.stderr))
    if reply is not None:
        return _from_object(heard, said, reply)
    text = stdout_of(said) or stderr_of(said)
    if said.code in {0, 1}:
        return answered(said, {"systemMessage": text} if text else {})
    if said.code == 2 or text:
        return _refusal(heard, said, {}, text)
    return said


def _from_object(heard: Heard, said: Said, reply: dict[str, Any]) -> Said:
    decision, reason = reply.pop("decision", None), words_of(reply.pop("reason", None))
    inner = object_of(reply.pop(INNER, None))
    told = {key: value for key, value in reply.items() if key != "suppressOutput"}
    context = inner.pop("additionalContext", None)
    if heard.row.context:
        told = with_inner(heard, told, additionalContext=context)
    if heard.row.name == "PreToolUse" and isinstance(inner.get("tool_input"), dict):
        changed = {**object_of(heard.payload.get("tool_input")), **inner.pop("tool_input")}
        told = with_inner(heard, told, updatedInput=changed)
    inner.pop("hookEventName", None)
    told |= inner  # what is left means nothing here, and that is said where answers are read
    match decision:
        case "ask":
            return answered(said, asking(heard, told, reason))
        case "allow" | "approve":
            return answered(said, told)
        case None if said.code != 2:
            return answered(said, told)
    return _refusal(heard, said, told, reason or stderr_of(said))  # deny, block, or what is not known


def _refusal(heard: Heard, said: Said, told: dict[str, Any], reason: str) -> Said:
    if heard.row.name in _ADVISORY:
        return cannot_block(heard, said, "a refusal")
    if heard.row.block is Block.FEEDBACK or refuses(heard):
        return answered(said, blocked(heard, told, reason))
    return answered(said, told)


def variables(heard: Heard) -> dict[str, str]:
    """Return what Gemini CLI's handlers find in their environment."""
    return {
        "GEMINI_PROJECT_DIR": heard.root,
        "GEMINI_CWD": str(heard.payload.get("cwd") or heard.root),
        "GEMINI_SESSION_ID": str(heard.payload.get("session_id") or "")[:4096],
    }


DIALECT: Final = Dialect(
    name="gemini",
    title="Gemini CLI",
    events=EVENTS,
    tools=TOOLS,
    places=places,
    read=read,
    switched=switched_by("enabled: false"),
    values=MappingProxyType({"Notification": MappingProxyType({"permission_prompt": "ToolPermission"})}),
    mcp="mcp_{server}_{tool}",
    payload=payload,
    answer=answer,
    variables=variables,
)
