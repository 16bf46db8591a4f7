"""Run one agent session in a folder, under your hooks.

The agent's words go to stdout. What hooks did goes to stderr, one line each. A tool
call that writes, deletes, runs a command or delegates is refused unless a hook allows
it or --approve all is given.

examples:
  boathook run --model anthropic:claude-sonnet-4-5 "Why does the test fail?"
  boathook run --model scripted:story.toml --config hooks.json "Go on"
  echo "Tidy the docs" | boathook run --approve all --json
  boathook run --prompts conversation.txt

exit status:
  0 done, 1 the agent failed, 3 a hook stopped it, 64 wrong usage, 65 unusable
  configuration or script, 130 interrupted, 143 terminated
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.cli.options import add_from_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from boathook.agent.conversation import Setup
    from boathook.agent.surface import Surface

FAILED: Final = 1
USAGE: Final = 64


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="what to do; read from stdin when absent")
    parser.add_argument(
        "--prompts",
        metavar="FILE",
        help="hold a whole conversation: a prompt a line, from a file or, with -, from stdin as they come; "
        "a line that is a JSON string may hold line breaks",
    )
    add_setup_options(parser)
    parser.add_argument(
        "--approve",
        choices=("none", "all"),
        default="none",
        help="what becomes of calls that need a permission and that no hook decided (default: none)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object a line for every moment, handler and decision",
    )


def add_setup_options(parser: argparse.ArgumentParser) -> None:
    """Add what every agent session needs to know: the model, the folder, the hooks."""
    parser.add_argument(
        "--model",
        metavar="M",
        default=os.environ.get("BOATHOOK_MODEL"),
        help="PROVIDER:MODEL, or scripted:FILE (default: $BOATHOOK_MODEL)",
    )
    parser.add_argument("--cwd", metavar="DIR", type=Path, default=None, help="where to work (default: here)")
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        action="append",
        help="a hooks file; may be repeated, and then no other is read",
    )
    add_from_option(parser)
    parser.add_argument(
        "--trust-project-hooks", action="store_true", help="load the project's own hooks for this run"
    )


def main(args: argparse.Namespace) -> int:
    """Run the session and return its exit status."""
    from boathook.agent.models import HOW_TO_CHOOSE

    if not args.model:
        return _complain(HOW_TO_CHOOSE, USAGE)
    setup = setup_of(args, approve_all=args.approve == "all")
    if isinstance(setup, str):
        return _complain(setup, USAGE)
    try:
        prompts = _prompts(args)
    except ValueError as error:
        return _complain(str(error), USAGE)
    return perform(setup, prompts, _surface(as_json=args.json, approve_all=args.approve == "all"))


def perform(setup: Setup, prompts: AsyncIterator[str], surface: Surface) -> int:
    """Hold a session to its end. A model that cannot be had is told in one line; other errors are raised."""
    from boathook.agent import headless
    from boathook.agent.models import ModelError

    try:
        return headless.run(setup, prompts, surface)
    except ModelError as error:
        surface.warned(str(error))
        return FAILED


def colourful(stream: object) -> bool:
    """Return whether to use colours on a stream: a terminal, and NO_COLOR is not set."""
    is_terminal = getattr(stream, "isatty", bool)()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def setup_of(args: argparse.Namespace, *, approve_all: bool = False) -> Setup | str:
    """Return what `add_setup_options` were given, or words for the user about what is wrong with it."""
    from boathook.agent.conversation import Setup
    from boathook.config.scopes import project_root

    cwd = (args.cwd or Path.cwd()).absolute()
    if not cwd.is_dir():
        return f"--cwd {cwd} is not a folder."
    return Setup(
        model=args.model,
        cwd=cwd,
        root=project_root(cwd),
        files=tuple(args.config) if args.config else None,
        trust_project=args.trust_project_hooks,
        approve_all=approve_all,
        compat=tuple(args.compat),
    )


def _prompts(args: argparse.Namespace) -> AsyncIterator[str]:
    """Return where the prompts come from. Raises `ValueError` with words for the user."""
    from boathook.agent.prompts import as_they_come, one_by_one, prompt_of

    if args.prompts is None:
        prompt = _prompt(args.prompt)
        if not prompt.strip():
            raise ValueError("no prompt: give one as the last argument, on stdin or with --prompts FILE.")
        return one_by_one([prompt])
    if args.prompt is not None:
        raise ValueError("give a PROMPT or --prompts, not both.")
    if args.prompts == "-":
        return as_they_come(sys.stdin.buffer)
    try:
        lines = Path(args.prompts).read_bytes().splitlines()
    except OSError as error:
        raise ValueError(f"--prompts {args.prompts} cannot be read: {error.strerror}.") from error
    found = [prompt for prompt in map(prompt_of, lines) if prompt]
    if not found:
        raise ValueError(f"--prompts {args.prompts} holds no prompt: write one a line.")
    return one_by_one(found)


def _prompt(given: str | None) -> str:
    if given is not None:
        return given
    return "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode(errors="replace")


def _surface(*, as_json: bool, approve_all: bool) -> Surface:
    from boathook.agent.jsonlines import JsonSurface
    from boathook.agent.output import Output
    from boathook.agent.plain import PlainSurface

    answers, notes = Output(sys.stdout), Output(sys.stderr)
    if as_json:
        return JsonSurface(answers, notes)
    return PlainSurface(answers, notes, colour=colourful(sys.stderr), approve_all=approve_all)


def _complain(words: str, status: int) -> int:
    print(f"boathook: {words}", file=sys.stderr)
    return status
