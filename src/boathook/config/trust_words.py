"""A review in words: what a person sees before approving a project's hooks."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from boathook.config import records
from boathook.config.scopes import count
from boathook.terms.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boathook.config.evidence import Covered
    from boathook.config.trust import Review, ReviewedFile

HEADS = {
    "nothing": "no hooks of its own",
    "trusted": "approved",
    "new": "not approved",
    "changed": "changed since it was approved",
}

NEVER = "Never covered: programs outside the project, and what the covered files load, start or download themselves."


def describe(review: Review) -> str:
    """Return everything that an approval rests on, safe to print: handlers, files, and what changed."""
    return "\n".join(_lines(review))


def _lines(review: Review) -> Iterator[str]:
    yield f"{safe(review.root)}: {HEADS[review.state]}"
    for file in review.files:
        path = safe(file.evidence.path)
        yield f"\n{path}  {count(len(file.evidence.handlers))}, {HEADS[file.state]}"
        for covered in file.evidence.handlers:
            yield from _handler(covered)
        if not file.evidence.document.usable:
            yield from (f"  {problem.message}" for problem in file.evidence.document.problems)
        yield from changes(file)
    if review.handlers:
        yield f"\n{NEVER}"
    for problem in review.problems:
        yield f"\n{problem.severity}: {problem.message}"


def _handler(covered: Covered) -> Iterator[str]:
    handler = covered.handler
    matcher = "" if handler.matcher.everything else f"  {safe(handler.matcher.text)}"
    off = "" if handler.enabled else "  (switched off)"
    yield f"\n  {', '.join(handler.events)}{matcher}{off}"
    if handler.condition is not None:
        yield f"    if           {safe(handler.condition)}"
    yield f"    runs         {safe(handler.shown)}"
    for name, value in handler.env:
        yield f"    sets         {safe(name)}={safe(value)}"
    for file in covered.files:
        leads = "" if file.real == file.named else f" → {safe(file.real)}"
        yield f"    covers       {safe(file.named)}{leads}"
    for words in covered.uncovered:
        yield f"    not covered  {safe(words)}"
    if handler.env:
        yield "    not covered  what the variables that it sets lead to"


def changes(file: ReviewedFile) -> Iterator[str]:
    """Say what changed in a hooks file and its scripts since they were approved, as a unified diff."""
    before, now = file.before, file.evidence
    if before is None:
        return
    if before.definition != now.sha256:
        yield from _diff(f"{now.path} (what it means)", before.definition, now.data)
    files = now.files
    for name in sorted({*before.files, *files}):
        if name not in files:
            yield f"\n  {safe(name)} was covered, and is no longer"
        elif name not in before.files:
            yield f"\n  {safe(name)} is covered now, and was not before"
        else:
            real, sha256 = before.files[name]
            if real != files[name].real:
                yield f"\n  {safe(name)} leads to {safe(files[name].real)} now, and led to {safe(real)}"
            if sha256 != files[name].sha256:
                yield from _diff(name, sha256, files[name].data)


def _diff(name: str, before: str, now: bytes | None) -> Iterator[str]:
    old = records.copy(before)
    if old is None or now is None or b"\0" in old + now:
        yield f"\n  {safe(name)} changed; there is no text of both to compare"
        return
    left, right = (data.decode("utf-8", "replace").splitlines() for data in (old, now))
    yield ""
    for line in difflib.unified_diff(left, right, f"{name} as approved", f"{name} now", lineterm=""):
        yield f"  {safe(line)}"
