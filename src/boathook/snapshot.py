"""Documents → one immutable `Snapshot`: the ordered handlers of every event, and a digest (contract section 9)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from boathook.terms.decision import Decision
from boathook.terms.events import EVENTS, NOTIFICATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Document, Handler
    from boathook.terms.problem import Problem


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a session runs, whatever is on disk later.

    `handlers` are all of them, also those that are switched off, in configured order;
    `by_event` holds the enabled ones of each event. `problems` were found while reading.
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


def take(documents: Sequence[Document]) -> Snapshot:
    """Take the snapshot of documents that are given in order of reduction."""
    handlers = tuple(handler for document in documents for handler in document.handlers)
    names = (*EVENTS, *NOTIFICATIONS)
    by_event = {
        name: tuple(handler for handler in handlers if handler.enabled and name in handler.events)
        for name in names
    }
    digest = _digest(handlers)
    return Snapshot(
        id=digest,
        documents=tuple(documents),
        handlers=handlers,
        by_event=MappingProxyType(by_event),
        problems=tuple(problem for document in documents for problem in document.problems),
        quiet=MappingProxyType({name: Decision(name, digest) for name in names}),
    )


def _digest(handlers: Sequence[Handler]) -> str:
    """Hash what the handlers mean, so that white space and notes do not change the id."""
    content = [
        {
            "scope": handler.scope,
            "name": handler.name,
            "events": handler.events,
            "matcher": handler.matcher.text,
            "command": handler.command,
            "argv": handler.argv,
            "timeout": handler.timeout,
            "statusMessage": handler.status_message,
            "onFailure": handler.on_failure,
            "passEnv": handler.pass_env,
            "enabled": handler.enabled,
        }
        for handler in handlers
    ]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
