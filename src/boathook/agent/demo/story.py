"""The demo: a small broken project in a folder of its own, one scripted run on it, and what it promised."""

from __future__ import annotations

import importlib.resources
import json
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.agent.demo.timeline import Record

PROMPT: Final = "Make the tests of this tide table pass."
FILES: Final = (".deepagents/hooks.json", ".deepagents/notifications.json")


@dataclass(frozen=True, slots=True)
class Promise:
    """One thing that the story was to show, and whether it happened."""

    words: str
    kept: bool


def make_project(folder: Path) -> Path:
    """Copy the demo's project into `folder` and return its root."""
    root = folder / "tides"
    with importlib.resources.as_file(importlib.resources.files(__package__) / "project") as source:
        shutil.copytree(source, root, ignore=shutil.ignore_patterns("__pycache__"))
    for script in (root / ".deepagents" / "hooks").iterdir():
        # A package may have been unpacked without the bits that make scripts run.
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return root


def promises(record: Record, root: Path) -> list[Promise]:
    """Return what the story promised, checked against the record and against the disk."""
    denied = [moment for moment, decision in record.of("PreToolUse") if decision.permission == "deny"]
    tidied = [decision for _, decision in record.of("PostToolUse") if "Tidied" in " ".join(decision.context)]
    stops = [decision.block for _, decision in record.of("Stop")]
    ends, logged = record.of("SessionEnd"), _logged(root)
    return [
        Promise("The start hook's house rules reached the model.", _knew_the_rules(record)),
        Promise(
            "rm -rf was denied, and old-tables/ is still there.",
            len(denied) == 1 and (root / "old-tables" / "1998.txt").exists(),
        ),
        Promise(
            "An edit was tidied after the fact.", bool(tidied) and "\t" not in (root / "tides.py").read_text()
        ),
        Promise("The Stop hook sent the agent back twice.", stops == [True, True, False]),
        Promise("The tests pass now.", tests_pass(root)),
        Promise(f"{logged} notifications went to a log of their own.", logged == record.heard.total() > 0),
        Promise(
            "The session ended once, and its hook was told.", len(ends) == 1 and bool(ends[0][1].notices)
        ),
    ]


def tests_pass(root: Path) -> bool:
    """Return whether the project's own tests pass, by running them."""
    command = [sys.executable, "-B", "-m", "unittest", "-q"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False).returncode == 0


def _knew_the_rules(record: Record) -> bool:
    given = any("House rules" in " ".join(decision.context) for _, decision in record.of("SessionStart"))
    return given and bool(record.words) and "house rules say" in record.words[0]


def _logged(root: Path) -> int:
    log = root / ".deepagents" / "events.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return sum("event" in json.loads(line) for line in lines)
