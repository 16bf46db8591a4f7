"""Tool calls from a stream: when to say ``tool.use``, and what goes with each ``tool.result``."""

from __future__ import annotations

from boathook.session.payloads import (
    permission_request_payload,
    post_tool_use_failure_payload,
    post_tool_use_payload,
    pre_tool_use_payload,
    tool_error_payload,
    tool_result_payload,
    tool_use_payload,
)

__all__ = [
    "permission_request_payload",
    "post_tool_use_failure_payload",
    "post_tool_use_payload",
    "pre_tool_use_payload",
    "tool_error_payload",
    "tool_result_payload",
    "tool_use_payload",
]
