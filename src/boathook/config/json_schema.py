"""The tables as a JSON Schema of hooks files, so that editors complete and check what people write.

Draft 7, because that is what editors know best. What the reader would complain about, the
schema refuses, unknown keys included, as far as a schema can say it: not keys that stand
twice, regular expressions that do not compile, and timeouts that are only doubtful.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from boathook.config.entries import NAME_LIMIT, STATUS_LIMIT
from boathook.config.reading import LARGE_TIMEOUT
from boathook.terms.agents import SPOKEN
from boathook.terms.events import EVENTS, NOTIFICATION_TIMEOUT, NOTIFICATIONS, Block, Event, Verdict
from boathook.terms.tools import KNOWN_TOOLS, WIRE_NAMES

Schema = dict[str, Any]

_NO_NUL: Final = r"^[^\u0000]*$"

BLOCKS: Final = {
    Block.DENY: "the call is denied, and the reason goes to the model",
    Block.REFUSE: "it does not happen, and the reason is shown",
    Block.CONTINUE: "the turn goes on, with the reason as feedback to the model",
    Block.FEEDBACK: "the reason goes to the model; what was done stays done",
    Block.CONTEXT: "the reason becomes context for the parent agent",
    Block.REPORT: "nothing is blocked; it is reported",
}
"""What exit 2 comes to, in words."""

MOMENTS: Final = {
    "SessionStart": "A session opens, is resumed or cleared, or goes on after a compaction.",
    "UserPromptSubmit": "The user submits a prompt.",
    "PreToolUse": "A tool is about to run.",
    "PermissionRequest": "The user is about to be asked for a permission.",
    "PostToolUse": "A tool has run.",
    "PostToolUseFailure": "A tool has failed, or was cancelled.",
    "Notification": "The user is about to be told something.",
    "PreCompact": "The context is about to be compacted.",
    "Stop": "The model wants to end the turn.",
    "SubagentStart": "A subagent begins.",
    "SubagentStop": "A subagent has ended.",
    "SessionEnd": "The session ends.",
}
"""Event → when it happens, in one sentence."""


def hooks_schema() -> Schema:
    """Return the schema, as JSON-ready values in the order in which people read it."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Boathook hooks file",
        "description": "Commands that run at moments of an agent's life.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string", "description": "Where this schema is, for editors."},
            "description": {"description": "A note to people."},
            "hooks": _hooks(),
            "disableAllHooks": {
                "type": "boolean",
                "description": "In the user's file: true switches off all hooks but the managed ones.",
            },
            "allowManagedHooksOnly": {
                "type": "boolean",
                "description": "In the managed file: true keeps out the hooks of every other scope.",
            },
        },
        "anyOf": [{"required": [key]} for key in ("hooks", "disableAllHooks", "allowManagedHooksOnly")],
        **_closed(),
        "definitions": {
            "handler": _handler(),
            "argv": {
                "type": "array",
                "items": [{"type": "string", "minLength": 1, "pattern": _NO_NUL}],
                "additionalItems": {"type": "string", "pattern": _NO_NUL},
                "minItems": 1,
            },
            "entry": _entry(),
        },
    }


def _hooks() -> Schema:
    # Keywords apply to the type they are about, so one schema holds both shapes without a oneOf,
    # whose error messages tell people nothing.
    return {
        "description": "A map from lifecycle events to groups of handlers, or a list of listeners that hear notifications.",
        "type": ["object", "array"],
        "properties": {name: _event(row) for name, row in EVENTS.items()},
        **_closed(),
        "items": {"$ref": "#/definitions/entry"},
    }


def _event(row: Event) -> Schema:
    return {
        "description": _words(row),
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "matcher": _matcher(row),
                "hooks": {
                    "description": "Handlers; all that match run at the same time.",
                    "type": "array",
                    "items": {"$ref": "#/definitions/handler"},
                },
            },
            "required": ["hooks"],
            **_closed(),
        },
    }


