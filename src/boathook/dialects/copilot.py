"""GitHub Copilot CLI: its events and tools, its hooks files, and what its handlers hear and say.

From its public documentation as of mid 2026. The spelling of an event's key decides what a handler
hears: `preToolUse` gets `toolName` and its arguments as a text of JSON, `PreToolUse` gets the
fields and tool names that VS Code and Claude Code use. Stricter here than there: exit 2 of a
`preToolUse` refuses, where Copilot logs it and goes on.
"""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from boathook.config.matcher import MATCH_ALL
from boathook.config.read import read_json, switch
from boathook.dialects.dialect import Dialect, EventRow, Place, ToolRow
from boathook.dialects.entry import command_handler, duration, environment, expression, lost
from boathook.dialects.flat import read_flat
from boathook.dialects.replies import object_of, printed_object
from boathook.dialects.replies import text_of as words_of
from boathook.dialects.switches import switched_by
from boathook.dialects.verdicts import (
    INNER,
    answered,
    asking,
    blocked,
    cannot_block,
    silent,
    stderr_of,
    stdout_of,
    unreadable,
    with_inner,
)
from boathook.terms.events import Block, Verdict
from boathook.terms.wire import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.parse import Node
    from boathook.config.reading import Fields, Reading
    from boathook.config.schema import Document, Handler
    from boathook.dialects.dialect import Heard, Said, Source

_PAIRS: Final = (
    # In camelCase, in PascalCase, ours, whether it can refuse.
    ("sessionStart", "SessionStart", "SessionStart", False),
    ("sessionEnd", "SessionEnd", "SessionEnd", False),
    ("userPromptSubmitted", "UserPromptSubmit", "UserPromptSubmit", False),
    ("preToolUse", "PreToolUse", "PreToolUse", True),
    ("postToolUse", "PostToolUse", "PostToolUse", False),
    ("postToolUseFailure", "PostToolUseFailure", "PostToolUseFailure", False),
    ("permissionRequest", "PermissionRequest", "PermissionRequest", True),
    ("agentStop", "Stop", "Stop", True),
    ("subagentStart", "SubagentStart", "SubagentStart", False),
    ("subagentStop", "SubagentStop", "SubagentStop", False),
    ("preCompact", "PreCompact", "PreCompact", False),
    ("notification", "Notification", "Notification", False),
)
EVENTS: Final = (
    *(EventRow(camel, ours, guards=guards, timeout=30.0) for camel, _, ours, guards in _PAIRS),
    *(EventRow(pascal, ours, guards=guards, timeout=30.0) for _, pascal, ours, guards in _PAIRS),
    EventRow("errorOccurred", None, "a turn that fails is not announced"),
    EventRow("ErrorOccurred", None, "a turn that fails is not announced"),
)
_PATH: Final = MappingProxyType({"file_path": "path"})
TOOLS: Final = (
    ToolRow("Bash", "bash"),
    ToolRow("Write", "create", keys=MappingProxyType({"file_path": "path", "content": "file_text"})),
    ToolRow(
        "Edit",
        "edit",
        keys=MappingProxyType({"file_path": "path", "old_string": "old_str", "new_string": "new_str"}),
    ),
    ToolRow("Read", "view", keys=_PATH),
    ToolRow("LS", "view"),
    ToolRow("Glob", "glob"),
    ToolRow("Grep", "grep"),
    ToolRow("task", "task", keys=MappingProxyType({"description": "prompt"})),
)
_CLAUDE_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "bash": ("Bash",),
        "create": ("Write",),
        "edit": ("Edit",),
        "view": ("Read",),
        "glob": ("Glob",),
        "grep": ("Grep",),
        "task": ("Task", "Agent"),
    }
)
"""What handlers of a PascalCase key know the tools by."""
_KEYS: Final = (
    "type",
    "bash",
    "powershell",
    "command",
    "cwd",
    "env",
    "timeoutSec",
    "timeout",
    "matcher",
    "comment",
    "prompt",
)
_CAMEL: Final = MappingProxyType(
    {
        "session_id": "sessionId",
        "transcript_path": "transcriptPath",
        "tool_name": "toolName",
        "last_assistant_message": "lastAssistantMessage",
        "stop_hook_active": "stopHookActive",
        "agent_type": "agentName",
        "agent_id": "agentId",
        "custom_instructions": "customInstructions",
        "permission_mode": "permissionMode",
        "notification_type": "notificationType",
    }
)


