"""Find what is wrong with hooks files, before it matters.

Without FILE, the files that a session here would find: the operator's, the project's
(approved or not), yours, and those of enabled plugins. Nothing that they name is run.
"""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.cli.options import add_from_option
from boathook.cli.show import paint_severity
from boathook.config import inspect
from boathook.config.scopes import count, project_root
from boathook.loading import present
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from boathook.config.inspect import Inspected
    from boathook.terms.problem import Problem

FAILED: Final = 1
_GITHUB: Final = {"error": "error", "warning": "warning", "info": "notice"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = (
        "examples:\n"
        "  boathook check\n"
        "  boathook check .deepagents/hooks.json --strict\n"
        "  boathook check --from claude        # what Claude Code's files come to here\n"
        "  boathook check --format github      # annotations in a workflow on GitHub\n"
        "\nThe exit code is 1 when there are errors (with --strict: or warnings), else 0.\n"
    )
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="a hooks file")
    add_from_option(parser)
    parser.add_argument(
        "--project",
        metavar="DIR",
        type=Path,
        help="the project that the handlers run in (default: the one that the file or the current folder belongs to)",
    )
    parser.add_argument(
        "--format", choices=("text", "json", "github"), default="text", help="how to print (default: text)"
    )
    parser.add_argument("--strict", action="store_true", help="let warnings count as errors")


def main(args: argparse.Namespace) -> int:
    """Inspect, print, and say by the exit code whether there are errors."""
    project = None if args.project is None else args.project.absolute()
    root = project or project_root(Path.cwd())
    files = _named(args.files, project, args.compat) if args.files else _found(root, args.compat)
    problems = sorted((each for file in files for each in file.problems), key=inspect.order)
    if args.format == "json":
        print(json.dumps(_as_dict(files, problems), indent=2))
    elif args.format == "github":
        for problem in problems:
            print(github(problem))
    else:
        _print(files, problems, _looked(root, args.compat))
    counted = _counts(problems)
    return FAILED if counted["error"] or (args.strict and counted["warning"]) else 0


def _found(root: Path, compat: Sequence[str]) -> tuple[Inspected, ...]:
    return inspect.found(root, documents=present(root, compat))


def _named(files: Sequence[Path], project: Path | None, compat: Sequence[str]) -> tuple[Inspected, ...]:
    """Inspect files by name, each in the form of the agent in whose place it lies, or that was named."""
    from boathook.dialects import places
    from boathook.dialects.own import checked

    inspected: list[Inspected] = []
    for path in dict.fromkeys(files):
        at = places.recognised(path.absolute(), project)
        if at is None and not compat:
            inspected += inspect.named([path], project, judge=checked)
            continue
        root = project or (at.root if at else project_root(Path.cwd()))
        name = compat[-1] if compat else at.dialect if at else ""
        scope = at.scope if at and at.dialect == name else "given"
        inspected.append(inspect.inspect(places.read_named(name, path, root, scope), root))
    return tuple(inspected)


def _looked(root: Path, compat: Sequence[str]) -> tuple[str, ...]:
    if not compat:
        return inspect.places(root)
    from boathook.dialects import places

    return (*inspect.places(root), *places.find(compat, root).places)


def github(problem: Problem) -> str:
    """Return a problem as a workflow command of GitHub, which makes an annotation of it."""
    places = {"file": _shown_path(problem.file), "line": problem.line, "col": problem.column}
    properties = [f"{key}={_property(str(value))}" for key, value in places.items() if value is not None]
    properties.append(f"title={_property(f'boathook {problem.code}')}")
    return f"::{_GITHUB[problem.severity]} {','.join(properties)}::{_data(problem.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe(text)).replace(":", "%3A").replace(",", "%2C")


def _counts(problems: Sequence[Problem]) -> Counter[str]:
    return Counter(problem.severity for problem in problems)


def _as_dict(files: Sequence[Inspected], problems: Sequence[Problem]) -> dict[str, object]:
    counted = _counts(problems)
    return {
        "files": [
            {
                "path": file.document.path,
                "scope": file.document.scope,
                "dialect": file.document.dialect,
                "project": str(file.root),
                "usable": file.document.usable,
                "handlers": len(file.document.handlers),
            }
            for file in files
        ],
        "errors": counted["error"],
        "warnings": counted["warning"],
        "diagnostics": [problem.as_dict() for problem in problems],
    }


def _print(files: Sequence[Inspected], problems: Sequence[Problem], looked: Sequence[str]) -> None:
    texts = {file.document.path: file.text.split("\n") for file in files}
    for problem in problems:
        print("\n".join(_lines(problem, texts.get(problem.file or "", []))))
    print(_summary(files, problems, looked))


def _lines(problem: Problem, source: Sequence[str]) -> list[str]:
    place = ":".join(
        str(part) for part in (_shown_path(problem.file), problem.line, problem.column) if part is not None
    )
    who = f"{problem.handler}: " if problem.handler else ""
    severity = paint_severity(problem.severity)
    lines = [safe(f"{place}: ") + f"{severity}: {safe(who)}{problem.message} [{problem.code}]"]
    if problem.line is not None and problem.line <= len(source):
        lines += _excerpt(source[problem.line - 1], problem.line, problem.column)
    return lines


def _excerpt(line: str, number: int, column: int | None) -> list[str]:
    """Return the source line, cut to the terminal's width around the column, and a caret under it."""
    gutter = f"{number:>5} | "
    room = max(30, min(shutil.get_terminal_size((80, 24)).columns, 120) - len(gutter) - 2)
    at = (column or 1) - 1
    start = max(0, at - room // 2) if len(line) > room else 0
    before, after = safe(line[start:at]), safe(line[at : start + room].rstrip("\r"))
    before, after = ("…" if start else "") + before, after + ("…" if len(line) > start + room else "")
    shown = [f"{gutter}{before}{after}"]
    if column is not None:
        blank = "".join(char if char == "\t" else " " * _width(char) for char in before)
        shown.append(f"{'':>5} | {blank}^")
    return shown


def _width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def _summary(files: Sequence[Inspected], problems: Sequence[Problem], looked: Sequence[str]) -> str:
    if not files:
        lines = "\n".join(f"  {safe(place)}" for place in looked)
        return f"There is no hooks file. Looked for:\n{lines}"
    handlers = sum(len(file.document.handlers) for file in files)
    checked = f"{count(len(files), 'file')}, {count(handlers, 'handler')}"
    counted = _counts(problems)
    parts = [count(counted[each], each) for each in ("error", "warning") if counted[each]]
    return f"{checked}: {', '.join(parts) or 'nothing wrong'}"


def _shown_path(path: str | None) -> str | None:
    """Return a path as it is read best: below the current folder, relative to it."""
    if path is None or not os.path.isabs(path):  # noqa: PTH117 - a text, which stays one
        return path
    here = os.path.join(os.path.abspath(os.curdir), "")  # noqa: PTH100, PTH118
    return path.removeprefix(here)
