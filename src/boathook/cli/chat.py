"""Talk with an agent in the terminal, under your hooks.

A tool call that writes, deletes, runs a command or delegates asks for your permission,
unless a hook decides. Hooks that run show what they do; /hooks tells which are loaded.

examples:
  boathook chat --model anthropic:claude-sonnet-4-5
  boathook chat --model scripted:story.toml --config hooks.json
  boathook chat --resume                     # the latest session of this folder

exit status:
  0 left, 1 the model could not be had, 64 wrong usage, 65 unusable configuration or
  script, 130 left with Ctrl-C, 143 terminated
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from boathook.cli.run import FAILED, USAGE, add_setup_options, setup_of
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse

    from boathook.agent.chat.app import Left
    from boathook.agent.conversation import Setup

LATEST: Final = "latest"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_setup_options(parser)
    parser.add_argument(
        "--resume",
        metavar="ID",
        nargs="?",
        const=LATEST,
        help="go on with an earlier session of this folder: the one whose id begins with ID, or the latest",
    )
    parser.add_argument(
        "--theme", metavar="NAME", help="textual-dark, textual-light, … (default: $TEXTUAL_THEME)"
    )


def main(args: argparse.Namespace) -> int:
    """Hold the chat and return its exit status."""
    from textual.theme import BUILTIN_THEMES

    from boathook.agent.models import HOW_TO_CHOOSE

    if not args.model:
        return _complain(HOW_TO_CHOOSE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _complain("chat needs a terminal. Without one: boathook run.")
    setup = setup_of(args)
    if isinstance(setup, str):
        return _complain(setup)
    theme = args.theme or os.environ.get("TEXTUAL_THEME")
    if theme and theme not in BUILTIN_THEMES:
        # Textual reads the variable, too, and dies of a name that it does not know.
        source = "--theme" if args.theme else "TEXTUAL_THEME"
        return _complain(
            f"{source} {theme}: there is no such theme. There are {', '.join(sorted(BUILTIN_THEMES))}."
        )
    resume = None
    if args.resume:
        resume = _session(args.resume, str(setup.cwd))
        if resume is None:
            return _complain(f"no earlier session of {setup.cwd} is called {args.resume!r}.")
    return _hold(setup, resume, theme)


def _hold(setup: Setup, resume: str | None, theme: str | None) -> int:
    from boathook.agent.chat import app
    from boathook.agent.models import ModelError

    try:
        left = app.run(setup, resume=resume, theme=theme)
    except ModelError as error:
        return _complain(str(error), FAILED)
    try:
        _say_goodbye(left)
    except OSError:  # the terminal is gone, and Python must not complain about that at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return left.status


def _say_goodbye(left: Left) -> None:
    for words in left.last_words:
        print(safe(f"boathook: {words}"), file=sys.stderr)
    if left.session_id:
        print(f"To go on with this session: boathook chat --resume {left.session_id[:8]}", flush=True)


def _session(wanted: str, cwd: str) -> str | None:
    from boathook.agent.chat.archive import earlier

    found = (past.session_id for past in earlier(cwd))
    return next((each for each in found if wanted == LATEST or each.startswith(wanted)), None)


def _complain(words: str, status: int = USAGE) -> int:
    print(f"boathook: {words}", file=sys.stderr)
    return status
