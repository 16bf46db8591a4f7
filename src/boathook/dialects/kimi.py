"""Kimi CLI: the tables of its events and tools, its `config.toml`, and what its handlers hear and say.

From its public sources as of July 2026 (1.49). It has hooks of the user only, in a flat list of
tables. Two things decide: exit 2, and `permissionDecision: deny` with exit 0; everything else
that is printed is kept for nobody. What follows a call (`PostToolUse` …) is not waited for.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from boathook.config.entries import shell_command
from boathook.config.matcher import MATCH_ALL
from boathook.config.parse import Member
from boathook.config.reading import Fields, RefusedError, note_unknown, wrong_type
from boathook.dialects.dialect import Dialect, EventRow, Place, ToolRow
from boathook.dialects.entry import (
    EVERYTHING,
    command_handler,
    duration,
    expression,
    fault,
    find_event,
    fits,
    text_of,
)
from boathook.dialects.replies import object_of, printed_object
from boathook.dialects.replies import text_of as words_of
from boathook.dialects.toml_file import read_toml
from boathook.dialects.verdicts import INNER, answered, blocked, cannot_block, refuses, silent, stderr_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from boathook.config.parse import Node
    from boathook.config.reading import Reading
    from boathook.config.schema import Document, Handler
    from boathook.dialects.dialect import Heard, Said, Source

LONGEST: Final = 600.0
"""Seconds that a handler may ask for at most."""

EVENTS: Final = (
    *(
        EventRow(theirs, ours, guards=guards, timeout=30.0, longest=LONGEST)
        for theirs, ours, guards in (
            ("PreToolUse", "PreToolUse", True),
            ("PostToolUse", "PostToolUse", False),
            ("PostToolUseFailure", "PostToolUseFailure", False),
            ("UserPromptSubmit", "UserPromptSubmit", True),
            ("Stop", "Stop", True),
            ("SessionStart", "SessionStart", False),
            ("SessionEnd", "SessionEnd", False),
            ("SubagentStart", "SubagentStart", False),
            ("SubagentStop", "SubagentStop", False),
            ("PreCompact", "PreCompact", False),
            ("Notification", "Notification", False),
        )
    ),
    EventRow("StopFailure", None, "a turn that fails is not announced"),
    EventRow("PostCompact", None, "the end of a compaction is not announced"),
)
_PATH: Final = MappingProxyType({"file_path": "path"})
TOOLS: Final = (
    ToolRow("Bash", "Shell"),
    ToolRow(
        "Read",
        "ReadFile",
        keys=MappingProxyType({"file_path": "path", "offset": "line_offset", "limit": "n_lines"}),
    ),
    ToolRow("Write", "WriteFile", keys=_PATH),
    ToolRow("Edit", "StrReplaceFile", keys=_PATH),
    ToolRow("Glob", "Glob"),
    ToolRow("Grep", "Grep"),
    ToolRow("task", "Agent", keys=MappingProxyType({"description": "prompt"})),
)
_KEYS: Final = ("event", "command", "matcher", "timeout")
_DECIDING: Final = frozenset({"PreToolUse", "UserPromptSubmit", "Stop"})


def places(_root: Path, home: Path, _environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return the user's configuration file; a project has none."""
    return (Place(home / ".kimi" / "config.toml", "user"),)


def read(dialect: Dialect, source: Source) -> Document:
    """Read the `[[hooks]]` of a configuration file."""
    return read_toml(
        source.data, source.path, source.scope, lambda reading, root: _read_root(reading, root, dialect)
    )


def _read_root(reading: Reading, root: Node, dialect: Dialect) -> Document:
    usable = True
    counted: Counter[str] = Counter()
    for node in [member.node for member in root.members if member.key == "hooks"]:
        if node.kind != "array":
            wrong_type(reading, "`hooks`", "a list of tables", node, "/hooks")
            usable = False
        for index, item in enumerate(node.items):
            try:
                _read_entry(reading, dialect, item, reading.pointer("/hooks", index), counted)
            except RefusedError:
                continue
    return reading.document(usable=usable)


def _read_entry(reading: Reading, dialect: Dialect, node: Node, pointer: str, counted: Counter[str]) -> None:
    if node.kind != "object":
        raise wrong_type(reading, "this entry", "a table", node, pointer)
    note_unknown(reading, node, _KEYS, pointer)
    fields = Fields(reading, node, pointer)
    event = fields.string("event")
    if event is None:
        raise fields.refuse("entry-type", "this entry names no `event`.", "It is off.", None)
    row = find_event(dialect, reading, Member(event, node.offset, node), f"{pointer}/event", 1)
    if row is not None:
        name = f"{event}[{counted[event]}]"
        counted[event] += 1
        reading.handlers.append(_handler(dialect, row, name, fields))


def _handler(dialect: Dialect, row: EventRow, name: str, fields: Fields) -> Handler:
    node, matcher, condition = fields.get("matcher"), MATCH_ALL, None
    if node is not None:
        pointer = fields.reading.pointer(fields.pointer, "matcher")
        matcher = expression(fields.reading, node, pointer)
        text = text_of(fields.reading, node, pointer)
        if row.theirs == "UserPromptSubmit" and text not in EVERYTHING:
            matcher, condition = MATCH_ALL, text
    return command_handler(
        fields,
        dialect,
        row,
        name=name,
        command=shell_command(fields),
        timeout=duration(fields, "timeout", row.timeout or 30.0),
        matcher=matcher,
        condition=condition,
    )


def applies(heard: Heard) -> bool:
    """Whether a prompt fits the matcher, which on `UserPromptSubmit` is tried on its text."""
    prompt = heard.payload.get("prompt")
    if heard.handler.condition is None or not isinstance(prompt, str):
        return True
    return fits(heard.handler.condition, prompt)


def payload(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    """Give an edit the shape that it has there, and a result the form of a text."""
    arguments = theirs.get("tool_input")
    if theirs.get("tool_name") == "StrReplaceFile" and isinstance(arguments, dict):
        edit = {"old": arguments.pop("old_string", ""), "new": arguments.pop("new_string", "")}
        if "replace_all" in arguments:
            edit["replace_all"] = arguments.pop("replace_all")
        theirs["tool_input"] = {**arguments, "edit": edit}
    if heard.row.name == "SubagentStop":
        theirs["response"] = theirs.pop("last_assistant_message", "")
    return theirs


def answer(heard: Heard, said: Said) -> Said:
    """Put what a handler said into our words."""
    event = heard.row.name
    if said.code == 2:
        if event not in _DECIDING:
            return cannot_block(heard, said, "exit status 2")
        return answered(said, blocked(heard, {}, stderr_of(said)))
    if said.code != 0:
        return said
    inner = object_of(object_of(printed_object(said.stdout)).get(INNER))
    if inner.get("permissionDecision") == "deny" and event in _DECIDING and refuses(heard):
        return answered(said, blocked(heard, {}, words_of(inner.get("permissionDecisionReason"))))
    return silent(said)


DIALECT: Final = Dialect(
    name="kimi",
    title="Kimi CLI",
    events=EVENTS,
    tools=TOOLS,
    places=places,
    read=read,
    keys=MappingProxyType(
        {"tool_use_id": "tool_call_id", "tool_response": "tool_output", "agent_type": "agent_name"}
    ),
    mcp="{tool}",
    payload=payload,
    answer=answer,
    applies=applies,
    fault=fault,
)
