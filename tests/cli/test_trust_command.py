"""`boathook trust` as a real program."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from homestead import Homestead, on

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    home = Homestead(tmp_path, monkeypatch)
    home.script(text="#!/bin/sh\necho no >&2\nexit 2\n")
    home.project(on("PreToolUse", "./guard.sh", matcher="Bash"))
    return home


def boathook(here: Homestead, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "boathook", *words],
        cwd=here.root,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def at_a_terminal(here: Homestead, answer: str, *words: str) -> tuple[int, str]:
    """Run the program at a terminal, answer its question, and return its exit code and what it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(here.root)
        os.execv(sys.executable, [sys.executable, "-m", "boathook", *words])
    shown, answered, end = b"", False, time.monotonic() + 40
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
        if b"[y/N]" in shown and not answered:
            os.write(terminal, answer.encode() + b"\n")
            answered = True
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode()


def fired(here: Homestead) -> str | None:
    done = boathook(here, "fire", "PreToolUse", "--json", stdin='{"tool_name": "Bash"}')
    permission: str | None = json.loads(done.stdout)["decision"]["permission"]
    return permission


def test_it_shows_grants_and_revokes(here: Homestead) -> None:
    shown = boathook(here, "trust", "--show")
    assert shown.returncode == 1
    assert "PreToolUse  Bash" in shown.stdout
    assert "covers       guard.sh" in shown.stdout
    assert fired(here) is None
    assert boathook(here, "trust", "--yes").returncode == 0
    assert fired(here) == "deny"
    assert boathook(here, "trust", "--show").returncode == 0
    assert boathook(here, "trust", "--revoke").returncode == 0
    assert boathook(here, "trust", "--revoke").returncode == 1
    assert fired(here) is None


def test_without_a_terminal_it_never_asks_and_never_approves(here: Homestead) -> None:
    done = boathook(here, "trust", stdin="y\n")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert not (here.home / ".boathook").exists()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 1), ("n", 1), ("yes", 0)])
def test_at_a_terminal_it_asks_and_only_a_yes_approves(here: Homestead, answer: str, code: int) -> None:
    status, shown = at_a_terminal(here, answer, "trust")
    assert status == code, shown
    assert (here.home / ".boathook/trust.json").exists() == (code == 0)


def test_after_a_change_it_shows_a_diff(here: Homestead) -> None:
    boathook(here, "trust", "--yes")
    here.script(text="#!/bin/sh\nexit 0\n")
    shown = boathook(here, "trust", "--show")
    assert shown.returncode == 1
    assert "-exit 2" in shown.stdout
    assert "+exit 0" in shown.stdout


def test_for_programs_it_prints_json(here: Homestead) -> None:
    data = json.loads(boathook(here, "trust", "--show", "--json").stdout)
    assert data["state"] == "new"
    (handler,) = data["files"][0]["handlers"]
    assert handler["covers"] == ["guard.sh"]
    boathook(here, "trust", "--yes")
    assert json.loads(boathook(here, "trust", "--list", "--json").stdout) == {str(here.root): "trusted"}


def test_the_list_says_how_every_approved_project_stands(here: Homestead) -> None:
    assert "nothing was approved" in boathook(here, "trust", "--list").stdout
    boathook(here, "trust", "--yes")
    here.script(text="#!/bin/sh\n")
    assert boathook(here, "trust", "--list").stdout.split() == ["changed", str(here.root)]


def test_it_refuses_what_others_may_write_to_with_exit_65(here: Homestead) -> None:
    (here.root / "guard.sh").chmod(0o777)
    done = boathook(here, "trust", "--yes")
    assert done.returncode == 65
    assert "chmod go-w" in done.stderr


def test_a_damaged_record_is_shown_and_refuses_to_be_overwritten(here: Homestead) -> None:
    record = here.home / ".boathook/trust.json"
    record.parent.mkdir()
    record.write_text("garbage")
    assert "is damaged" in boathook(here, "trust", "--show").stdout
    done = boathook(here, "trust", "--yes")
    assert done.returncode == 65
    assert "mv " in done.stderr
    assert record.read_text() == "garbage"


def test_a_project_without_hooks_needs_no_approval(here: Homestead) -> None:
    here.project({})
    done = boathook(here, "trust")
    assert done.returncode == 0
    assert "no hooks of its own" in done.stdout


def test_it_can_be_asked_of_another_folder(here: Homestead) -> None:
    other = here.base / "other"
    other.mkdir()
    assert boathook(here, "trust", str(other)).returncode == 0


def test_headless_runs_say_in_one_line_what_was_skipped(here: Homestead) -> None:
    done = boathook(here, "fire", "PreToolUse", stdin='{"tool_name": "Bash"}')
    (line,) = [line for line in done.stdout.splitlines() if "project-untrusted" in line]
    assert "1 project hook " in line
    assert "boathook trust" in line
