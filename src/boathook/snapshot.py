"""Documents → one immutable `Snapshot`: the ordered handlers of every event, and a digest (contract section 9)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from boathook.config.definition import canonical, definition
from boathook.terms.decision import Decision
from boathook.terms.events import EVENTS, NOTIFICATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Document, Handler, Skipped
    from boathook.terms.problem import Problem


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a session runs, whatever is on disk later.

    `handlers` are all of them, also those that are switched off, in configured order;
    `by_event` holds the enabled ones of each event, of equal ones that hear a notification
    only the first. `problems` were found while reading.
    """

    id: str
    documents: tuple[Document, ...]
    handlers: tuple[Handler, ...]
    by_event: Mapping[str, tuple[Handler, ...]]
    problems: tuple[Problem, ...]
    quiet: Mapping[str, Decision]
    """The decision of each event that no handler has anything to say about."""
    selections: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False, compare=False)
    """What matching found before, see `boathook.match`; it follows from the rest."""
    skipped: tuple[Skipped, ...] = ()
    """What stands in the files and is not loaded, with the reason."""

    def places(self, handler: Handler) -> tuple[Handler, ...]:
        """Return every handler that is run as one with this one, itself included, in configured order."""
        return tuple(
            other
            for other in self.handlers
            if other.identity == handler.identity and set(other.events) & set(handler.events)
        )


def take(documents: Sequence[Document], options: Mapping[str, object] | None = None) -> Snapshot:
    """Take the snapshot of documents that are given in order of reduction.

    `options` are what else was asked for while loading and may change behaviour; they are
    part of the id, and plain data.
    """
    handlers = tuple(handler for document in documents for handler in document.handlers)
    by_event = {name: _enabled(handlers, name) for name in EVENTS}
    by_event |= {name: _once(_enabled(handlers, name)) for name in NOTIFICATIONS}
    digest = _digest(handlers, options or {})
    return Snapshot(
        id=digest,
        documents=tuple(documents),
        handlers=handlers,
        by_event=MappingProxyType(by_event),
        problems=tuple(problem for document in documents for problem in document.problems),
        quiet=MappingProxyType({name: Decision(name, digest) for name in by_event}),
        skipped=tuple(skipped for document in documents for skipped in document.skipped),
    )


def _enabled(handlers: Sequence[Handler], event: str) -> tuple[Handler, ...]:
    return tuple(handler for handler in handlers if handler.enabled and event in handler.events)


def _once(handlers: Sequence[Handler]) -> tuple[Handler, ...]:
    """Keep the first of equal handlers. Those of lifecycle events are told apart by matching, too."""
    first: dict[object, Handler] = {}
    for handler in handlers:
        known = first.setdefault(handler.identity, handler)
        if known.pinned and not handler.pinned:
            first[handler.identity] = handler  # whoever names it without an approval needs none
    return tuple(first.values())


def _digest(handlers: Sequence[Handler], options: Mapping[str, object]) -> str:
    """Hash what the handlers mean, so that white space and notes do not change the id.

    Every place of equal handlers counts, and the bytes of every file that was approved.
    """
    content = [
        {
            "scope": handler.scope,
            "name": handler.name,
            "definition": definition(handler),
            "pinned": [pin.sha256 for pin in handler.pinned],
        }
        for handler in handlers
    ]
    text = canonical({"handlers": content, "options": dict(options)})
    return hashlib.sha256(text.encode()).hexdigest()
