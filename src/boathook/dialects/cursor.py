"""Cursor: the tables of its events and tools, its `hooks.json`, and what its handlers hear and say.

Known from reports and ports only, as its own pages could not be read. Where they leave a doubt, what
refuses was chosen: a guard's answer that cannot be read refuses, and so does a `permission` that
is none of the three. A matcher of `beforeShellExecution` is tried on the command, one of
`preToolUse` and its like on the tool's name.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from boathook.config.entries import shell_command
from boathook.config.matcher import MATCH_ALL
from boathook.config.read import read_json
from boathook.dialects.dialect import Dialect, EventRow, Place, ToolRow
from boathook.dialects.entry import command_handler, duration, expression, fault, fits, lost, text_of
from boathook.dialects.flat import read_flat
from boathook.dialects.replies import object_of, printed_object
from boathook.dialects.replies import text_of as words_of
from boathook.dialects.verdicts import (
    answered,
    asking,
    blocked,
    cannot_block,
    refuses,
    silent,
    stderr_of,
    stdout_of,
    unreadable,
    with_inner,
)
from boathook.terms.wire import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.parse import Node
    from boathook.config.reading import Fields, Reading
    from boathook.config.schema import Document, Handler
    from boathook.dialects.dialect import Heard, Said, Source

READ_LIMIT: Final = 1024 * 1024
"""Bytes of a file that a guard of reading is shown."""

_MCP_EVENTS: Final = frozenset({"beforeMCPExecution", "afterMCPExecution"})
_COMMAND_EVENTS: Final = frozenset({"beforeShellExecution", "afterShellExecution"})

EVENTS: Final = (
    EventRow("sessionStart", "SessionStart", timeout=60.0),
    EventRow("sessionEnd", "SessionEnd", timeout=60.0),
    EventRow("beforeSubmitPrompt", "UserPromptSubmit", guards=True, timeout=60.0),
    EventRow("preToolUse", "PreToolUse", guards=True, timeout=60.0),
    EventRow("beforeShellExecution", "PreToolUse", guards=True, tools=("Bash",), timeout=60.0),
    EventRow("beforeMCPExecution", "PreToolUse", guards=True, timeout=60.0),
    EventRow("beforeReadFile", "PreToolUse", guards=True, tools=("Read",), timeout=60.0),
    EventRow("postToolUse", "PostToolUse", timeout=60.0),
    EventRow("afterShellExecution", "PostToolUse", tools=("Bash",), timeout=60.0),
    EventRow("afterMCPExecution", "PostToolUse", timeout=60.0),
    EventRow("afterFileEdit", "PostToolUse", tools=("Write", "Edit"), timeout=60.0),
    EventRow("postToolUseFailure", "PostToolUseFailure", timeout=60.0),
    EventRow("subagentStart", "SubagentStart", guards=True, timeout=60.0),
    EventRow("subagentStop", "SubagentStop", timeout=60.0),
    EventRow("preCompact", "PreCompact", timeout=60.0),
    EventRow("stop", "Stop", timeout=60.0),
    EventRow("afterAgentResponse", None, "messages are shown as they come"),
    EventRow("afterAgentThought", None, "what a model thinks is not announced"),
    EventRow("beforeTabFileRead", None, "there is no completion while typing"),
    EventRow("afterTabFileEdit", None, "there is no completion while typing"),
    EventRow("workspaceOpen", None, "there is no workspace to open"),
)
TOOLS: Final = (
    ToolRow("Bash", "Shell"),
    ToolRow("Write", "Write"),
    ToolRow("Edit", "Write"),
    ToolRow("Read", "Read"),
    ToolRow("Grep", "Grep"),
    ToolRow("task", "Task", keys=MappingProxyType({"description": "prompt"})),
)
_KEYS: Final = ("command", "type", "matcher", "timeout", "failClosed", "loop_limit", "prompt", "model")
_ADVISORY: Final = frozenset({"preCompact", "sessionStart", "sessionEnd", "stop", "subagentStop"})


def places(root: Path, home: Path, _environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return the hooks files of a session in `root`."""
    return (
        Place(Path("/etc/cursor/hooks.json"), "managed"),
        Place(root / ".cursor" / "hooks.json", "project"),
        Place(home / ".cursor" / "hooks.json", "user"),
    )


