"""Refusing what others may write to, for the scopes that need no approval of their content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boathook.config.coverage import cover
from boathook.config.ownership import allowed, exposed
from boathook.config.schema import Skipped

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.config.schema import Document, Handler
    from boathook.terms.problem import Problem


def refused(document: Document, top: Path, base: Path) -> Document:
    """Return a document without the handlers that others could change; unusable, if that is the file itself.

    Looked at are the files inside `top` that a command names when it runs in `base`.
    """
    if allowed():
        return document
    problem = exposed(document.path, top)
    if problem is not None:
        return replace(document, handlers=(), problems=(problem,), usable=False)
    kept: list[Handler] = []
    skipped: list[Skipped] = []
    problems: dict[Problem, None] = {}
    for handler in document.handlers:
        found = _script(handler, top, base)
        if found is None:
            kept.append(handler)
        else:
            skipped.append(Skipped(handler, "writable", found.message))
            problems[found.of(handler.name)] = None
    if not skipped:
        return document
    return replace(
        document,
        handlers=tuple(kept),
        skipped=(*document.skipped, *skipped),
        problems=(*document.problems, *problems),
    )


def _script(handler: Handler, top: Path, base: Path) -> Problem | None:
    found = (exposed(path, top) for path in cover(handler, top, base).files)
    return next((problem for problem in found if problem is not None), None)


def warned(document: Document, root: Path) -> Document:
    """Return a document as it is, with a warning for each file that others may write to."""
    if allowed():
        return document
    paths = [document.path, *(path for handler in document.handlers for path in cover(handler, root).files)]
    found = (exposed(path, root) for path in dict.fromkeys(paths))
    warnings = dict.fromkeys(replace(each, code="script-writable") for each in found if each is not None)
    return replace(document, problems=(*document.problems, *warnings))
