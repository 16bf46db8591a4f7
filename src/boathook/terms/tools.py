"""Names of tools: what hooks expect to read on the wire, and what the hosts call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

WIRE_NAMES: Final[Mapping[str, str]] = {
    "execute": "Bash",
    "write_file": "Write",
    "edit_file": "Edit",
    "read_file": "Read",
    "glob": "Glob",
    "grep": "Grep",
    "ls": "LS",
}
"""deepagents' native tool name → the name on the wire (contract section 3)."""

NATIVE_NAMES: Final[Mapping[str, str]] = {wire: native for native, wire in WIRE_NAMES.items()}

KNOWN_TOOLS: Final = frozenset(
    {
        *WIRE_NAMES,
        *NATIVE_NAMES,
        "MultiEdit",
        "NotebookEdit",
        "Task",
        "TodoWrite",
        "WebFetch",
        "WebSearch",
        "task",
        "write_todos",
    }
)
"""Names that hooks files in the wild use; only for hints, never for matching."""


def wire_name(name: str) -> str:
    """Return the name that handlers read for a tool, given its native or wire name."""
    return WIRE_NAMES.get(name, name)


def mcp_name(server: str, tool: str) -> str:
    """Return the wire name of an MCP tool."""
    return f"mcp__{server}__{tool}"