def read(dialect: Dialect, source: Source) -> Document:
    """Read one hooks file."""
    return read_json(
        source.data, source.path, source.scope, lambda reading, root: _read_root(reading, root, dialect)
    )


def _read_root(reading: Reading, root: Node, dialect: Dialect) -> Document:
    usable = read_flat(reading, root, dialect, _KEYS, partial(_handler, dialect))
    return reading.document(usable=usable)


def _handler(dialect: Dialect, row: EventRow, name: str, fields: Fields) -> Handler:
    kind = fields.string("type")
    if kind not in {None, "command"}:
        raise lost(fields, row, f"a handler of type {kind!r}", "type")
    if fields.get("loop_limit") is not None:
        found = "`loop_limit` is not carried over: how often a turn is sent back has one limit for all hooks."
        fields.problem("dialect-note", found, "", "loop_limit")
    node, matcher, condition = fields.get("matcher"), MATCH_ALL, None
    if node is not None:
        pointer = fields.reading.pointer(fields.pointer, "matcher")
        found_matcher = expression(fields.reading, node, pointer)
        if row.theirs in _COMMAND_EVENTS and not found_matcher.everything:
            condition = text_of(fields.reading, node, pointer)
        elif row.ours in {"PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart"}:
            matcher = found_matcher
    return command_handler(
        fields,
        dialect,
        row,
        name=name,
        command=shell_command(fields),
        timeout=duration(fields, "timeout", row.timeout or 60.0),
        matcher=matcher,
        condition=condition,
        fails_closed=fields.boolean("failClosed", default=False),
    )


def applies(heard: Heard) -> bool:
    """Whether an event of tool servers is about one, and a command fits the matcher."""
    if heard.called in _MCP_EVENTS and not str(heard.payload.get("tool_name")).startswith("mcp__"):
        return False
    if heard.handler.condition is None:
        return True
    command = object_of(heard.payload.get("tool_input")).get("command")
    if not isinstance(command, str):
        return True  # what cannot be judged must not keep a guard from running
    return fits(heard.handler.condition, command)


