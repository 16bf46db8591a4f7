"""`/hooks`: which handlers are loaded, from where, which are not and why, and how they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boathook.agent.words import lasting
from boathook.config.scopes import count
from boathook.terms.events import EVENTS, NOTIFICATIONS
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boathook.agent.chat.feed import Feed
    from boathook.config.schema import Handler
    from boathook.snapshot import Snapshot


def describe(snapshot: Snapshot, feed: Feed) -> str:
    """Return all of it as text, for 80 columns and more."""
    lines = list(_lines(snapshot, feed))
    return "\n".join(lines) if lines else "No hooks files were found: nothing is configured."


def command_of(snapshot: Snapshot, name: str, source: str) -> str:
    """Return the command of a handler that ran, "" where it is not known any more."""
    handlers = (handler for document in snapshot.documents for handler in document.handlers)
    return next((each.shown for each in handlers if (each.name, each.source) == (name, source)), "")


def _lines(snapshot: Snapshot, feed: Feed) -> Iterator[str]:
    for document in snapshot.documents:
        left = f", {len(document.skipped)} not loaded" if document.skipped else ""
        yield f"{document.scope}  {document.path}  {count(len(document.handlers), 'handler')}{left}"
        for words in dict.fromkeys(skipped.words for skipped in document.skipped):
            yield f"    {words}"
    for event in (*EVENTS, *NOTIFICATIONS):
        rows = [row for handler in snapshot.by_event[event] for row in _handler(event, handler, feed)]
        if rows:
            yield ""
            yield event
            yield from rows
    for document in snapshot.documents:
        for skipped in document.skipped:
            yield f"– {', '.join(skipped.handler.events[:3])}  {excerpt(skipped.handler.shown, 80)}  not loaded ({skipped.why})"


def _handler(event: str, handler: Handler, feed: Feed) -> Iterator[str]:
    matcher = "" if handler.matcher.everything else f"  on {excerpt(handler.matcher.text, 40)}"
    yield f"    {excerpt(handler.shown, 100)}{matcher}"
    runs = feed.runs_of(event, handler.name, handler.source)
    told = (
        "did not run yet"
        if runs is None
        else f"ran {count(runs.count, 'time')}, last {runs.last.status} in {lasting(runs.last.duration_ms)}"
    )
    yield f"        {handler.source}:{handler.line}  {told}"
