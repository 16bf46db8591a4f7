"""What a host says of a moment → the payload that handlers read (contract sections 3 and 11)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from boathook.terms.events import EVENTS, NOTIFICATIONS, Event, Notification, nearest
from boathook.terms.problem import PayloadError, UnknownEventError
from boathook.terms.text import TOOL_OUTPUT_LIMIT, TOOL_OUTPUT_MARK, cut
from boathook.terms.tools import wire_name


def row_of(event: str) -> Event | Notification:
    """Return the event's row of either table, or raise `UnknownEventError` with the nearest name."""
    row = EVENTS.get(event) or NOTIFICATIONS.get(event)
    if row is None:
        hint = nearest(event, (*EVENTS, *NOTIFICATIONS))
        words = (
            f"Did you mean {hint!r}?" if hint else f"The events are: {', '.join((*EVENTS, *NOTIFICATIONS))}."
        )
        raise UnknownEventError(f"no event is called {event!r}. {words}")
    return row


def checked(event: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the payload if it is an object, or raise `PayloadError`."""
    if not isinstance(payload, Mapping):
        raise PayloadError(f"the payload of {event} is an object, not {type(payload).__name__}.")
    return payload


def lifecycle_payload(row: Event, payload: Mapping[str, Any], session_id: str, cwd: str) -> dict[str, Any]:
    """Fill in what is missing of the common keys, and name a tool as it is called on the wire."""
    whole = {"session_id": session_id, "transcript_path": os.devnull, "cwd": cwd, **payload}
    whole["hook_event_name"] = row.name
    name = whole.get("tool_name")
    if isinstance(name, str):
        whole["tool_name"] = wire_name(name)
    return whole


def announced(row: Notification, payload: Mapping[str, Any], session_id: str) -> dict[str, Any]:
    """Return the notification's own payload, derived from the lifecycle event's as the host gave it.

    Notifications name tools as the host does; only lifecycle payloads know wire names.
    """
    facts = {
        "thread_id": payload.get("session_id", session_id),
        "tool_names": [payload["tool_name"]] if "tool_name" in payload else [],
    }
    return {key: facts[key] for key in row.keys}


def notification_payload(row: Notification, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what handlers of a notification read: the host's facts, in the form of contract section 11."""
    whole = {**payload, "event": row.name}
    if "tool_args" in whole and not isinstance(whole["tool_args"], Mapping):
        whole["tool_args"] = {"value": whole["tool_args"]}
    if isinstance(whole.get("tool_output"), str):
        whole["tool_output"] = cut(whole["tool_output"], TOOL_OUTPUT_LIMIT, TOOL_OUTPUT_MARK)
    if "tool_output" in row.keys:
        whole = {"tool_args": {}, "tool_id": None, **whole}  # a result that no `tool.use` fits to
    return {"event": row.name, **whole}
