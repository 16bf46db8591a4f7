"""`boathook demo` as a real program, and what it does when the story goes wrong."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from boathook.agent.demo import pages, story
from boathook.agent.demo.timeline import Record, Style
from boathook.agent.output import Output
from boathook.cli import demo

if TYPE_CHECKING:
    from pathlib import Path


def play(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    return subprocess.run(
        [sys.executable, "-m", "boathook.cli.main", "demo", *args],
        env={**os.environ, "TMPDIR": str(folder), "COLUMNS": "80", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("demo") / "tmp"
    return folder, play(folder, "--plain")


def test_the_story_happens_as_promised(kept: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, ended = kept
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
    assert ended.stdout.count("    ok ") >= 7
    assert "    NOT " not in ended.stdout


def test_the_timeline_tells_each_kind_of_thing_that_hooks_do(
    kept: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, ended = kept
    for words in (
        "brief.py       added context",
        "Mend the code, never the tests.",
        "Bash  rm -rf old-tables",
        "guard-shell.sh denied",
        "tidy.py        added context",
        "Tidied tides.py",
        "again: tests-pass.sh  not done yet",
        "FAIL: test_exactly_the_margin_is_enough",
        "tests-pass.sh  ok",
        "Fair winds.",
    ):
        assert words in ended.stdout
    assert ended.stdout.count("not done yet") == 2


def test_it_fits_80_columns_but_for_the_paths_of_the_machine(
    kept: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, ended = kept
    wide = [line for line in ended.stdout.splitlines() if len(line) > 80]
    assert [line for line in wide if "boathook-demo-" not in line] == []
    assert ended.stdout.isascii()


def test_what_it_leaves_behind_is_a_mended_project(
    kept: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = kept
    [root] = folder.glob("boathook-demo-*/tides")
    assert story.tests_pass(root)
    assert (root / "old-tables" / "1998.txt").exists()
    assert "\t" not in (root / "tides.py").read_text()
    events = [
        json.loads(line)["event"] for line in (root / ".deepagents/events.jsonl").read_text().splitlines()
    ]
    assert (events.count("session.start"), events.count("session.end")) == (1, 1)
    assert len(list(folder.glob("boathook-demo-*/state/sessions/*/transcript.jsonl"))) == 1


def test_it_ends_with_commands_that_work(kept: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, ended = kept
    [root] = folder.glob("boathook-demo-*/tides")
    assert f"cd {root}" in ended.stdout
    assert "boathook fire PreToolUse --config .deepagents/hooks.json" in ended.stdout
    fired = subprocess.run(
        [
            sys.executable,
            "-m",
            "boathook.cli.main",
            "fire",
            "PreToolUse",
            "--config",
            ".deepagents/hooks.json",
        ],
        cwd=root,
        input='{"tool_name": "Bash", "tool_input": {"command": "rm -rf old-tables"}}',
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert "Nothing is removed by force" in fired.stdout


def test_with_remove_nothing_is_left_behind_and_in_a_pipe_nothing_is_coloured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("BOATHOOK_HOME", "PATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert demo.main(argparse.Namespace(remove=True, plain=False)) == 0
    shown = capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    assert "Removed again" in shown
    assert "\x1b" not in shown


def test_the_project_is_broken_before_anybody_mends_it(tmp_path: Path) -> None:
    root = story.make_project(tmp_path)
    assert not story.tests_pass(root)
    assert all(os.access(script, os.X_OK) for script in (root / ".deepagents/hooks").iterdir())


def test_a_story_that_did_not_happen_exits_1_and_says_which_promise_was_broken(tmp_path: Path) -> None:
    root, page = story.make_project(tmp_path), io.StringIO()
    style = Style(colour=False, symbols=False)
    assert demo._close(Output(page), Record(), root, 0, style, keep=False) == 1
    assert page.getvalue().count("    NOT ") == len(story.promises(Record(), root))


def test_an_interrupted_story_is_not_judged(tmp_path: Path) -> None:
    page = io.StringIO()
    assert demo._close(Output(page), Record(), tmp_path, 130, Style(), keep=False) == 130
    assert page.getvalue() == ""


def test_promises_are_marked_in_colour_only_when_told_so() -> None:
    promises = [story.Promise("kept", kept=True), story.Promise("broken", kept=False)]
    assert pages.checked(promises, Style(colour=False)).splitlines()[2:] == ["    ✓ kept", "    ✗ broken"]
    assert "\x1b[31m✗" in pages.checked(promises, Style(colour=True))
