"""Which project hooks a person has approved (contract section 10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boathook.config.schema import Skipped
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boathook.config.schema import Document


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person approved of one project."""

    root: str


def judged(
    root: Path, documents: Sequence[Document], *, approved: Approval | None, trust_project: bool
) -> tuple[Document, ...]:
    """Return the documents with the project's own silenced as far as nobody approved them."""
    return tuple(
        document if document.scope != "project" or trust_project else _untrusted(document)
        for document in documents
    )


def _untrusted(document: Document) -> Document:
    count = len(document.handlers)
    problem = Problem(
        "project-untrusted",
        f"{count} project hook{'s' if count != 1 else ''} in {document.path} {'were' if count != 1 else 'was'} not loaded.",
        "Read the file; to run its hooks, pass --trust-project-hooks.",
        file=document.path,
    )
    skipped = tuple(Skipped(handler, "untrusted", "nobody approved it") for handler in document.handlers)
    return replace(document, handlers=(), problems=(problem,), skipped=skipped, usable=True)
