"""Commands that were written to hear notifications, run on the lifecycle events that announce them.

For files that become map-shaped: a notification that is announced at the same moment as an event
can be heard there, with the payload of the notification, and without deciding anything. The
others are announced later or at other moments, and have no counterpart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from boathook.config.schema import Document
from boathook.dialects.dialect import Dialect, EventRow
from boathook.terms.events import NOTIFICATION_TIMEOUT, NOTIFICATIONS, Notification

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from boathook.dialects.dialect import Heard, Place, Said, Source


def _row(row: Notification) -> EventRow:
    if row.derived_from is None:
        return EventRow(row.name, None, "no lifecycle event says the same")
    if row.after:
        return EventRow(row.name, None, f"it is announced only once {row.derived_from} was not refused")
    return EventRow(row.name, row.derived_from, timeout=NOTIFICATION_TIMEOUT)


def _payload(heard: Heard, ours: dict[str, Any]) -> dict[str, Any]:
    row = NOTIFICATIONS.get(heard.called)
    facts = {
        "thread_id": ours.get("session_id"),
        "tool_names": [heard.payload["tool_name"]] if "tool_name" in heard.payload else [],
    }
    return {"event": heard.called, **{key: facts[key] for key in (row.keys if row else ()) if key in facts}}


def _answer(_heard: Heard, said: Said) -> Said:
    """Whatever a listener prints changes nothing, and exit status 2 is a failure like any other."""
    return replace(said, code=1 if said.code == 2 else said.code, stdout=b"")


def _nowhere(_root: Path, _home: Path, _environ: Mapping[str, str]) -> tuple[Place, ...]:
    return ()


def _unread(_dialect: Dialect, source: Source) -> Document:
    return Document(source.path, source.scope)


DIALECT: Final = Dialect(
    name="notifications",
    title="Notifications",
    events=tuple(map(_row, NOTIFICATIONS.values())),
    tools=(),
    places=_nowhere,
    read=_unread,
    payload=_payload,
    answer=_answer,
)
