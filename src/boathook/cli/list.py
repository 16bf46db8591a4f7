"""Show which handlers are loaded, from where, and which are not and why.

They stand under their events in the order in which their answers count. With --config,
what such a session would load; without, what a session in this folder would.
"""

from __future__ import annotations

import json
import os
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.cli.options import add_hooks_options, load_hooks
from boathook.cli.show import paint, show_problems
from boathook.config.scopes import Places, count
from boathook.moment import row_of
from boathook.terms.events import EVENTS, NOTIFICATIONS
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from boathook.config.schema import Document, Handler
    from boathook.hooks import Hooks
    from boathook.snapshot import Snapshot

_SAID_BY_ROWS: Final = frozenset({"project-untrusted", "hooks-disabled"})
"""Problems that the rows and the files say anyway."""

_SCOPES: Final = ("managed", "project", "user")
"""The scopes of the places where files are looked for."""


@dataclass(frozen=True, slots=True)
class Row:
    """One handler on one event. `state` is `on`, `off`, `duplicate`, or why it is not loaded.

    `same` are the other places that name the same command on this event.
    """

    event: str
    handler: Handler
    state: str
    words: str = ""
    same: tuple[Handler, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether it takes part in its event."""
        return self.state == "on"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = (
        "examples:\n"
        "  boathook list\n"
        "  boathook list --event PreToolUse\n"
        "  boathook list --from claude\n"
        "  boathook list --config hooks.json --json\n"
    )
    add_hooks_options(parser)
    parser.add_argument("--event", metavar="EVENT", help="only the handlers of this event")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Load what the options name, and show it."""
    if args.event is not None:
        row_of(args.event)
    hooks = load_hooks(args)
    listed = [row for row in rows(hooks.snapshot) if args.event in {None, row.event}]
    if args.json:
        print(json.dumps(_as_dict(hooks, listed), indent=2))
        return 0
    _show_files(hooks, {} if args.config is not None else _looked(hooks.root, args.compat))
    _show_rows(listed, args.event)
    shown = [problem for problem in hooks.problems if problem.code not in _SAID_BY_ROWS]
    if shown:
        print()
        show_problems(shown)
    return 0


def rows(snapshot: Snapshot) -> Iterator[Row]:
    """Yield every handler on every event that it is configured for, in the order of running."""
    everything = [
        entry
        for document in snapshot.documents
        for entry in sorted(
            [*((handler, "", "") for handler in document.handlers), *_left_out(document)],
            key=lambda entry: entry[0].line,
        )
    ]
    for event in (*EVENTS, *NOTIFICATIONS):
        firsts: dict[object, Handler] = {}
        for handler, why, words in everything:
            if event not in handler.events:
                continue
            same = tuple(
                other
                for other in snapshot.places(handler)
                if other is not handler and other.enabled and event in other.events
            )
            if why:
                yield Row(event, handler, why, words)
            elif not handler.enabled:
                yield Row(event, handler, "off", '"enabled" is false.')
            else:
                key = (handler.identity, handler.matcher.text)
                first = firsts.setdefault(key, handler)
                yield Row(event, handler, "on" if first is handler else "duplicate", "", same)


def _left_out(document: Document) -> list[tuple[Handler, str, str]]:
    return [(skipped.handler, skipped.why, skipped.words) for skipped in document.skipped]


# ---------------------------------------------------------------------- for programs


def _as_dict(hooks: Hooks, listed: Sequence[Row]) -> dict[str, object]:
    return {
        "root": str(hooks.root),
        "snapshot": hooks.snapshot.id,
        "files": [
            {
                "path": document.path,
                "scope": document.scope,
                "dialect": document.dialect,
                "loaded": len(document.handlers),
                "left_out": len(document.skipped),
            }
            for document in hooks.snapshot.documents
        ],
        "handlers": [_row_as_dict(row) for row in listed],
        "diagnostics": [problem.as_dict() for problem in hooks.problems],
    }


def _row_as_dict(row: Row) -> dict[str, object]:
    handler = row.handler
    return {
        "event": row.event,
        "name": handler.name,
        "state": row.state,
        "why": row.words,
        "scope": handler.scope,
        **_place(handler),
        "matcher": None if handler.matcher.everything else handler.matcher.text,
        "command": handler.command,
        "argv": None if handler.argv is None else list(handler.argv),
        "timeout": handler.timeout,
        "on_failure": handler.on_failure,
        "pass_env": list(handler.pass_env),
        "status_message": handler.status_message,
        "dialect": handler.dialect,
        "if": handler.condition,
        "background": handler.background,
        "same": [_place(other) for other in row.same],
    }


def _place(handler: Handler) -> dict[str, object]:
    return {"file": handler.source, "line": handler.line, "pointer": handler.pointer}


# ---------------------------------------------------------------------- for people


def _looked(root: Path, compat: Sequence[str]) -> dict[str, str]:
    """Return the places where files are looked for → what each is called."""
    looked = dict(zip(Places.of(root).paths(), _SCOPES, strict=True))
    for name in compat:
        from boathook.dialects import named

        places = named(name).places(root, Path.home(), os.environ)
        looked |= {str(path): place.scope for place in places for path in place.files()}
    return looked


def _show_files(hooks: Hooks, looked: Mapping[str, str]) -> None:
    documents = {document.path: document for document in hooks.snapshot.documents}
    print(paint("Files, in order", "bold"))
    for path in dict.fromkeys((*looked, *documents)):
        document = documents.get(path)
        if document is None:
            print(paint(f"  {looked[path]:<8} {_path(path)}  not there", "dim"))
            continue
        print(f"  {document.scope:<8} {_path(path)}  {_loaded(document)}")
        for words in dict.fromkeys(skipped.words for skipped in document.skipped):
            print(paint(_wrapped(words, 11), "yellow"))


def _loaded(document: Document) -> str:
    words = count(len(document.handlers), "handler")
    left = len(document.skipped)
    return words if not left else f"{words}, {left} not loaded"


def _show_rows(listed: Sequence[Row], event: str | None) -> None:
    if not listed:
        print(f"\nNothing is configured{'' if event is None else f' for {event}'}.")
    for events, group in _grouped(listed):
        print(f"\n{paint(_heading(events), 'bold')}")
        number = 0
        for row in group:
            number += row.runs
            _show_row(row, number)


def _grouped(listed: Sequence[Row]) -> list[tuple[tuple[str, ...], list[Row]]]:
    """Put events with the very same rows together: an entry that hears everything is shown once."""
    by_event: dict[str, list[Row]] = {}
    for row in listed:
        by_event.setdefault(row.event, []).append(row)
    groups: dict[object, tuple[tuple[str, ...], list[Row]]] = {}
    for event, group in by_event.items():
        key: object = tuple((id(row.handler), row.state) for row in group) if "." in event else event
        events, _ = groups.get(key, ((), group))
        groups[key] = ((*events, event), group)
    return list(groups.values())


def _heading(events: tuple[str, ...]) -> str:
    if len(events) == len(NOTIFICATIONS):
        return "all notifications"
    lines = [""]
    for event in events:
        if len(lines[-1]) + len(event) > 76:
            lines.append("")
        lines[-1] += f", {event}" if lines[-1] else event
    return ",\n".join(lines)


def _show_row(row: Row, number: int) -> None:
    handler = row.handler
    mark = f"{number:>3}" if row.runs else "  –"
    command = safe(handler.shown.strip()).replace("\n", "\n        ")
    print(f"{mark}  {command if row.runs else paint(command, 'dim')}")
    facts = "  ".join(_facts(row))
    print(f"     {paint(facts, 'dim')}")
    if not row.runs:
        print(paint(_wrapped(_why(row), 5), "yellow"))
    for other in row.same:
        print(f"     {paint(_same(row, other), 'dim')}")


def _facts(row: Row) -> Iterator[str]:
    handler = row.handler
    yield f"{handler.scope} {_path(handler.source)}:{handler.line}"
    if not handler.name.endswith("]"):
        yield f"“{safe(handler.name)}”"
    if not handler.matcher.everything:
        yield f"matcher {safe(handler.matcher.text)}"
    if handler.condition is not None:
        yield f"if {safe(handler.condition)}"
    yield f"{handler.timeout:g} s"
    if handler.background:
        yield "in the background"
    if handler.dialect is not None:
        yield f"as {handler.dialect} has it"
    if handler.on_failure == "block":
        yield "a failure blocks"
    if handler.pass_env:
        yield f"passes {safe(', '.join(handler.pass_env))}"


def _why(row: Row) -> str:
    if row.state == "duplicate":
        return "runs once, in the place of the first that is the same"
    if row.state == "off":
        return f"off: {row.words}"
    return f"not loaded ({row.state})"


def _same(row: Row, other: Handler) -> str:
    same = row.handler.matcher.text == other.matcher.text
    rule = "" if same else f", matcher {safe(other.matcher.text) or '*'}: once where both match"
    return f"also at {_path(other.source)}:{other.line}{rule}"


def _wrapped(words: str, indent: int) -> str:
    blank = " " * indent
    return textwrap.fill(
        safe(words),
        80,
        initial_indent=blank,
        subsequent_indent=blank,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _path(path: str) -> str:
    """Return a path as it is read best: below the current folder, or the home folder, relative to it."""
    each = Path(path)
    here, home = Path(os.path.abspath(os.curdir)), Path.home()  # noqa: PTH100
    if each.is_relative_to(here):
        return safe(str(each.relative_to(here)))
    return safe(f"~/{each.relative_to(home)}" if each.is_relative_to(home) else path)
