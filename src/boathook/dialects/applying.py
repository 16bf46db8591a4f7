"""Of the handlers whose matcher fits, those whose dialect has no further objection."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from boathook.dialects import named
from boathook.dialects.dialect import Heard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Handler
    from boathook.terms.events import Event

log = logging.getLogger("boathook")


def applying(
    handlers: Sequence[Handler], row: Event, payload: Mapping[str, Any], root: str
) -> tuple[Handler, ...]:
    """Leave out the handlers of other agents that are for other calls; our own all stay."""
    return tuple(
        handler
        for handler in handlers
        if handler.dialect is None or _applies(heard(handler, row, payload, root))
    )


def heard(handler: Handler, row: Event, payload: Mapping[str, Any], root: str) -> Heard:
    """Return one handler of another agent at a moment."""
    assert handler.dialect is not None
    return Heard(named(handler.dialect), handler, row, payload, root)


def _applies(told: Heard) -> bool:
    event = told.dialect.event(told.called)
    if event is not None and event.tools and told.payload.get("tool_name") not in event.tools:
        return False
    try:
        return told.dialect.applies(told)
    except Exception:
        log.exception("%s: it could not be decided whether it applies, so it runs", told.handler.name)
        return True
