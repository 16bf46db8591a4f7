"""Which hooks files are read, in which order, and who may switch off whom (contract section 2)."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.read import read_file
from boathook.config.schema import Document, Skipped
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boathook.config.schema import Scope, Why

HOOKS_FILE: Final = Path(".deepagents", "hooks.json")
MANAGED_FILE: Final = Path("/etc/boathook/hooks.json")
"""Where an operator puts hooks that no one else can switch off."""

DISABLE_VARIABLE: Final = "BOATHOOK_DISABLE"
_ORDER: Final[tuple[Scope, ...]] = ("managed", "project", "user", "plugin", "given")


def project_root(start: str | Path) -> Path:
    """Return the folder that a session in `start` belongs to.

    The nearest folder upwards with a `.git` or a `.deepagents` of its own, else `start`.
    The home folder's `.deepagents` is the user's, and makes no project.
    """
    folder = Path(start).absolute()
    home = Path.home()
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists() or (candidate != home and (candidate / ".deepagents").is_dir()):
            return candidate
    return folder


def given(files: Sequence[str | Path]) -> tuple[Document, ...]:
    """Read the files that a caller handed over; with them, no other scope is read."""
    return switched(tuple(read_file(path) for path in files))


@dataclass(frozen=True, slots=True)
class Places:
    """Where the hooks files of a session are looked for, whether they are there or not."""

    managed: Path
    project: Path
    user: Path

    @classmethod
    def of(cls, root: Path, managed: str | Path | None = None) -> Places:
        """Return the places of a session in `root`."""
        return cls(Path(managed or MANAGED_FILE), root / HOOKS_FILE, Path.home() / HOOKS_FILE)

    def paths(self) -> tuple[str, ...]:
        """Return the places in order of reduction."""
        return (str(self.managed), str(self.project), str(self.user))


def read_scopes(places: Places, *, managed_wanted: bool = False) -> tuple[Document, ...]:
    """Read the managed, the project's and the user's file as they are, as far as they are there.

    `managed_wanted` says that the caller named the managed file: it may not be missing.
    """
    return tuple(_read(places, managed_wanted=managed_wanted))


def _read(places: Places, *, managed_wanted: bool) -> Iterator[Document]:
    if managed_wanted or places.managed.exists():
        yield read_file(places.managed, "managed")
    user = places.user.exists()
    # In the home folder the project's file is the user's own.
    if places.project.exists() and not (user and places.project.samefile(places.user)):
        yield read_file(places.project, "project")
    if user:
        yield read_file(places.user, "user")


def in_order(documents: Sequence[Document]) -> tuple[Document, ...]:
    """Bring documents into the order of reduction; those of one scope stay in theirs."""
    return tuple(sorted(documents, key=lambda document: _ORDER.index(document.scope)))


def switched(documents: Sequence[Document], environ: Mapping[str, str] = os.environ) -> tuple[Document, ...]:
    """Silence what a switch turns off; managed handlers are never turned off."""
    reason = _off(documents, environ)
    if reason is None:
        return tuple(documents)
    return tuple(
        document if document.scope == "managed" else silenced(document, *reason) for document in documents
    )


def _off(documents: Sequence[Document], environ: Mapping[str, str]) -> tuple[Why, str] | None:
    for document in documents:
        if document.managed_only and document.scope == "managed":
            return "managed-only", f"`allowManagedHooksOnly` in {document.path} allows no others"
    if environ.get(DISABLE_VARIABLE, "").strip().lower() in {"1", "true", "yes", "on"}:
        return "disabled", f"{DISABLE_VARIABLE} is set in the environment"
    for document in documents:
        if document.disable_all and document.scope in {"user", "given"}:
            return "disabled", f"`disableAllHooks` is set in {document.path}"
    return None


def silenced(document: Document, why: Why, words: str) -> Document:
    """Return a document without its handlers, which are off for the reason that `words` give."""
    skipped = tuple(Skipped(handler, why, f"{words}.") for handler in document.handlers)
    problems = document.problems
    if skipped:
        found = f"{count(len(skipped))} of this file {'is' if len(skipped) == 1 else 'are'} off: {words}."
        problems = (*problems, Problem("hooks-disabled", found, file=document.path))
    # What is off cannot keep a session from starting either.
    return replace(
        document, handlers=(), skipped=(*document.skipped, *skipped), problems=problems, usable=True
    )


def count(number: int, noun: str = "hook") -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
