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

import sys
from typing import TYPE_CHECKING, Final

from boathook.cli.run import FAILED, USAGE, add_setup_options, setup_of

if TYPE_CHECKING:
    import argparse

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
    from boathook.agent.models import HOW_TO_CHOOSE, ModelError

    if not args.model:
        return _complain(HOW_TO_CHOOSE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _complain("chat needs a terminal. Without one: boathook run.")
    setup = setup_of(args)
    if isinstance(setup, str):
        return _complain(setup)
    from boathook.agent.chat import app

    resume = None
    if args.resume:
        resume = _session(args.resume, str(setup.cwd))
        if resume is None:
            return _complain(f"no earlier session of {setup.cwd} is called {args.resume!r}.")
    if args.theme and args.theme not in app.ChatApp(setup).available_themes:
        return _complain(f"--theme {args.theme}: there are {', '.join(app.ChatApp(setup).available_themes)}.")
    try:
        return app.run(setup, resume=resume, theme=args.theme)
    except ModelError as error:
        return _complain(str(error), FAILED)


def _session(wanted: str, cwd: str) -> str | None:
    from boathook.agent.chat.archive import earlier

    found = (past.session_id for past in earlier(cwd))
    return next((each for each in found if wanted == LATEST or each.startswith(wanted)), None)


def _complain(words: str, status: int = USAGE) -> int:
    print(f"boathook: {words}", file=sys.stderr)
    return status
