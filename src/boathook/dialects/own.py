"""Handlers of our own files that speak another agent's words: what only that agent's dialect can judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boathook.dialects import named
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boathook.config.schema import Document, Handler


def checked(document: Document) -> Document:
    """Return a document of our own form with the problems that the dialects of its handlers see.

    The handlers stay: one whose `if` cannot be read runs on every call.
    """
    if document.dialect is not None:
        return document
    found = tuple(
        problem
        for handler in document.handlers
        if handler.dialect is not None
        for problem in _problems(handler, handler.dialect)
    )
    return replace(document, problems=(*document.problems, *found)) if found else document


def _problems(handler: Handler, name: str) -> Iterator[Problem]:
    dialect = named(name)
    row = dialect.event(handler.said) if handler.said else None
    if handler.said and (row is None or not {*handler.events} <= {row.ours, *row.more}):
        there = ", ".join(
            each.theirs for each in dialect.events if {*handler.events} <= {each.ours, *each.more}
        )
        yield _problem(
            handler,
            "event-unknown",
            f"{dialect.title} has no event {handler.said!r} at this moment; its handler is told that name all the same.",
            f"Its events here: {there}." if there else "Remove the `dialect`.",
        )
    if handler.condition is not None:
        wrong = dialect.fault(handler.condition)
        if wrong is not None:
            found = f"{wrong}, so this handler runs on every call that its matcher fits."
            yield _problem(handler, "condition-invalid", found, "Mend the `if`.")


def _problem(handler: Handler, code: str, found: str, advice: str) -> Problem:
    return Problem(code, found, advice, file=handler.source, pointer=handler.pointer, line=handler.line)
