"""Handlers of another agent's file → the file of our own form that does the same.

Each handler is written, read again and compared with what it was. Where anything of it would
be lost it is left out, and that is said: what is written means the same, or is not written.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from boathook.config.matcher import DECISION_SECONDS, MATCH_ALL, MatcherError, compile_matcher
from boathook.config.read import read_bytes
from boathook.dialects import named
from boathook.dialects.entry import AnyName
from boathook.terms.events import EVENTS
from boathook.terms.problem import BoathookError, Problem, located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from boathook.config.matcher import Matcher
    from boathook.config.schema import Document, Handler

_ROOT_VARIABLE: Final = '"$CLAUDE_PROJECT_DIR"'


class MigrationError(BoathookError):
    """A file that nothing can be added to; the words say why and what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """What would be written: `after` in the place of `before`, which is None where there is no file.

    `moved` counts the handlers that were written, `known` those that stand there already;
    `left` says of everything else why it is not carried over.
    """

    before: str | None
    after: str
    moved: int
    known: int
    left: tuple[Problem, ...]


def migrate(
    documents: Sequence[Document], before: bytes | None, target: Path, root: Path, *, emptied: bool = False
) -> Migration:
    """Return the file at `target` with the handlers of `documents` added, of a project at `root`.

    `before` are its bytes, None where there is none; `emptied` says that the hooks in it are
    those that are moved. Raises `MigrationError` where the file that is there cannot be added to.
    """
    whole = _existing(before, target, emptied=emptied)
    left = [problem for document in documents for problem in document.problems]
    left += [_left_out(each.handler, each.words) for document in documents for each in document.skipped]
    there = (
        [] if before is None or emptied else [_meaning(each) for each in read_bytes(before, target).handlers]
    )
    moved = known = 0
    for handler in (handler for document in documents for handler in document.handlers):
        for one in _split(handler):
            try:
                entry, said = _entry(one, str(root.resolve()))
            except MatcherError as error:
                left.append(_left_out(one, str(error)))
                continue
            fault = _fault(one, entry, said)
            if fault is not None:
                left.append(_left_out(one, fault))
            elif _meaning(said) in there:
                known += 1
            else:
                _add(whole["hooks"], said, entry)
                there.append(_meaning(said))
                moved += 1
    after = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    text = None if before is None else before.decode("utf-8-sig")
    return Migration(text, after if moved else text or "", moved, known, tuple(left))


def listeners(document: Document) -> Document:
    """Return the entries of a list-shaped file as handlers of the map shape, one for each event.

    What no event announces at the same moment is a problem of the document.
    """
    rows = {row.theirs: row for row in named("notifications").events}
    handlers: list[Handler] = []
    problems = list(document.problems)
    for handler in document.handlers:
        heard = [rows[name] for name in handler.events if name in rows]
        handlers += [
            replace(handler, events=(row.ours,), dialect="notifications", said=row.theirs)
            for row in heard
            if row.ours is not None
        ]
        lost = "; ".join(f"{row.theirs}: {row.why}" for row in heard if row.ours is None)
        if lost:
            problems.append(_left_out(handler, f"not all that it hears has a counterpart ({lost})"))
    return replace(document, handlers=tuple(handlers), problems=tuple(problems))


def _existing(before: bytes | None, target: Path, *, emptied: bool) -> dict[str, Any]:
    if before is None:
        return {"hooks": {}}
    document = read_bytes(before, target)
    doubled = [problem for problem in document.problems if problem.code == "key-duplicate"]
    if not document.usable or doubled:
        faults = doubled or document.problems
        raise MigrationError(f"mend this before anything is added to the file: {located(faults[0])}")
    whole: dict[str, Any] = json.loads(before.decode("utf-8-sig"))
    if emptied:
        whole["hooks"] = {}
    hooks = whole.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise MigrationError(
            f"{target} is a list of notifications, and events need a map. "
            f"To make it one: boathook migrate --from notifications {shlex.quote(str(target))}"
        )
    return whole


def _split(handler: Handler) -> Iterator[Handler]:
    for event in handler.events:
        yield replace(handler, events=(event,))


