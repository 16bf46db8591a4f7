"""Options that several commands share: which hooks files are meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from boathook.dialects import NAMES
from boathook.hooks import Hooks

if TYPE_CHECKING:
    import argparse

    from boathook.terms.report import Observer


def add_hooks_options(parser: argparse.ArgumentParser) -> None:
    """Add `--config`, `--project`, `--from` and `--trust-project-hooks`."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        type=Path,
        help="a hooks file; with it, no other is read (may be given several times)",
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        type=Path,
        help="the project's root (default: where the current folder belongs)",
    )
    add_from_option(parser)
    parser.add_argument(
        "--trust-project-hooks", action="store_true", help="load the project's own hooks, too, this time"
    )


def add_from_option(parser: argparse.ArgumentParser) -> None:
    """Add `--from`, which names other agents."""
    parser.add_argument(
        "--from",
        dest="compat",
        metavar="AGENT",
        action="append",
        choices=NAMES,
        default=[],
        help="read the hooks files of another agent, too; with files, the form that they have: "
        f"{', '.join(NAMES)} (may be given several times)",
    )


def load_hooks(args: argparse.Namespace, observe: Observer | None = None) -> Hooks:
    """Load the hooks that the options name."""
    return Hooks.load(
        files=args.config,
        project=args.project,
        trust_project=args.trust_project_hooks,
        compat=args.compat,
        observe=observe,
    )
