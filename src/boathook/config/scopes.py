"""Which hooks files are read, and in which order (contract section 2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.read import read_file
from boathook.config.schema import Document
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOOKS_FILE: Final = Path(".deepagents", "hooks.json")
MANAGED_FILE: Final = Path("/etc/boathook/hooks.json")
"""Where an operator puts hooks that no one else can switch off."""


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
    return tuple(read_file(path) for path in files)


def found(root: Path, *, trust_project: bool, managed: str | Path | None) -> tuple[Document, ...]:
    """Read the scopes of a session in `root`: managed, project, user."""
    return tuple(_scopes(root, trust_project=trust_project, managed=managed))


def _scopes(root: Path, *, trust_project: bool, managed: str | Path | None) -> Iterator[Document]:
    if managed is not None or MANAGED_FILE.exists():
        yield read_file(managed or MANAGED_FILE, "managed")
    user = Path.home() / HOOKS_FILE
    project = root / HOOKS_FILE
    if project.exists() and not (user.exists() and project.samefile(user)):
        yield read_file(project, "project") if trust_project else _untrusted(project)
    if user.exists():
        yield read_file(user, "user")


def _untrusted(path: Path) -> Document:
    count = len(read_file(path, "project").handlers)
    problem = Problem(
        "project-untrusted",
        f"{count} project hook{'s' if count != 1 else ''} in {path} {'were' if count != 1 else 'was'} not loaded.",
        "Read the file; to run its hooks, pass --trust-project-hooks.",
        file=str(path),
    )
    return Document(str(path), "project", problems=(problem,))
