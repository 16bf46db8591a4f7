"""How a tool call is called on the wire, and how it is told from every other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boathook.terms.tools import mcp_name, wire_name

if TYPE_CHECKING:
    from langchain_core.messages import ToolCall


def name_on_the_wire(name: str, tool: object, mcp_servers: Mapping[str, str]) -> str:
    """Return what handlers read for a tool.

    An MCP tool is known by `mcp_servers` (tool → server) or by ``mcp_server`` in the
    tool's metadata. langchain-mcp-adapters can prefix a tool with its server; the prefix
    is not repeated.
    """
    metadata = getattr(tool, "metadata", None)
    server = mcp_servers.get(name) or (metadata.get("mcp_server") if isinstance(metadata, Mapping) else None)
    if not server or name.startswith("mcp__"):
        return wire_name(name)
    return mcp_name(str(server), name.removeprefix(f"{server}_"))


def key_of(call: ToolCall, place: int = 0) -> str:
    """Return the key of a call among those of one message: its id, else its place."""
    return call["id"] or f"#{place}"


def digest(name: str, args: Any) -> str:  # noqa: ANN401 - a model may send anything
    """Return what stands for a tool's name and arguments, so that a verdict covers no others."""
    return hashlib.sha256(json.dumps([name, args], sort_keys=True, default=repr).encode()).hexdigest()