def _words(row: Event) -> str:
    parts = [
        MOMENTS[row.name],
        f"Handlers read on stdin: {', '.join(key.replace('?', ' (where known)') for key in row.keys)}.",
        f"Exit 2: {BLOCKS[row.block]}.",
    ]
    if row.verdict is not Verdict.NONE:
        parts.append(f"JSON on stdout may decide: hookSpecificOutput.{row.verdict.value}.")
    if row.context:
        how = "Plain stdout or additionalContext" if row.text else "additionalContext"
        parts.append(f"{how} goes to the model.")
    parts.append(f"A handler gets {row.timeout:g} s unless it says otherwise.")
    if row.announces:
        parts.append(f"Its notification: {row.announces}.")
    return " ".join(parts)


def _matcher(row: Event) -> Schema:
    if row.matched is None:
        return {"description": f"{row.name} compares nothing.", "enum": ["", "*"]}
    known = row.values or (sorted({*KNOWN_TOOLS} - {*WIRE_NAMES}) if row.matched == "tool_name" else ())
    return {
        "description": f"What `{row.matched}` must be: exact names separated by | or a comma, else a regular "
        "expression that is searched in it. Without one, or with * or an empty text, everything matches.",
        "type": "string",
        "anyOf": [
            {"enum": ["*", *known]},
            {"not": {"pattern": r"^[ ,|]+$"}},  # which names nothing
        ],
    }


def _handler() -> Schema:
    return {
        "description": "One command. It reads the event as JSON on stdin and answers by its exit status and stdout.",
        "type": "object",
        "properties": {
            "type": {"const": "command"},
            "command": {"description": "A command line for the shell."},
            "argv": {
                "description": "A program and its arguments, run directly, without a shell. Wins over command."
            },
            "timeout": {
                "description": f"Seconds the handler may take; more than {LARGE_TIMEOUT:g} are asked about.",
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": sys.float_info.max,  # JSON has larger numbers, which are infinite to the engine
            },
            "statusMessage": {
                "description": f"What to show while the handler runs, {STATUS_LIMIT} characters at most.",
                "type": "string",
            },
            "onFailure": {
                "description": "What becomes of the moment when the handler fails or runs out of time.",
                "enum": ["allow", "block"],
            },
            "passEnv": {
                "description": "Names of variables that look like secrets and that the handler gets all the same.",
                "type": "array",
                "items": {"type": "string"},
            },
            "enabled": {"description": "false switches the handler off.", "type": "boolean"},
            "name": {
                "description": f"What people call the handler, {NAME_LIMIT} characters at most.",
                "type": "string",
            },
            "async": {"description": "Not supported: only false.", "const": False},
            "dialect": {
                "description": "The agent that the command was written for, whose words it hears and says; "
                "after a colon, what that agent calls the event.",
                "type": "string",
                "pattern": rf"^({'|'.join(SPOKEN)})(:.+)?$",
            },
            "if": {
                "description": "A permission rule that a tool call has to fit, in the words of `dialect`.",
                "type": "string",
            },
        },
        "required": ["type"],
        "dependencies": {"if": ["dialect"]},
        "if": {"required": ["argv"]},
        "then": {"properties": {"argv": {"$ref": "#/definitions/argv"}}},
        "else": {
            "required": ["command"],
            "properties": {"command": {"type": "string", "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}},
        },
        **_closed(),
    }


def _entry() -> Schema:
    return {
        "description": f"One listener. Its command may take {NOTIFICATION_TIMEOUT:g} s, and its answer is not read.",
        "type": "object",
        "properties": {
            "command": {
                "description": "A program and its arguments, run directly, without a shell.",
                "allOf": [{"$ref": "#/definitions/argv"}],
            },
            "events": {
                "description": "The notifications it hears; all of them without this key, or with an empty list.",
                "type": "array",
                "items": {"enum": list(NOTIFICATIONS)},
            },
        },
        "required": ["command"],
        **_closed(),
    }


def _closed() -> Schema:
    """Return what refuses unknown keys and lets notes pass, at every level."""
    return {"patternProperties": {r"^(//|_|\$schema$|description$)": True}, "additionalProperties": False}
