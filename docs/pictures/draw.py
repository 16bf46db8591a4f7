"""Draws the pictures of the docs from the real programs: `make pictures`.

Each is an SVG of a terminal: the chat and the headless demo, both on the demo's project with
its own hooks and its scripted model.
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from boathook.agent.chat import archive
from boathook.agent.chat.app import ChatApp
from boathook.agent.chat.approval import Card
from boathook.agent.chat.lines import HookLine
from boathook.agent.conversation import Setup
from boathook.agent.demo import story

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

HERE = Path(__file__).parent
PATIENCE = 60.0
WIDTH = 100

PUBLISH = """
[[turn]]
text = "The tests pass. I publish the table."
calls = [{ tool = "execute", args = { command = "git push origin main" } }]

[[turn]]
text = "Then not."
"""


def main() -> None:
    """Draw all of them, in a folder whose name stands in the pictures."""
    folder = Path(tempfile.gettempdir()).resolve() / "boathook"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        draw_demo(folder)
        asyncio.run(draw_chat(folder))
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


def draw_demo(folder: Path) -> None:
    """Draw what `boathook demo` prints on a terminal, but for the commands at its end."""
    command = [sys.executable, "-m", "boathook.cli.main", "demo"]
    wanted = {"TMPDIR": str(folder), "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    printed = on_a_terminal(command, {**os.environ, **wanted})
    text = re.sub(
        r"boathook-demo-\w{8}", "boathook-demo-harbours", printed.partition("Look around,")[0].rstrip()
    )
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - it is no file
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(text))
        save("demo", console.export_svg(title="boathook demo"))


def on_a_terminal(command: list[str], environment: dict[str, str]) -> str:
    """Return what a program prints when it believes that somebody looks."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    printed = b""
    while True:
        try:
            block = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        printed += block
    process.wait()
    return printed.decode().replace("\r\n", "\n")


async def draw_chat(folder: Path) -> None:
    """Draw the chat with a card, and later with the line of a hook opened, in a dark and a light theme."""
    os.environ["HOME"] = str(folder)
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    os.environ.pop("BOATHOOK_HOME", None)
    archive.keep_name("")
    root = story.make_project(folder)
    script = root / "script.toml"
    script.write_text(script.read_text(encoding="utf-8") + PUBLISH, encoding="utf-8")
    os.chdir(root)
    app = ChatApp(Setup("scripted:script.toml", root, root, tuple(map(Path, story.FILES))))
    async with app.run_test(size=(96, 32)) as pilot:
        await until(pilot, lambda: app._work and not app.is_busy)
        app.box.put(story.PROMPT)
        await pilot.press("enter")
        await until(pilot, lambda: app.is_busy)
        await until(pilot, lambda: not app.is_busy)
        denied = next(line for line in app.query(HookLine) if "denied" in str(line.content))
        denied.focus()
        await pilot.press("enter")
        denied.scroll_visible(animate=False, top=True)
        await pilot.pause(0.3)
        save("chat-hooks", app.export_screenshot(title="boathook chat"))
        app.theme = "textual-light"
        await pilot.pause(0.3)
        save("chat-light", app.export_screenshot(title="boathook chat"))
        app.theme = "textual-dark"
        denied.action_open()
        app.box.focus()
        app.box.put("Publish it.")
        await pilot.press("enter")
        await until(pilot, lambda: app.query(Card))
        await pilot.pause(0.5)
        save("chat-approval", app.export_screenshot(title="boathook chat"))
        await pilot.press("n")
        await until(pilot, lambda: not app.is_busy)
    await app.chats.end("other")
    await app.chats.close()


async def until(pilot: Pilot[int], true: Callable[[], object]) -> None:
    """Let the application go on until something is true."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError
        await pilot.pause(0.02)


def save(name: str, svg: str) -> None:
    """Write a picture, without the fonts that it would fetch from elsewhere."""
    path = HERE / f"{name}.svg"
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")
    sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    main()