def _entry(handler: Handler, root: str) -> tuple[dict[str, Any], Handler]:
    """Return a handler as a file of our own form writes it, and what reading it should give."""
    (event,) = handler.events
    said = replace(_as_command(handler, root), matcher=_own_matcher(handler.matcher))
    entry: dict[str, Any] = {"type": "command"}
    if said.argv is not None:
        entry["argv"] = list(said.argv)
    else:
        entry["command"] = said.command
    if handler.timeout != EVENTS[event].timeout:
        entry["timeout"] = _number(handler.timeout)
    if handler.status_message is not None:
        entry["statusMessage"] = handler.status_message
    if handler.on_failure == "block":
        entry["onFailure"] = "block"
    if not handler.enabled:
        entry["enabled"] = False
    if not handler.name.endswith("]"):
        entry["name"] = handler.name
    if handler.dialect is not None:
        row = named(handler.dialect).event_of(event)
        same = row is not None and row.theirs == (handler.said or row.theirs)
        entry["dialect"] = handler.dialect if same else f"{handler.dialect}:{handler.said}"
        said = replace(said, said="" if same else handler.said)
    if handler.condition is not None:
        entry["if"] = handler.condition
    return entry, said


def _as_command(handler: Handler, root: str) -> Handler:
    """Say as a shell would what our form has no field for: variables, and the project's folder in an argument."""
    words = handler.argv
    if words is not None and not any(root in word for word in words) and not handler.env:
        return handler
    line = handler.command if words is None else " ".join(_quoted(word, root) for word in words)
    exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in handler.env)
    return replace(handler, argv=None, command=f"{exports}{line}", env=())


def _quoted(word: str, root: str) -> str:
    parts = word.split(root)
    return _ROOT_VARIABLE.join(shlex.quote(part) if part else "" for part in parts) or "''"


def _number(seconds: float) -> float | int:
    return int(seconds) if seconds == int(seconds) else seconds


def _fault(handler: Handler, entry: dict[str, Any], said: Handler) -> str | None:
    """Say why a handler does not mean the same once it is written and read again; None where it does."""
    if handler.background:
        return "it runs in the background, which our own files do not have"
    group = _group(said, [entry])
    document = read_bytes(json.dumps({"hooks": {handler.events[0]: [group]}}).encode(), "migrated")
    if len(document.handlers) != 1:
        return document.problems[0].message if document.problems else "it could not be read again"
    (again,) = document.handlers
    if _meaning(again) != _meaning(said):
        return "it would mean something else in our own files"
    return None


def _meaning(handler: Handler) -> tuple[object, ...]:
    pattern = handler.matcher.pattern
    matched = (handler.matcher.names, getattr(pattern, "pattern", pattern))
    return (
        handler.events,
        matched,
        handler.identity,
        handler.timeout,
        handler.enabled,
    )


def _group(handler: Handler, entries: list[dict[str, Any]]) -> dict[str, Any]:
    group: dict[str, Any] = {}
    if not handler.matcher.everything:
        group["matcher"] = handler.matcher.text
    return {**group, "hooks": entries}


def _own_matcher(matcher: Matcher) -> Matcher:
    """Return the matcher of our own language that fits the same names, or raise `MatcherError`."""
    if matcher.everything:
        return MATCH_ALL
    if matcher.names is not None:
        text = "|".join(sorted(matcher.names))
        again = compile_matcher(matcher.text)
        exact = again if again.names == matcher.names else compile_matcher(text)
        return exact if exact.names == matcher.names else compile_matcher(_any_of(matcher.names))
    pattern, more = matcher.pattern, []
    if isinstance(pattern, AnyName):
        more = [
            name for name in pattern.others if _found(pattern, name) and not _found(pattern.pattern, name)
        ]
        pattern = pattern.pattern
    text = f"(?:{pattern.pattern})|{_any_of(more)}" if more else str(pattern.pattern)
    found = compile_matcher(text)
    return found if found.pattern is not None else compile_matcher(f"(?:{text})")


def _any_of(names: Iterable[str]) -> str:
    return f"^(?:{'|'.join(map(re.escape, sorted(names)))})$"


def _found(pattern: Any, name: str) -> bool:  # noqa: ANN401 - the library that compiles has no types
    try:
        return pattern.search(name, timeout=DECISION_SECONDS, concurrent=True) is not None
    except TimeoutError:
        return True


def _add(hooks: dict[str, Any], handler: Handler, entry: dict[str, Any]) -> None:
    """Put an entry into the last group of its event if that has the same matcher, else into one of its own."""
    groups: list[Any] = hooks.setdefault(handler.events[0], [])
    fresh = _group(handler, [entry])
    if groups and isinstance(groups[-1], dict):
        same = {key: value for key, value in groups[-1].items() if key != "hooks"}
        if same == {key: value for key, value in fresh.items() if key != "hooks"}:
            groups[-1]["hooks"].append(entry)
            return
    groups.append(fresh)


def _left_out(handler: Handler, words: str) -> Problem:
    return Problem(
        "migrate-left",
        f"{handler.name} is not carried over: {words.rstrip('.')}.",
        file=handler.source,
        pointer=handler.pointer,
        line=handler.line,
    )
