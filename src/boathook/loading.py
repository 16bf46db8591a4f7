"""What a caller wants loaded → the snapshot of it, and a watch over its files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.config import scopes
from boathook.config.watch import Watch
from boathook.snapshot import Snapshot, take
from boathook.terms.problem import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boathook.config.schema import Document
    from boathook.config.trust import Approval


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that decides what is loaded; asking twice with the same reads the same places."""

    root: Path
    files: tuple[str | Path, ...] | None
    managed: Path | None
    approved: Approval | None
    trust_project: bool
    compat: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        files: Sequence[str | Path] | None,
        project: str | Path | None,
        managed: str | Path | None,
        approved: Approval | None,
        *,
        trust_project: bool,
        compat: Sequence[str] = (),
    ) -> Wanted:
        """Take the options of a caller; paths that depend on the current folder are fixed here.

        Raises `UnknownDialectError` for an agent that is not known, and where several are named
        for given files.
        """
        here = _current_folder()
        root = Path(here, project) if project is not None else scopes.project_root(here)
        return cls(
            root,
            None if files is None else tuple(files),
            None if managed is None else Path(managed).absolute(),
            approved,
            trust_project,
            _dialects(compat, given=files is not None),
        )


def _dialects(names: Sequence[str], *, given: bool) -> tuple[str, ...]:
    if not names:
        return ()
    from boathook.dialects import UnknownDialectError, named

    known = tuple(dict.fromkeys(named(name).name for name in names))
    if given and len(known) > 1:
        raise UnknownDialectError(
            f"files that are named have one form, not several ({', '.join(known)}): name one agent."
        )
    return known


def _current_folder() -> Path:
    """Return the current folder; where it was deleted, the path that it had."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.environ.get("PWD", "/"))


@dataclass(frozen=True, slots=True)
class Loaded:
    """A snapshot, and the watch that notices when its files change."""

    snapshot: Snapshot
    watch: Watch


def load(wanted: Wanted) -> Loaded:
    """Read the places, judge what may be loaded, take the snapshot; or raise `ConfigError`."""
    if wanted.files is not None:
        documents, places = _given(wanted, wanted.files), tuple(map(str, wanted.files))
    else:
        documents, places = _found(wanted)
    unusable = [problem for document in documents if not document.usable for problem in document.problems]
    if unusable:
        raise ConfigError(unusable)
    absent = dict.fromkeys((place for place in places if not Path(place).exists()), "")
    read = absent | {document.path: document.sha256 for document in documents if document.sha256}
    options: dict[str, object] = {"trust_project": wanted.trust_project, "given": wanted.files is not None}
    if wanted.compat:
        options["compat"] = list(wanted.compat)
    return Loaded(take(documents, options), Watch(read))


def _found(wanted: Wanted) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    places = scopes.Places.of(wanted.root, wanted.managed)
    read = scopes.read_scopes(places, managed_wanted=wanted.managed is not None)
    foreign, theirs = _foreign(wanted)
    plugins, more = _plugins(wanted.root)
    own = (_own(document, wanted.root) for document in (*map(_checked, read), *foreign))
    documents = scopes.in_order((*own, *plugins))
    return scopes.switched(_approved(wanted, documents)), (*places.paths(), *theirs, *more)


def _given(wanted: Wanted, files: Sequence[str | Path]) -> tuple[Document, ...]:
    if not wanted.compat:
        return tuple(map(_checked, scopes.given(files)))
    from boathook.dialects import named, places

    (name,) = wanted.compat
    read = tuple(places.read_named(name, path, wanted.root) for path in files)
    return scopes.switched(named(name).switched(read))


# What follows is imported where it is needed: most sessions have no plugins, no hooks of
# the project, or only given files, and a hook's agent may start many times a minute.


def present(root: Path, compat: Sequence[str] = ()) -> tuple[Document, ...]:
    """Read all that a session in `root` would find, in order, whether it may be loaded or not."""
    foreign: tuple[Document, ...] = ()
    if compat:
        from boathook.dialects import places

        foreign = places.find(compat, root).documents
    read = map(_checked, scopes.read_scopes(scopes.Places.of(root)))
    plugins, _ = _plugins(root)
    return scopes.in_order((*read, *foreign, *plugins))


def project_documents(root: Path, compat: Sequence[str] = ()) -> tuple[Document, ...]:
    """Read what there is to approve of a project: its own hooks file, and those of the named agents."""
    documents = scopes.read_scopes(scopes.Places.of(root))
    if compat:
        from boathook.dialects import places

        documents = (*documents, *places.find(compat, root).documents)
    return tuple(document for document in documents if document.scope == "project")


def _checked(document: Document) -> Document:
    if all(handler.dialect is None for handler in document.handlers):
        return document
    from boathook.dialects.own import checked

    return checked(document)


def _foreign(wanted: Wanted) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    if not wanted.compat:
        return (), ()
    from boathook.dialects import places

    found = places.find(wanted.compat, wanted.root)
    return found.documents, found.places


def _plugins(root: Path) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    from boathook.config import records

    path = records.home() / "plugins.json"
    if not path.exists():
        return (), (str(path),)
    from boathook.config import plugins
    from boathook.dialects.plugin_form import plugin_hooks

    enabled = plugins.read_enabled(root, plugin_hooks(root))
    return tuple(map(_checked, enabled.documents)), enabled.places


def _own(document: Document, root: Path) -> Document:
    """Refuse what others may write to of the operator's and the user's own hooks."""
    if document.scope not in {"user", "managed"}:
        return document
    from boathook.config import exposure

    top = Path.home() if document.scope == "user" else Path(document.path).parent
    return exposure.refused(document, top, root)


def _approved(wanted: Wanted, documents: tuple[Document, ...]) -> tuple[Document, ...]:
    if not any(document.scope == "project" for document in documents):
        return documents
    from boathook.config import trust

    return trust.judged(wanted.root, documents, approved=wanted.approved, trust_project=wanted.trust_project)
