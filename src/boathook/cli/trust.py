"""See, approve and revoke the hooks that a project brings along.

Hooks in a project's own files run only after you approved them. An approval is for what is
there now: the commands, and the bytes of every file in the project that they name. When any
of it changes, the hooks are not loaded until you look again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.cli.options import add_from_option
from boathook.config import trust
from boathook.config.records import RecordError
from boathook.config.scopes import project_root
from boathook.config.trust_words import describe
from boathook.dialects import NAMES
from boathook.loading import project_documents
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse

    from boathook.config.trust import Review


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = (
        "examples:\n"
        "  boathook trust                  # show this project's hooks, and ask\n"
        "  boathook trust --yes            # approve what is there now, without asking\n"
        "  boathook trust --show --json    # for programs\n"
        "  boathook trust --from claude    # and what stands in its files for Claude Code\n"
        "  boathook trust --revoke ~/code/tides\n"
        "  boathook trust --list\n"
        "\nThe exit code is 0 when the project's hooks are approved (or there are none), else 1.\n"
    )
    parser.add_argument(
        "project",
        metavar="DIR",
        nargs="?",
        type=Path,
        help="the project (default: where the current folder belongs)",
    )
    add_from_option(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="approve what is there now, without asking")
    what.add_argument("--show", action="store_true", help="only show")
    what.add_argument("--revoke", action="store_true", help="forget the approval")
    what.add_argument("--list", action="store_true", help="show which projects something was approved of")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Show, approve or revoke."""
    if args.list:
        return _list(as_json=args.json)
    root = project_root(Path.cwd()) if args.project is None else args.project.absolute()
    if args.revoke:
        return _revoke(root)
    review = trust.review(root, project_documents(root, args.compat))
    print(json.dumps(as_dict(review), indent=2) if args.json else describe(review))
    if review.state in {"nothing", "trusted"}:
        return 0
    if args.yes or (not args.show and not args.json and _asked(review)):
        trust.grant(review, always=True)
        sys.stderr.write(f"approved: {safe(review.root)}\n")
        return 0
    return 1


def as_dict(review: Review) -> dict[str, object]:
    """Return a review for programs."""
    return {
        "root": review.root,
        "state": review.state,
        "files": [
            {
                "path": file.evidence.path,
                "state": file.state,
                "handlers": [
                    {
                        "events": covered.handler.events,
                        "matcher": covered.handler.matcher.text,
                        "command": covered.handler.shown,
                        "dialect": covered.handler.dialect,
                        "if": covered.handler.condition,
                        "covers": [each.named for each in covered.files],
                        "not_covered": covered.uncovered,
                    }
                    for covered in file.evidence.handlers
                ],
            }
            for file in review.files
        ],
        "diagnostics": [problem.as_dict() for problem in review.problems],
    }


def _asked(review: Review) -> bool:
    if review.problems:
        return False
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("boathook: not approved; without a terminal, say --yes.\n")
        return False
    return input("\nApprove all of this, until it changes? [y/N] ").strip().lower() in {"y", "yes"}


def _revoke(root: Path) -> int:
    if trust.revoke(root):
        print(f"revoked: {safe(str(root))}")
        return 0
    print(f"nothing was approved of {safe(str(root))}")
    return 1


def _list(*, as_json: bool) -> int:
    roots = trust.approved_roots()
    states = {root: _state(root) for root in roots}
    if as_json:
        print(json.dumps(states, indent=2))
        return 0
    if not roots:
        print("nothing was approved yet. In a project: boathook trust")
    for root, state in states.items():
        print(f"{state:<8}  {safe(root)}")
    return 0


def _state(root: str) -> str:
    try:
        return _approved_state(Path(root)) if Path(root).is_dir() else "gone"
    except (OSError, RecordError):
        return "unknown"


def _approved_state(root: Path) -> str:
    """Return how what was approved stands, whichever agent's files it was."""
    review = trust.review(root, project_documents(root, NAMES))
    states = [file.state for file in review.files if file.before is not None]
    return next((state for state in ("changed", "trusted") if state in states), review.state)