def places(root: Path, home: Path, environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return the hooks files of a session in `root`. Where an operator's lie is not documented."""
    own = Path(environ.get("COPILOT_HOME") or home / ".copilot")
    return (
        Place(own / "hooks", "user", pattern="*.json"),
        Place(root / ".github" / "hooks", "project", pattern="*.json"),
    )


def read(dialect: Dialect, source: Source) -> Document:
    """Read one hooks file."""
    return read_json(
        source.data, source.path, source.scope, lambda reading, root: _read_root(reading, root, dialect)
    )


def _read_root(reading: Reading, root: Node, dialect: Dialect) -> Document:
    from dataclasses import replace

    usable = read_flat(reading, root, dialect, _KEYS, partial(_handler, dialect))
    off = switch(reading, root, "disableAllHooks", ("managed", "user", "project", "given"))
    return replace(reading.document(usable=usable), disable_all=off)


def _handler(dialect: Dialect, row: EventRow, name: str, fields: Fields) -> Handler:
    kind = fields.string("type")
    if kind not in {None, "command"}:
        raise lost(fields, row, f"a handler of type {kind!r}", "type")
    node = fields.get("matcher")
    pointer = fields.reading.pointer(fields.pointer, "matcher")
    compared = row.ours in {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}
    others = _CLAUDE_NAMES if compared else None
    timeout = "timeoutSec" if fields.get("timeoutSec") is not None else "timeout"
    return command_handler(
        fields,
        dialect,
        row,
        name=name,
        command=_command(row, fields),
        timeout=duration(fields, timeout, row.timeout or 30.0),
        matcher=MATCH_ALL
        if node is None
        else expression(fields.reading, node, pointer, anchored=True, others=others),
        env=environment(fields),
    )


def _command(row: EventRow, fields: Fields) -> str:
    command = fields.string("bash") or fields.string("command")
    if command is None and fields.get("powershell") is not None:
        raise lost(fields, row, "a command for PowerShell alone", "powershell")
    if command is None or not command.strip() or "\0" in command:
        found = "this handler has no `bash`, so there is nothing to run."
        raise fields.refuse("handler-command", found, "This handler is off.", None)
    folder = fields.string("cwd")
    return command if folder is None else f"cd {shlex.quote(folder)} || exit 1\n{command}"


def payload(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    """Return what Copilot tells, in the spelling that goes with the event's key."""
    theirs.pop("prompt_id", None)
    if heard.called[:1].isupper():
        name = theirs.get("tool_name")
        if isinstance(name, str):
            theirs["tool_name"] = _CLAUDE_NAMES.get(name, (name,))[0]
            theirs["tool_input"] = heard.payload.get("tool_input")
        theirs["timestamp"] = datetime.now(UTC).isoformat(timespec="milliseconds")
        return theirs
    told = {_CAMEL.get(key, key): value for key, value in theirs.items() if key != "hook_event_name"}
    told["timestamp"] = int(time.time() * 1000)
    if "tool_input" in told:
        arguments = object_of(told.pop("tool_input"))
        told["toolArgs"] = encode(arguments).decode("utf-8").strip()
    if "tool_response" in told:
        said = told.pop("tool_response")
        text = said if isinstance(said, str) else encode({"result": said}).decode("utf-8").strip()
        told["toolResult"] = {"resultType": "success", "textResultForLlm": text}
    return told


def answer(heard: Heard, said: Said) -> Said:
    """Put what a handler said into our words."""
    if said.code == 2:
        return _exit_two(heard, said)
    if said.code != 0:
        return said
    reply = printed_object(said.stdout)
    if reply is None:
        torn = stdout_of(said).startswith("{")
        return unreadable(heard, said, "it is not one JSON object") if torn else silent(said)
    inner = object_of(reply.pop(INNER, None))
    told = with_inner(heard, {}, additionalContext=_first(reply, inner, "additionalContext"))
    told = told if heard.row.context else {}
    if heard.row.verdict is Verdict.TOOL:
        changed = _first(reply, inner, "modifiedArgs") or inner.get("updatedInput")
        told = with_inner(heard, told, updatedInput=changed)
        reason = words_of(_first(reply, inner, "permissionDecisionReason")) or words_of(reply.get("reason"))
        return _voted(heard, said, told, _first(reply, inner, "permissionDecision"), reason)
    if heard.row.verdict is Verdict.PERMISSION:
        decision = {**reply, **object_of(inner.get("decision"))}
        return _voted(heard, said, told, decision.get("behavior"), words_of(decision.get("message")))
    if reply.get("decision") == "block" and heard.row.block in {Block.CONTINUE, Block.CONTEXT}:
        return answered(said, blocked(heard, told, words_of(reply.get("reason"))))
    return answered(said, told)


def _voted(heard: Heard, said: Said, told: dict[str, Any], vote: object, reason: str) -> Said:
    match vote:
        case "allow" if heard.row.verdict is Verdict.PERMISSION:
            return answered(said, with_inner(heard, told, decision={"behavior": "allow"}))
        case None | "allow":
            return answered(said, told)
        case "deny":
            return answered(said, blocked(heard, told, reason))
        case "ask":
            return answered(said, asking(heard, told, reason))
    return unreadable(heard, said, "its decision is none that Copilot knows")


def _exit_two(heard: Heard, said: Said) -> Said:
    if heard.row.block is Block.DENY:
        return answered(said, blocked(heard, {}, stderr_of(said)))
    if heard.row.name == "PostToolUseFailure":
        words = stderr_of(said)
        return answered(said, with_inner(heard, {}, additionalContext=words)) if words else silent(said)
    return cannot_block(heard, said, "exit status 2")


def _first(reply: Mapping[str, Any], inner: Mapping[str, Any], key: str) -> object:
    value = reply.get(key)
    return inner.get(key) if value is None else value


DIALECT: Final = Dialect(
    name="copilot",
    title="GitHub Copilot",
    events=EVENTS,
    tools=TOOLS,
    places=places,
    read=read,
    switched=switched_by("disableAllHooks"),
    values=MappingProxyType({"SessionStart": MappingProxyType({"startup": "new"})}),
    mcp="{server}-{tool}",
    payload=payload,
    answer=answer,
)
