"""Write the hooks of another agent as a hooks file of your own, which does the same.

The commands stay as they are: each handler keeps a `dialect`, so that it hears and is read in
the words that it was written for. What would be written is shown as a diff first; the agent's
own files are never touched, and of the file that is changed a backup is kept. What cannot be
written is named and stays where it is.
"""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.cli.show import paint, show_problems
from boathook.config.read import read_file
from boathook.config.records import write_whole
from boathook.config.scopes import HOOKS_FILE, count, project_root
from boathook.dialects import NAMES, migration, places
from boathook.terms.problem import ConfigError
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from boathook.config.schema import Document
    from boathook.dialects.migration import Migration

NOT_WRITTEN: Final = 1
INCOMPLETE: Final = 3
LISTS: Final = "notifications"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = (
        "examples:\n"
        "  boathook migrate --from claude                 # the project's settings\n"
        "  boathook migrate --from gemini --user --show   # your own, only shown\n"
        "  boathook migrate --from cursor hooks.json --to .deepagents/hooks.json --yes\n"
        "  boathook migrate --from notifications --user   # a list of notifications becomes a map of events\n"
        "\nexit status: 0 all of it stands in the new file, 1 nothing was written,\n"
        "3 written, and something was left out\n"
    )
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="one file, instead of all of them")
    parser.add_argument(
        "--from",
        dest="agent",
        metavar="AGENT",
        required=True,
        choices=(*NAMES, LISTS),
        help=f"whose hooks: {', '.join(NAMES)}; or {LISTS}, for a list-shaped file of your own",
    )
    parser.add_argument(
        "--to", metavar="FILE", type=Path, help="where to write (default: the project's hooks file)"
    )
    parser.add_argument(
        "--project", metavar="DIR", type=Path, help="the project (default: where the current folder belongs)"
    )
    parser.add_argument("--user", action="store_true", help="your own files, and into your own hooks file")
    parser.add_argument(
        "--leave-out", action="store_true", help="write even if that takes something out of the file itself"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="write without asking")
    what.add_argument("--show", action="store_true", help="only show what would be written")


@dataclass(frozen=True, slots=True)
class Move:
    """What is moved where. In place, what is left out is gone from the file; its backup still has it."""

    documents: tuple[Document, ...]
    target: Path
    root: Path
    in_place: bool


def main(args: argparse.Namespace) -> int:
    """Show what would be written, ask, and write it."""
    move = _move(args)
    unusable = [problem for each in move.documents if not each.usable for problem in each.problems]
    if unusable:
        raise ConfigError(unusable)
    before = move.target.read_bytes() if move.target.exists() else None
    migrated = migration.migrate(move.documents, before, move.target, move.root, emptied=move.in_place)
    _show(move, migrated)
    if not migrated.moved:
        return INCOMPLETE if migrated.left and migrated.known else NOT_WRITTEN if migrated.left else 0
    if move.in_place and migrated.left and not args.leave_out:
        sys.stderr.write(
            "boathook: nothing was written, because the above would be gone. To write: --leave-out.\n"
        )
        return NOT_WRITTEN
    if args.show or not (args.yes or _asked()):
        return NOT_WRITTEN
    return _write(move, migrated, before)


def _move(args: argparse.Namespace) -> Move:
    root = (args.project or project_root(Path.cwd())).absolute()
    own = Path.home() / HOOKS_FILE if args.user else root / HOOKS_FILE
    if args.agent == LISTS:
        source = (args.file or own).absolute()
        target = (args.to or source).absolute()
        document = migration.listeners(read_file(source))
        return Move((document,), target, root, in_place=os.path.realpath(source) == os.path.realpath(target))
    documents, user = _theirs(args, root)
    target = args.to or (Path.home() / HOOKS_FILE if user else root / HOOKS_FILE)
    return Move(documents, target.absolute(), root, in_place=False)


def _theirs(args: argparse.Namespace, root: Path) -> tuple[tuple[Document, ...], bool]:
    """Return another agent's documents, and whether they are the user's own."""
    scope = "user" if args.user else "project"
    if args.file is None:
        found = places.find([args.agent], root).documents
        return tuple(document for document in found if document.scope == scope), args.user
    at = places.recognised(args.file.absolute(), root)
    mine = at is not None and at.dialect == args.agent and at.scope == "user"
    document = places.read_named(args.agent, args.file, root, "user" if args.user or mine else "given")
    return (document,), args.user or mine


def _show(move: Move, migrated: Migration) -> None:
    if not move.documents:
        print("There is nothing to migrate: none of the agent's files is there.")
        return
    for line in _diff(move.target, migrated):
        colour = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        print(paint(safe(line), colour))
    show_problems(migrated.left)
    sources = ", ".join(safe(path) for path in dict.fromkeys(each.path for each in move.documents))
    already = f", {count(migrated.known, 'handler')} there already" if migrated.known else ""
    left = f", {count(len(migrated.left), 'remark')}" if migrated.left else ""
    print(f"{sources} → {safe(str(move.target))}: {count(migrated.moved, 'handler')}{already}{left}")


def _diff(target: Path, migrated: Migration) -> Sequence[str]:
    before = (migrated.before or "").splitlines()
    name = "/dev/null" if migrated.before is None else str(target)
    return list(
        difflib.unified_diff(before, migrated.after.splitlines(), name, str(target), lineterm="")
        if migrated.moved
        else ()
    )


def _asked() -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("boathook: nothing was written; without a terminal, say --yes.\n")
        return False
    return input("\nWrite this? [y/N] ").strip().lower() in {"y", "yes"}


def _write(move: Move, migrated: Migration, before: bytes | None) -> int:
    target = Path(os.path.realpath(move.target))
    now = target.read_bytes() if target.exists() else None
    if now != before:
        sys.stderr.write(
            f"boathook: {safe(str(target))} changed meanwhile; nothing was written. Try again.\n"
        )
        return NOT_WRITTEN
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = 0o644 if before is None else target.stat().st_mode & 0o777
    if before is not None:
        backup = _free(target)
        write_whole(backup, before)
        print(f"backup: {safe(str(backup))}")
    write_whole(target, migrated.after.encode())
    target.chmod(mode)
    print(f"written: {safe(str(target))}")
    if target == Path(os.path.realpath(move.root / HOOKS_FILE)):
        print("A project's hooks load once they were approved: boathook trust")
    return INCOMPLETE if migrated.left else 0


def _free(target: Path) -> Path:
    """Return a name for a backup that no other has."""
    names = (target.with_name(f"{target.name}.bak{number or ''}") for number in range(10_000))
    return next(name for name in names if not name.exists())
