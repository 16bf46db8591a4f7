"""`boathook check`, run as the program that it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from boathook.cli.check import github
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

BOATHOOK = [sys.executable, "-m", "boathook", "check"]


class Program:
    """Runs `boathook check` in a project, with a home folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        for each in (self.project / ".git", self.home):
            each.mkdir(parents=True)

    def write(self, hooks: object, name: str = "hooks.json", folder: Path | None = None) -> str:
        path = (folder or self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(hooks if isinstance(hooks, str) else json.dumps({"hooks": hooks}), encoding="utf-8")
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
            timeout=40,
            check=False,
        )

    def json(self, *args: str) -> Any:
        return json.loads(self("--format", "json", *args).stdout)


@pytest.fixture
def check(tmp_path: Path) -> Program:
    return Program(tmp_path)


def on(event: str, command: str, **more: object) -> dict[str, Any]:
    return {event: [{"hooks": [{"type": "command", "command": command}], **more}]}


def test_a_faultless_file_is_told_in_one_line_and_exits_0(check: Program) -> None:
    run = check(check.write(on("Stop", "true")))
    assert (run.returncode, run.stdout) == (0, "1 file, 1 handler: nothing wrong\n")


def test_an_error_is_shown_with_its_line_and_a_caret_and_exits_1(check: Program) -> None:
    text = '{"hooks": {\n  "Stop": [{"hooks": [{"type": "command", "command": "./nothere"}]}]\n}}\n'
    run = check(check.write(text))
    assert run.returncode == 1
    head, line, caret, summary = run.stdout.splitlines()
    assert head.startswith("hooks.json:2:54: error: ")
    assert head.endswith("[script-missing]")
    assert line == '    2 |   "Stop": [{"hooks": [{"type": "command", "command": "./nothere"}]}]'
    assert line[caret.index("^") :].startswith('"./nothere"')
    assert summary == "1 file, 1 handler: 1 error"


def test_the_caret_stands_right_behind_tabs_and_wide_letters(check: Program) -> None:
    run = check(check.write('{"hooks": {"Stop": [{"//": "日本", "hooks":\t7}]}}'))
    _, line, caret, _ = run.stdout.splitlines()
    assert "\t" in line
    before = line[: line.index("7}")]
    assert len(caret) - 1 == len(before) + 2  # two letters that are two columns wide


def test_a_long_line_is_cut_around_its_column(check: Program) -> None:
    groups = [{"hooks": [{"type": "command", "command": "true"}]}] * 40
    bad = {"hooks": [{"type": "command", "command": "./nothere"}]}
    run = check(check.write({"Stop": [*groups, bad, *groups]}), COLUMNS="80")
    _, line, caret, _ = run.stdout.splitlines()
    assert len(line) <= 80
    assert line[caret.index("^") :].startswith('"./nothere"')


def test_warnings_alone_exit_0_and_with_strict_1(check: Program) -> None:
    name = check.write(on("PreToolUse", "true", matcher="bash"))
    assert check(name).returncode == 0
    assert check("--strict", name).returncode == 1
    assert "matcher-case" in check(name).stdout


def test_an_unusable_file_is_shown_and_the_others_are_checked_all_the_same(check: Program) -> None:
    broken = check.write('{"hooks": [,]}', "broken.json")
    other = check.write(on("Stopp", "true"), "other.json")
    found = check.json(broken, other, "nowhere.json")
    assert [(each["file"], each["code"]) for each in found["diagnostics"]] == [
        ("broken.json", "file-syntax"),
        ("nowhere.json", "file-missing"),
        ("other.json", "event-unknown"),
    ]
    assert (found["errors"], found["warnings"]) == (3, 0)
    assert [each["usable"] for each in found["files"]] == [False, True, False]


def test_without_a_file_the_projects_and_the_users_are_checked_approved_or_not(check: Program) -> None:
    check.write(on("Stop", "./project-nothere"), ".deepagents/hooks.json")
    check.write(on("Stop", "./user-nothere"), ".deepagents/hooks.json", check.home)
    found = check.json()
    assert [(each["scope"], each["handlers"]) for each in found["files"]] == [("project", 1), ("user", 1)]
    assert [each["code"] for each in found["diagnostics"]] == ["script-missing"] * 2
    assert found["files"][0]["project"] == str(check.project)


def test_without_any_file_it_says_where_it_looked(check: Program) -> None:
    run = check()
    assert run.returncode == 0
    assert str(check.home / ".deepagents/hooks.json") in run.stdout
    assert str(check.project / ".deepagents/hooks.json") in run.stdout


def test_nothing_that_a_file_names_is_run(check: Program) -> None:
    trace = check.project / "trace"
    check(check.write(on("Stop", f"touch {trace}; $(touch {trace}); `touch {trace}`")))
    assert not trace.exists()


def test_annotations_for_github_stand_at_their_place_one_a_line(check: Program) -> None:
    run = check("--format", "github", check.write(on("PreToolUse", "./nothere", matcher="bash")))
    error, warning = run.stdout.splitlines()
    assert run.returncode == 1
    assert error.startswith("::error file=hooks.json,line=1,col=")
    assert ",title=boathook script-missing::" in error
    assert warning.startswith("::warning file=hooks.json,line=1,col=")


def test_annotations_for_github_are_escaped() -> None:
    problem = Problem("file-missing", "100%\nof a::b,c", file="a:b,c%.json", line=1, column=2)
    assert github(problem) == (
        "::error file=a%3Ab%2Cc%25.json,line=1,col=2,title=boathook file-missing::100%25%0Aof a::b,c"
    )


def test_what_a_file_says_is_shown_and_not_obeyed(check: Program) -> None:
    run = check(check.write('{"hooks": {"\x9b2J\u202eStop": [], "Stop": [{"x\x9b": 1, "hooks": 7}]}}'))
    assert "\x9b" not in run.stdout + run.stderr
    assert "\u202e" not in run.stdout
    assert "\\x9b2J\\u202eStop" in run.stdout


def test_no_colour_goes_into_a_pipe(check: Program) -> None:
    assert "\x1b" not in check(check.write(on("Stopp", "true"))).stdout


def test_an_unknown_format_is_wrong_usage(check: Program) -> None:
    run = check("--format", "xml")
    assert run.returncode == 64
    assert "Try: boathook check --help" in run.stderr


def test_a_file_that_can_be_read_but_once_is_checked(check: Program) -> None:
    command = f"{' '.join(BOATHOOK)} /dev/stdin"
    text = json.dumps({"hooks": {"Stopp": []}})
    run = subprocess.run(
        ["/bin/sh", "-c", f"cat | {command}"],
        input=text,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert "/dev/stdin:1:12: error:" in run.stdout
    assert "event-unknown" in run.stdout
