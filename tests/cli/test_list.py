"""`boathook list`, run as the program that it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BOATHOOK = [sys.executable, "-m", "boathook"]


class Program:
    """Runs `boathook list` in a project, with a home folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        for each in (self.project / ".git", self.home):
            each.mkdir(parents=True)

    def write(self, hooks: object, name: str = ".deepagents/hooks.json", *, home: bool = False) -> str:
        path = (self.home if home else self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"hooks": hooks}, indent=1), encoding="utf-8")
        return name

    def __call__(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("BOATHOOK")}
        return subprocess.run(
            [*BOATHOOK, *args],
            cwd=self.project,
            env={**clean, "HOME": str(self.home), "BOATHOOK_ALLOW_WRITABLE": "1", **env},
            capture_output=True,
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=40,
            check=False,
        )

    def shown(self, *args: str, **env: str) -> str:
        run = self("list", *args, **env)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def rows(self, *args: str, **env: str) -> list[dict[str, Any]]:
        return list(json.loads(self.shown("--json", *args, **env))["handlers"])


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def on(event: str, *commands: str, **more: object) -> dict[str, Any]:
    return {event: [{"hooks": [{"type": "command", "command": each} for each in commands], **more}]}


def test_handlers_stand_under_their_event_in_the_order_of_running(program: Program) -> None:
    name = program.write({**on("Stop", "a", "b"), **on("PreToolUse", "c", matcher="Bash")}, "hooks.json")
    rows = program.rows("--config", name)
    assert [(row["event"], row["command"], row["state"]) for row in rows] == [
        ("PreToolUse", "c", "on"),
        ("Stop", "a", "on"),
        ("Stop", "b", "on"),
    ]
    assert rows[0]["matcher"] == "Bash"
    assert rows[0]["timeout"] == 600
    assert (rows[0]["file"], rows[0]["scope"]) == ("hooks.json", "given")
    assert rows[0]["line"] > 1


def test_the_projects_come_before_the_users(program: Program) -> None:
    program.write(on("Stop", "theirs"))
    program.write(on("Stop", "mine"), home=True)
    rows = program.rows("--trust-project-hooks")
    assert [(row["scope"], row["command"]) for row in rows] == [("project", "theirs"), ("user", "mine")]


def test_unapproved_hooks_are_listed_with_how_to_approve_them(program: Program) -> None:
    program.write(on("Stop", "theirs"))
    (row,) = program.rows()
    assert row["state"] == "untrusted"
    assert "boathook trust" in row["why"]
    shown = program.shown()
    assert "not loaded (untrusted)" in shown
    assert "--trust-project-hooks" in shown


def test_a_handler_that_is_off_is_listed(program: Program) -> None:
    group = {"hooks": [{"type": "command", "command": "a", "enabled": False}]}
    name = program.write({"Stop": [group]}, "hooks.json")
    (row,) = program.rows("--config", name)
    assert row["state"] == "off"
    assert 'off: "enabled" is false.' in program.shown("--config", name)


def test_a_switch_that_silences_all_is_named_as_the_reason(program: Program) -> None:
    program.write(on("Stop", "mine"), home=True)
    (row,) = program.rows(BOATHOOK_DISABLE="1")
    assert row["state"] == "disabled"
    assert "BOATHOOK_DISABLE" in program.shown(BOATHOOK_DISABLE="1")


def test_equal_handlers_run_once_and_every_place_is_named(program: Program) -> None:
    program.write(on("Stop", "same"), home=True)
    program.write(on("Stop", "same"))
    first, second = program.rows("--trust-project-hooks")
    assert (first["state"], second["state"]) == ("on", "duplicate")
    assert [each["file"] for each in first["same"]] == [second["file"]]
    assert [each["file"] for each in second["same"]] == [first["file"]]
    assert "also at ~/.deepagents/hooks.json:" in program.shown("--trust-project-hooks")


def test_equal_commands_behind_other_matchers_both_take_part(program: Program) -> None:
    groups = [
        *on("PreToolUse", "x", matcher="Bash")["PreToolUse"],
        *on("PreToolUse", "x", matcher="Write")["PreToolUse"],
    ]
    name = program.write({"PreToolUse": groups}, "hooks.json")
    assert [row["state"] for row in program.rows("--config", name)] == ["on", "on"]
    assert "once where both match" in program.shown("--config", name)


def test_one_event_can_be_asked_for(program: Program) -> None:
    name = program.write({**on("Stop", "a"), **on("SessionEnd", "b")}, "hooks.json")
    assert [row["command"] for row in program.rows("--config", name, "--event", "SessionEnd")] == ["b"]
    assert "Nothing is configured for PreCompact." in program.shown("--config", name, "--event", "PreCompact")


def test_an_entry_that_hears_everything_is_shown_once(program: Program) -> None:
    name = program.write([{"command": ["cat"]}], "hooks.json")
    shown = program.shown("--config", name)
    assert "all notifications" in shown
    assert shown.count("  1  cat") == 1
    assert len(program.rows("--config", name)) == 12


def test_an_unknown_event_is_wrong_usage(program: Program) -> None:
    run = program("list", "--event", "Stopp")
    assert run.returncode == 64
    assert "Did you mean 'Stop'?" in run.stderr


def test_an_unusable_file_is_65_as_elsewhere(program: Program) -> None:
    (program.project / "hooks.json").write_text("{")
    run = program("list", "--config", "hooks.json")
    assert run.returncode == 65
    assert "file-syntax" in run.stderr


def test_places_that_hold_no_file_are_named(program: Program) -> None:
    shown = program.shown()
    assert "~/.deepagents/hooks.json  not there" in shown
    assert "Nothing is configured." in shown


def test_a_line_is_no_wider_than_eighty_columns_but_for_commands_and_paths(program: Program) -> None:
    program.write(on("PreToolUse", "guard", matcher="Bash|Write"))
    program.write(on("Stop", "mine"), home=True)
    too_wide = [line for line in program.shown().splitlines() if len(line) > 80]
    assert all("/" in line and " " not in line.strip() for line in too_wide)


def test_what_files_say_is_shown_and_not_obeyed(program: Program) -> None:
    name = program.write(on("PreToolUse", "echo \x1b[2J\u202e", matcher="a\x1b.b"), "hooks.json")
    shown = program.shown("--config", name)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "echo \\x1b[2J\\u202e" in shown


def test_no_handler_runs(program: Program) -> None:
    trace = program.project / "trace"
    program.shown("--config", program.write(on("SessionStart", f"touch {trace}"), "hooks.json"))
    assert not trace.exists()
