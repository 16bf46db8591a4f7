"""Which project hooks a person has approved (contract section 10).

An approval is pinned to content: to what the hooks file means, and to the bytes of every
file of the project that its commands name. A host that wants to ask does this::

    review = trust.review(root)          # shows nothing, runs nothing
    if review.state in {"new", "changed"}:
        ...                              # show describe(review), and ask
        approval = trust.grant(review, always=answer == "always")
        hooks = Hooks.load(project=root, approved=approval)

With ``always`` the approval is recorded in ``~/.boathook/trust.json``, and later sessions
load the hooks by themselves until something changes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from boathook.config import exposure, records, scopes
from boathook.config.evidence import Evidence, gather
from boathook.config.schema import Pin, Skipped
from boathook.terms.problem import BoathookError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.evidence import Covered
    from boathook.config.schema import Document, Handler, Why

State = Literal["nothing", "trusted", "new", "changed"]


class TrustError(BoathookError):
    """An approval that cannot be given; the words say why and what to do."""


@dataclass(frozen=True, slots=True)
class Approved:
    """What was approved of one hooks file: its definition, and name → (where it leads, digest)."""

    definition: str
    files: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, evidence: Evidence) -> Approved:
        """Return the approval of what is there now."""
        files = {name: (file.real, file.sha256) for name, file in evidence.files.items()}
        return cls(evidence.sha256, files)


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person approved of the project at `root` (links resolved): hooks file → its content."""

    root: str
    files: Mapping[str, Approved]


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One hooks file as it is now, beside what was approved of it before, if anything was."""

    evidence: Evidence
    before: Approved | None

    @property
    def state(self) -> State:
        """How it stands."""
        return _state(self.evidence, self.before)


@dataclass(frozen=True, slots=True)
class Review:
    """What a person has to look at before approving a project's hooks; see `describe`.

    `problems` keep an approval from being given, or say that earlier ones do not count.
    """

    root: str
    files: tuple[ReviewedFile, ...]
    problems: tuple[Problem, ...]

    @property
    def state(self) -> State:
        """`nothing` to approve, all `trusted`, `changed` since an approval, or `new`."""
        states = [file.state for file in self.files]
        for state in ("changed", "new", "trusted"):
            if state in states:
                return state
        return "nothing"

    @property
    def handlers(self) -> tuple[Covered, ...]:
        """Every handler that is there to be approved, with what approving it covers."""
        return tuple(handler for file in self.files for handler in file.evidence.handlers)


def record() -> records.RecordFile:
    """Return the file that approvals are recorded in: real root → hooks file → what was approved."""
    return records.RecordFile(records.home() / "trust.json", "projects")


def review(root: str | Path, documents: Sequence[Document] | None = None) -> Review:
    """Look at the project's hooks as they are now. `documents` are read already, where a caller did."""
    root = Path(root).absolute()
    if documents is None:
        documents = scopes.read_scopes(scopes.Places.of(root))
    before, problems = _before(root, None)
    files = [
        ReviewedFile(evidence, before.get(evidence.path))
        for evidence in (gather(root, document) for document in documents if document.scope == "project")
        if evidence.handlers or not evidence.document.usable
    ]
    exposures = [problem for file in files for problem in file.evidence.exposures]
    return Review(os.path.realpath(root), tuple(files), (*problems, *dict.fromkeys(exposures)))


def grant(reviewed: Review, *, always: bool) -> Approval:
    """Approve what was reviewed, exactly as it was then: recorded for good, or for whom the result is handed to.

    Raises `TrustError` where nothing can be approved, `RecordError` where it cannot be recorded.
    """
    refused = [problem for file in reviewed.files for problem in file.evidence.exposures]
    broken = [
        problem
        for file in reviewed.files
        if not file.evidence.document.usable
        for problem in file.evidence.document.problems
    ]
    if refused or broken:
        raise TrustError("\n".join(problem.message for problem in (*refused, *broken)))
    approval = Approval(
        reviewed.root, {file.evidence.path: Approved.of(file.evidence) for file in reviewed.files}
    )
    if always:
        _record(reviewed, approval)
    return approval


def revoke(root: str | Path) -> bool:
    """Forget what was approved of a project; false where nothing was."""
    known = []

    def forget(projects: dict[str, Any]) -> None:
        known.append(projects.pop(os.path.realpath(root), None))
        records.drop_copies(_digests(projects))

    record().change(forget)
    return known[0] is not None


def approved_roots() -> tuple[str, ...]:
    """Return the roots of the projects of which something was approved, or raise `RecordError`."""
    return tuple(sorted(record().read()))


