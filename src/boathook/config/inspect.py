"""Everything that is wrong with hooks files, found before anything runs: for `boathook check`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config import plugins, scopes
from boathook.config.coverage import cover
from boathook.config.faults import faults
from boathook.config.ownership import allowed, exposed
from boathook.config.parse import Lines, Node, ParseError, parse
from boathook.config.read import read_file
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boathook.config.schema import Document, Handler, Scope

_REFUSING: Final = frozenset({"managed", "project", "user", "plugin"})
"""Scopes whose files are refused when others may write to them."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """One hooks file, the root of the project that its handlers run in, and all its problems in order."""

    document: Document
    root: Path
    text: str
    problems: tuple[Problem, ...]


Judge = Callable[["Document"], "Document"]
"""Adds problems to a document."""


def _as_it_is(document: Document) -> Document:
    return document


def places(root: Path) -> tuple[str, ...]:
    """Return where the hooks files of a session in `root` are looked for, in order."""
    return scopes.Places.of(root).paths()


def found(
    root: Path, environ: Mapping[str, str] = os.environ, documents: Sequence[Document] | None = None
) -> tuple[Inspected, ...]:
    """Inspect the files that a session in `root` finds, approved or not, and those of enabled plugins.

    `documents` are read already, where a caller did.
    """
    if documents is None:
        read = scopes.read_scopes(scopes.Places.of(root))
        documents = scopes.in_order((*read, *plugins.read_enabled(root).documents))
    return tuple(inspect(each, root, environ) for each in documents if not _left_out(each))


def named(
    files: Sequence[Path],
    project: Path | None,
    environ: Mapping[str, str] = os.environ,
    judge: Judge = _as_it_is,
) -> tuple[Inspected, ...]:
    """Inspect files by name; one that lies where a project has its own belongs to that project."""
    each = []
    for path in dict.fromkeys(files):
        root = project or _own_root(path) or scopes.project_root(Path.cwd())
        each.append(inspect(judge(read_file(path, _scope(path, root))), root, environ))
    return tuple(each)


def inspect(document: Document, root: Path, environ: Mapping[str, str] = os.environ) -> Inspected:
    """Inspect one document. Of its commands nothing is run."""
    text = _text(document)
    positions = _Positions(text)
    ran = [
        positions.problem(document, handler, fault.code, fault.found, fault.advice)
        for handler in document.handlers
        if handler.enabled
        for fault in faults(handler, root, environ)
    ]
    problems = dict.fromkeys((*document.problems, *ran, *_writable(document, root)))
    return Inspected(document, root, text, tuple(sorted(problems, key=order)))


def _left_out(document: Document) -> bool:
    """Whether a document is a plugin's that is not enabled."""
    return bool(document.skipped) and all(skipped.why == "plugin-disabled" for skipped in document.skipped)


def order(problem: Problem) -> tuple[str, int, int, str]:
    """Return what problems are sorted by: file, line, column."""
    return (problem.file or "", problem.line or 0, problem.column or 0, problem.code)


def _own_root(path: Path) -> Path | None:
    """Return the project whose own hooks file this is, by its name."""
    path = path.absolute()
    root = path.parents[1] if len(path.parents) > 1 else None
    if root is None or root == Path.home() or root / scopes.HOOKS_FILE != path:
        return None
    return root


def _scope(path: Path, root: Path) -> Scope:
    own = scopes.Places.of(root)
    path = path.absolute()
    known: dict[Path, Scope] = {own.managed: "managed", own.project: "project", own.user: "user"}
    return known.get(path, "given")


def _text(document: Document) -> str:
    """Read a file again for its places and lines; "" where it is no text, or can be read but once."""
    if not Path(document.path).is_file():
        return ""
    try:
        return Path(document.path).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


class _Positions:
    """Finds where in a file a handler's command stands."""

    def __init__(self, text: str) -> None:
        self.lines = Lines(text)
        try:
            self.objects = list(_objects(parse(text), ""))
        except ParseError:
            self.objects = []

    def problem(self, document: Document, handler: Handler, code: str, found: str, advice: str) -> Problem:
        line, column, pointer = handler.line, None, handler.pointer
        for at, node in self.objects:
            # A key that stands twice makes two objects of one pointer; the line tells them apart.
            if at == handler.pointer and self.lines.at(node.offset)[0] == handler.line:
                values = {member.key: member.node for member in node.members}
                key = "argv" if "argv" in values else "command"
                if key in values:
                    line, column = self.lines.at(values[key].offset)
                    pointer = f"{handler.pointer}/{key}"
        return Problem(
            code, found, advice, document.path, pointer, line, column, handler=_called(handler, document)
        )


def _called(handler: Handler, document: Document) -> str | None:
    """Return a handler's name if its author gave it one; else its place says more."""
    generated = handler.name.endswith("]")
    return None if generated and document.path == handler.source else handler.name


def _objects(node: Node, pointer: str) -> Iterator[tuple[str, Node]]:
    if node.kind == "object":
        yield pointer, node
    for member in node.members:
        key = member.key.replace("~", "~0").replace("/", "~1")
        yield from _objects(member.node, f"{pointer}/{key}")
    for index, item in enumerate(node.items):
        yield from _objects(item, f"{pointer}/{index}")


def _writable(document: Document, root: Path) -> Iterator[Problem]:
    """Say which files of a document others may write to; where that keeps it from being loaded, it is an error."""
    if allowed() or not Path(document.path).exists():
        return
    top = _top(document, root)
    covered = [path for handler in document.handlers for path in cover(handler, top, root).files]
    for path in dict.fromkeys((document.path, *covered)):
        problem = exposed(path, top)
        if problem is not None and document.scope in _REFUSING:
            yield problem
        elif problem is not None:
            yield Problem("script-writable", problem.found, problem.advice, file=problem.file)


def _top(document: Document, root: Path) -> Path:
    if document.scope == "user":
        return Path.home()
    return Path(document.path).parent if document.scope == "managed" else root
