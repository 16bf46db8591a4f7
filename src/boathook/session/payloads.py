"""The payloads of the tool events, in both vocabularies, from what a host knows of a call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from boathook.terms.text import TOOL_OUTPUT_LIMIT, TOOL_OUTPUT_MARK, cut
from boathook.terms.tools import wire_name

ToolStatus = Literal["success", "error"]

REJECTED: Final = "The tool call was rejected."
CANCELLED: Final = "The tool call was cancelled before it returned."
"""Outputs for calls that ended without one of their own (S0: both have the status ``error``)."""


def tool_args(value: object) -> dict[str, Any]:
    """Return a call's arguments as an object; any other value is wrapped (S0)."""
    return dict(value) if isinstance(value, Mapping) else {"value": value}


def tool_output(content: object) -> str:
    """Return what a tool returned as text, cut to 2,000 characters with the mark (S0).

    Text stays as it is, a list of text blocks is joined, nothing is ``""``, everything
    else is written as JSON.
    """
    return cut(_as_text(content), TOOL_OUTPUT_LIMIT, TOOL_OUTPUT_MARK)


def tool_use_payload(name: str, tool_id: str, args: object) -> dict[str, Any]:
    """Return the payload of ``tool.use``; the arguments are never cut (S0)."""
    return {"tool_name": name, "tool_id": tool_id, "tool_args": tool_args(args)}


def tool_result_payload(
    name: str, tool_id: str | None, args: Mapping[str, Any] | None, status: ToolStatus, output: object
) -> dict[str, Any]:
    """Return the payload of ``tool.result``.

    `args` are those of the call's ``tool.use``, or None where none was sent, which
    becomes ``{}`` (S0). `tool_id` is None where the call had no id.
    """
    return {
        "tool_name": name,
        "tool_id": tool_id or None,
        "tool_args": {} if args is None else dict(args),
        "tool_status": status,
        "tool_output": tool_output(output),
    }


def tool_error_payload(*names: str) -> dict[str, Any]:
    """Return the payload of ``tool.error``."""
    return {"tool_names": list(names)}


def pre_tool_use_payload(name: str, tool_id: str | None, args: object) -> dict[str, Any]:
    """Return the own keys of ``PreToolUse`` (contract section 3), the name as on the wire."""
    return {"tool_name": wire_name(name), "tool_input": tool_args(args), "tool_use_id": tool_id or None}


def post_tool_use_payload(
    name: str, tool_id: str | None, args: object, response: object, duration_ms: float | None = None
) -> dict[str, Any]:
    """Return the own keys of ``PostToolUse``; the response is not cut."""
    own = {**pre_tool_use_payload(name, tool_id, args), "tool_response": response}
    return own if duration_ms is None else {**own, "duration_ms": round(duration_ms, 1)}


def post_tool_use_failure_payload(
    name: str,
    tool_id: str | None,
    args: object,
    error: str,
    *,
    is_interrupt: bool = False,
    duration_ms: float | None = None,
) -> dict[str, Any]:
    """Return the own keys of ``PostToolUseFailure``; `is_interrupt` says that the user cancelled the call."""
    own = {**pre_tool_use_payload(name, tool_id, args), "error": error, "is_interrupt": is_interrupt}
    return own if duration_ms is None else {**own, "duration_ms": round(duration_ms, 1)}


def permission_request_payload(name: str, args: object, suggestions: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the own keys of ``PermissionRequest``."""
    return {
        "tool_name": wire_name(name),
        "tool_input": tool_args(args),
        "permission_suggestions": list(suggestions),
    }


def _as_text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        blocks = [_block_text(block) for block in content]
        texts = [text for text in blocks if text is not None]
        if len(texts) == len(blocks):
            return "\n".join(texts)
    try:
        return json.dumps(content, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # odd keys, a circle, a very deep nest
        return str(content)


def _block_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    return None