def judged(
    root: Path, documents: Sequence[Document], *, approved: Approval | None, trust_project: bool
) -> tuple[Document, ...]:
    """Return the documents, the project's own with only what was approved.

    Approved handlers are pinned to the files that they were approved with. With
    `trust_project` they are loaded unseen and unpinned.
    """
    if not any(document.scope == "project" for document in documents):
        return tuple(documents)
    before, problems = ({}, ()) if trust_project else _before(root, approved)
    return tuple(
        document
        if document.scope != "project"
        else exposure.warned(document, root)
        if trust_project
        else _judge(gather(root, document), before, problems)
        for document in documents
    )


def _before(root: str | Path, approved: Approval | None) -> tuple[dict[str, Approved], tuple[Problem, ...]]:
    """Return what was approved of a project before, and what is wrong with the record."""
    real = os.path.realpath(root)
    problems: tuple[Problem, ...] = ()
    before = {}
    try:
        before = _parsed(record().read().get(real, {}))
    except records.RecordError as error:
        problems = (Problem("trust-store", str(error), file=str(record().path)),)
    if approved is not None and approved.root == real:
        before |= approved.files
    return before, problems


def _parsed(entry: object) -> dict[str, Approved]:
    """Read one project's entry; what has not the right form approves nothing."""
    parsed = {}
    for path, said in entry.items() if isinstance(entry, dict) else ():
        try:
            files = {
                name: (str(file["leads_to"]), str(file["sha256"])) for name, file in said["files"].items()
            }
            parsed[path] = Approved(str(said["definition"]), files)
        except (TypeError, KeyError, AttributeError):
            continue
    return parsed


def _state(evidence: Evidence, before: Approved | None) -> State:
    if before is None:
        return "new"
    return "trusted" if evidence.document.usable and before == Approved.of(evidence) else "changed"


def _judge(evidence: Evidence, before: Mapping[str, Approved], problems: tuple[Problem, ...]) -> Document:
    document = evidence.document
    if document.usable and not evidence.handlers:
        return document
    state = _state(evidence, before.get(evidence.path))
    if state == "trusted" and evidence.exposures:
        return _skipped(evidence, "writable", "others may write to a file that they run", evidence.exposures)
    if state == "trusted":
        handlers = tuple(_pinned(covered, evidence.root) for covered in evidence.handlers)
        return replace(document, handlers=handlers, problems=(*document.problems, *problems))
    if problems:
        return _skipped(evidence, "store-damaged", "the record of approvals does not count", problems)
    if state == "changed":
        return _skipped(evidence, "changed", "what they run changed since it was approved")
    return _skipped(evidence, "untrusted", "nobody has approved them")


def _pinned(covered: Covered, root: str) -> Handler:
    pins = tuple(
        Pin(str(Path(root, file.named)), str(Path(root, file.real)), file.sha256) for file in covered.files
    )
    return replace(covered.handler, pinned=pins)


def _skipped(evidence: Evidence, why: Why, words: str, problems: Sequence[Problem] = ()) -> Document:
    """Return the document without its handlers, and the one line that says so."""
    document, number = evidence.document, len(evidence.handlers)
    what = f"{scopes.count(number, 'project hook')} in {document.path} {'was' if number == 1 else 'were'} not loaded"
    if not document.usable:
        words = f"the file cannot be used ({document.problems[0].message.rstrip('.')})"
    agent = f" --from {document.dialect}" if document.dialect else ""
    advice = f"To see and approve: boathook trust {_quoted(evidence.root)}{agent}; for one run: --trust-project-hooks."
    notice = Problem("project-untrusted", f"{what}: {words}.", advice, file=document.path)
    skipped = tuple(Skipped(covered.handler, why, f"{words}. {advice}") for covered in evidence.handlers)
    return replace(document, handlers=(), problems=(*problems, notice), skipped=skipped, usable=True)


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)


def _record(reviewed: Review, approval: Approval) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    entry = {
        path: {
            "approved": now,
            "definition": approved.definition,
            "files": {
                name: {"leads_to": real, "sha256": sha256} for name, (real, sha256) in approved.files.items()
            },
        }
        for path, approved in approval.files.items()
    }

    def add(projects: dict[str, Any]) -> None:
        # The copies first: a record never names one that was not kept.
        records.keep_copies(_contents(reviewed))
        projects[approval.root] = {**_as_dict(projects.get(approval.root)), **entry}
        records.drop_copies(_digests(projects))

    record().change(add)


def _as_dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _contents(reviewed: Review) -> list[bytes]:
    files = [file for each in reviewed.files for file in each.evidence.files.values()]
    texts = [each.evidence.data for each in reviewed.files]
    return [*texts, *(file.data for file in files if file.data is not None)]


def _digests(projects: Mapping[str, Any]) -> set[str]:
    known = [approved for entry in projects.values() for approved in _parsed(entry).values()]
    return {each.definition for each in known} | {
        sha256 for each in known for _, sha256 in each.files.values()
    }
