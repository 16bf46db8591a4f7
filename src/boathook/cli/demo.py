"""Watch hooks at work: a scripted agent mends a small broken project, offline.

Makes the project in a temporary folder, runs an agent session on it under the
project's own hooks, and checks that what the story promises did happen.

examples:
  boathook demo
  boathook demo --remove    leave nothing behind
  boathook demo --plain     no colours and no drawn symbols

exit status:
  0 the story happened as promised, 1 it did not
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.cli.run import FAILED, colourful, perform

if TYPE_CHECKING:
    import argparse

    from boathook.agent.demo.timeline import Record, Style
    from boathook.agent.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--remove", action="store_true", help="remove the project's folder at the end")
    parser.add_argument("--plain", action="store_true", help="plain text: no colours, no drawn symbols")


def main(args: argparse.Namespace) -> int:
    """Run the demo; 0 when everything that it promises happened."""
    folder = Path(tempfile.mkdtemp(prefix="boathook-demo-")).resolve()
    try:
        return _play(folder, _style(plain=args.plain), keep=not args.remove)
    finally:
        if args.remove:
            shutil.rmtree(folder, ignore_errors=True)


def _play(folder: Path, style: Style, *, keep: bool) -> int:
    from boathook.agent.conversation import Setup
    from boathook.agent.demo import pages, story
    from boathook.agent.demo.timeline import Record, Timeline
    from boathook.agent.output import Output
    from boathook.agent.prompts import one_by_one

    root = story.make_project(folder)
    page = Output(sys.stdout)
    page.line(pages.title(root, style))
    record = Record()
    setup = Setup(
        model=f"scripted:{root / 'script.toml'}",
        cwd=root,
        root=root,
        files=tuple(root / name for name in story.FILES),
    )
    # The session's own files belong to the demo, and `python3` is the one that runs it.
    os.environ["BOATHOOK_HOME"] = str(folder / "state")
    os.environ["PATH"] = os.pathsep.join(
        (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    )
    status = perform(setup, one_by_one([story.PROMPT]), Timeline(page, style, record))
    return _close(page, record, root, status, style, keep=keep)


def _close(page: Output, record: Record, root: Path, status: int, style: Style, *, keep: bool) -> int:
    from boathook.agent.demo import pages, story

    if status not in (0, FAILED):
        return status  # interrupted: there is no story to check
    promises = story.promises(record, root)
    page.line(pages.checked(promises, style))
    page.line(pages.farewell(root, style, keep=keep))
    return 0 if status == 0 and all(promise.kept for promise in promises) else FAILED


def _style(*, plain: bool) -> Style:
    from boathook.agent.demo.timeline import Style

    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return Style(
        width=max(width, 60),
        colour=not plain and colourful(sys.stdout),
        symbols=not plain and encoding.startswith("utf"),
    )