def payload(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    """Return what Cursor tells on an event: its own fields for each, beside a few that all have."""
    session = str(theirs.get("session_id") or "")
    told = {
        "conversation_id": session,
        "generation_id": str(theirs.get("prompt_id") or session),
        "hook_event_name": heard.called,
        "workspace_roots": [heard.root],
        "transcript_path": theirs.get("transcript_path"),
    }
    own = _OWN.get(heard.called)
    if own is not None:
        return told | own(heard, theirs)
    left_out = {"session_id", "prompt_id", "hook_event_name", "transcript_path"}
    return told | {key: value for key, value in theirs.items() if key not in left_out}


def _shell(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    arguments = object_of(theirs.get("tool_input"))
    told = {"command": arguments.get("command", ""), "cwd": theirs.get("cwd") or heard.root}
    if heard.row.name == "PostToolUse":
        told |= {"output": _text(theirs.get("tool_response")), "duration": theirs.get("duration_ms", 0)}
    return told


def _mcp(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    name = str(heard.payload.get("tool_name")).split("__", 2)
    told: dict[str, Any] = {
        "tool_name": name[-1],
        "tool_input": encode(object_of(theirs.get("tool_input"))).decode("utf-8").strip(),
        "server": name[1] if len(name) > 1 else "",
    }
    if heard.row.name == "PostToolUse":
        told |= {"result_json": _text(theirs.get("tool_response")), "duration": theirs.get("duration_ms", 0)}
    return told


def _read_file(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    path = _absolute(heard, theirs)
    # Some backends take the project's root for the root of all paths.
    for each in (path, os.path.normpath(f"{heard.root}/{path}")):
        try:
            with Path(each).open("rb") as file:
                content = file.read(READ_LIMIT).decode("utf-8", "replace")
        except (OSError, ValueError):
            continue
        return {"file_path": each, "content": content, "attachments": []}
    return {"file_path": path, "content": "", "attachments": []}


def _edited(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    arguments = object_of(theirs.get("tool_input"))
    new = arguments.get("new_string", arguments.get("content", ""))
    edits = [{"old_string": arguments.get("old_string", ""), "new_string": new}]
    return {"file_path": _absolute(heard, theirs), "edits": edits}


def _prompt(_heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    return {"prompt": theirs.get("prompt", ""), "attachments": []}


def _stopped(_heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    return {"status": "completed", "loop_count": 1 if theirs.get("stop_hook_active") else 0}


_OWN: Final = {
    "beforeShellExecution": _shell,
    "afterShellExecution": _shell,
    "beforeMCPExecution": _mcp,
    "afterMCPExecution": _mcp,
    "beforeReadFile": _read_file,
    "afterFileEdit": _edited,
    "beforeSubmitPrompt": _prompt,
    "stop": _stopped,
}


def _absolute(heard: Heard, theirs: dict[str, Any]) -> str:
    path = words_of(object_of(theirs.get("tool_input")).get("file_path"))
    return os.path.normpath(Path(str(theirs.get("cwd") or heard.root), path))


def _text(value: object) -> str:
    return value if isinstance(value, str) else encode({"result": value}).decode("utf-8").strip()


def answer(heard: Heard, said: Said) -> Said:
    """Put what a handler said into our words."""
    event = heard.called
    if said.code == 2:
        if event in _ADVISORY:
            return cannot_block(heard, said, "exit status 2")
        reply = object_of(printed_object(said.stdout))
        return answered(said, blocked(heard, {}, stderr_of(said) or _reason(reply)))
    if said.code != 0:
        return said
    printed = printed_object(said.stdout)
    if printed is None:
        text = stdout_of(said)
        return unreadable(heard, said, "it is not one JSON object") if text else silent(said)
    return _from_object(heard, said, printed)


def _from_object(heard: Heard, said: Said, reply: dict[str, Any]) -> Said:
    event, reason = heard.called, _reason(reply)
    told: dict[str, Any] = {}
    notice = words_of(reply.get("user_message") or reply.get("userMessage"))
    if notice:
        told["systemMessage"] = notice
    if heard.row.context:
        told = with_inner(heard, told, additionalContext=reply.get("additional_context"))
    if event == "preToolUse":
        told = with_inner(heard, told, updatedInput=reply.get("updated_input"))
    if event == "stop" and words_of(reply.get("followup_message")).strip():
        return answered(said, blocked(heard, told, reply["followup_message"]))
    if event == "beforeSubmitPrompt" and reply.get("continue", True) is not True:
        return answered(said, blocked(heard, told, reason or notice))
    permission = reply.get("permission")
    if permission is None or permission == "allow" or event in _ADVISORY:
        return answered(said, told)
    if permission == "ask":
        return answered(said, asking(heard, told, reason))
    if permission == "deny":
        return answered(said, blocked(heard, told, reason))
    if not refuses(heard):
        return answered(said, told)
    return unreadable(heard, said, '`permission` is none of "allow", "deny" and "ask"')


def _reason(reply: Mapping[str, Any]) -> str:
    names = ("agent_message", "agentMessage", "user_message", "userMessage", "reason")
    return next((text for name in names if (text := words_of(reply.get(name))).strip()), "")


def variables(heard: Heard) -> dict[str, str]:
    """Return what Cursor's handlers find in their environment."""
    transcript = str(heard.payload.get("transcript_path") or "")
    return {"CURSOR_PROJECT_DIR": heard.root, "CURSOR_TRANSCRIPT_PATH": transcript[:4096]}


DIALECT: Final = Dialect(
    name="cursor",
    title="Cursor",
    events=EVENTS,
    tools=TOOLS,
    places=places,
    read=read,
    mcp="MCP:{tool}",
    payload=payload,
    answer=answer,
    applies=applies,
    fault=fault,
    variables=variables,
)
