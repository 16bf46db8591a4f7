"""A folder with a scripted session, its hooks and a log of what handlers read; `boathook run` in it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boathook.cli import main as program

LOG = """#!/bin/sh
cat >> "$DEEPAGENTS_PROJECT_DIR/log.jsonl"
"""


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    status: int
    out: str
    err: str

    def rows(self, kind: str | None = None) -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in self.out.splitlines()]
        return [row for row in rows if kind in (None, row["type"])]


class Project:
    """A folder with a script, a hooks file and a log of what handlers read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir(parents=True)
        self.write("log.sh", LOG)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def script(self, text: str) -> None:
        self.write("story.toml", text)

    def hooks(self, hooks: dict[str, Any]) -> None:
        self.write("hooks.json", json.dumps({"hooks": hooks}))

    def notifications(self) -> None:
        self.write("list.json", json.dumps({"hooks": [{"command": ["sh", "log.sh"]}]}))

    def environment(self, **more: str) -> dict[str, str]:
        unwanted = ("NO_COLOR", "BOATHOOK_", "PYTHONDONTWRITEBYTECODE")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
        return {**kept, "HOME": str(self.home), **more}

    def start(self, *args: str, typed: bool = False, **environment: str) -> subprocess.Popen[str]:
        """Start the program; `typed` keeps its stdin open for the test to write to."""
        command = [sys.executable, "-m", "boathook.cli.main", "run", *self.files(), *args]
        return subprocess.Popen(
            command,
            cwd=self.root,
            env={**self.environment(), **self.variables(), **environment},
            stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_here(self, *args: str, stdin: str = "", **environment: str) -> Ended:
        """Run the program in this process, which has paid for the imports already."""
        out, err = io.StringIO(), io.StringIO()
        typed = io.TextIOWrapper(io.BytesIO(stdin.encode()))
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            for key in ("BOATHOOK_HOME", "BOATHOOK_DEPTH"):
                patch.delenv(key, raising=False)
            for key, value in {**self.variables(), **environment}.items():
                patch.setenv(key, value)
            patch.chdir(self.root)
            patch.setattr(sys, "argv", ["boathook", "run", *self.files(), *args])
            patch.setattr(sys, "stdin", typed)
            status = program._guarded()
        return Ended(status, out.getvalue(), err.getvalue())

    def variables(self) -> dict[str, str]:
        return {"HOME": str(self.home), "BOATHOOK_MODEL": "scripted:story.toml"}

    def files(self) -> list[str]:
        return [part for name in ("hooks.json", "list.json") if self.has(name) for part in ("--config", name)]

    def interrupt(self, process: subprocess.Popen[str], sign: str, *numbers: int) -> Ended:
        """Send the first signal once the file `sign` is there, the others once `sign.N` is."""
        for count, number in enumerate(numbers):
            self.await_file(sign if not count else f"{sign}.{count}")
            os.kill(process.pid, number)
        out, err = process.communicate(timeout=50)
        return Ended(process.returncode, out, err)

    def await_there(self, name: str) -> None:
        for _ in range(9000):
            if self.has(name):
                return
            time.sleep(0.005)
        raise AssertionError(f"{name} never appeared")

    def await_file(self, name: str) -> str:
        for _ in range(9000):
            if self.has(name) and (text := (self.root / name).read_text()).strip():
                return text
            time.sleep(0.005)
        raise AssertionError(f"{name} never appeared")

    def has(self, name: str) -> bool:
        return (self.root / name).exists()

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.root / "log.jsonl").read_text().splitlines()]

    def events(self) -> list[str]:
        return [row.get("hook_event_name") or row["event"] for row in self.log()]

    def transcript(self) -> Path:
        [path] = self.home.glob(".boathook/sessions/*/transcript.jsonl")
        return path


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def on(*handlers: dict[str, Any], matcher: str | None = None) -> list[dict[str, Any]]:
    group: dict[str, Any] = {"hooks": list(handlers)}
    return [group if matcher is None else {**group, "matcher": matcher}]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
