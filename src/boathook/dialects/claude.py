"""Claude Code: the tables of its events and tools, and where its settings lie.

From its public documentation as of late 2026 (33 events, version 2.1.303). The file itself is
read in `claude_file`; what handlers hear and say is put into words in `claude_words`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from boathook.dialects import claude_file, claude_words
from boathook.dialects.dialect import Dialect, EventRow, Place, ToolRow

if TYPE_CHECKING:
    from collections.abc import Mapping


EVENTS: Final = (
    EventRow("SessionStart", "SessionStart"),
    EventRow("UserPromptSubmit", "UserPromptSubmit", timeout=30.0),
    EventRow("PreToolUse", "PreToolUse", guards=True),
    EventRow("PermissionRequest", "PermissionRequest", guards=True),
    EventRow("PostToolUse", "PostToolUse"),
    EventRow("PostToolUseFailure", "PostToolUseFailure"),
    EventRow("Notification", "Notification"),
    EventRow("PreCompact", "PreCompact", guards=True),
    EventRow("Stop", "Stop", guards=True),
    EventRow("SubagentStart", "SubagentStart"),
    EventRow("SubagentStop", "SubagentStop"),
    # All of them together have 1.5 s, unless one asks for more.
    EventRow("SessionEnd", "SessionEnd", timeout=1.5, longest=60.0),
    EventRow("Setup", None, "there is no run that only sets a project up"),
    EventRow("UserPromptExpansion", None, "prompts are not expanded from commands", guards=True),
    EventRow("PermissionDenied", None, "no classifier denies calls here"),
    EventRow("PostToolBatch", None, "calls are announced one by one, not as a batch", guards=True),
    EventRow("MessageDisplay", None, "messages are shown as they come"),
    EventRow("TaskCreated", None, "there are no shared tasks", guards=True),
    EventRow("TaskCompleted", None, "there are no shared tasks", guards=True),
    EventRow("StopFailure", None, "a turn that fails is not announced"),
    EventRow("TeammateIdle", None, "there are no teams of agents", guards=True),
    EventRow("InstructionsLoaded", None, "what a model is told beforehand is not announced"),
    EventRow("ConfigChange", None, "a session goes on with the hooks that it read", guards=True),
    EventRow("CwdChanged", None, "a session stays in its folder"),
    EventRow("DirectoryAdded", None, "a session has one folder"),
    EventRow("FileChanged", None, "files are not watched"),
    EventRow("WorktreeCreate", None, "no worktrees are made", guards=True),
    EventRow("WorktreeRemove", None, "no worktrees are made"),
    EventRow("PostCompact", None, "the end of a compaction is not announced"),
    EventRow("PreModelSwitch", None, "a session keeps its model", guards=True),
    EventRow("PostModelSwitch", None, "a session keeps its model"),
    EventRow("Elicitation", None, "MCP servers cannot ask here", guards=True),
    EventRow("ElicitationResult", None, "MCP servers cannot ask here", guards=True),
)

TOOLS: Final = (
    *(ToolRow(name, name) for name in ("Bash", "Write", "Edit", "Read", "Glob", "Grep", "LS")),
    ToolRow("task", "Agent", keys=MappingProxyType({"description": "prompt"}), also=("Task",)),
    ToolRow("write_todos", "TodoWrite"),
)


def managed_folder() -> Path:
    """Return where an operator's settings for Claude Code lie on this system."""
    if sys.platform == "darwin":
        return Path("/Library/Application Support/ClaudeCode")
    return Path("/etc/claude-code")


def places(root: Path, home: Path, environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return the settings files of a session in `root`."""
    own = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    managed = managed_folder()
    return (
        Place(managed / "managed-settings.json", "managed"),
        Place(managed / "managed-settings.d", "managed", pattern="*.json"),
        Place(root / ".claude" / "settings.json", "project"),
        Place(root / ".claude" / "settings.local.json", "project"),
        Place(own / "settings.json", "user"),
        Place(own / "settings.local.json", "user"),
    )


DIALECT: Final = Dialect(
    name="claude",
    title="Claude Code",
    events=EVENTS,
    tools=TOOLS,
    places=places,
    read=claude_file.read,
    switched=claude_file.switched,
    payload=claude_words.payload,
    answer=claude_words.answer,
    applies=claude_words.applies,
    fault=claude_words.fault,
    variables=claude_words.variables,
)
