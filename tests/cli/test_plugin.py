"""`boathook plugin` as a real program."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from homestead import Homestead, commands, on, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    home = Homestead(tmp_path, monkeypatch)
    write(home.base / "guard/hooks/hooks.json", on("PreToolUse", "echo plugin", matcher="Bash"))
    return home


def plugin(here: Homestead, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "boathook", "plugin", *words],
        cwd=here.base,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_a_plugins_life_from_adding_to_removing(here: Homestead) -> None:
    assert "no plugin was added" in plugin(here, "list").stdout
    added = plugin(here, "add", "guard")
    assert added.returncode == 0
    assert "not enabled" in added.stdout
    assert commands(here.load()) == []
    assert plugin(here, "list").stdout.split()[:2] == ["disabled", str(here.base / "guard")]
    plugin(here, "enable", "guard")
    assert commands(here.load()) == ["echo plugin"]
    assert plugin(here, "list").stdout.split() == ["enabled", str(here.base / "guard"), "PreToolUse"]
    plugin(here, "disable", "guard")
    assert commands(here.load()) == []
    plugin(here, "remove", "guard")
    assert "no plugin was added" in plugin(here, "list").stdout


@pytest.mark.parametrize("action", ["add", "enable"])
def test_its_events_and_commands_are_shown_before_it_is_enabled(here: Homestead, action: str) -> None:
    plugin(here, "add", "guard")
    lines = plugin(here, action, "guard").stdout.splitlines()
    assert lines[0] == "guard hooks 1 event with 1 command:"
    assert lines[1].split() == ["PreToolUse", "(Bash)"]
    assert lines[2].strip() == "echo plugin"
    assert len(lines) == 4


def test_yes_adds_and_enables_in_one_step(here: Homestead) -> None:
    assert plugin(here, "add", "--yes", "guard").returncode == 0
    assert commands(here.load()) == ["echo plugin"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("add", "nowhere"), 65, "is not a folder"),
        (("add", "home"), 65, "brings no hooks"),
        (("enable", "guard"), 65, "was not added"),
        (("disable", "guard"), 65, "was not added"),
        (("remove", "guard"), 65, "was not added"),
        (("add",), 64, "required"),
        (("paint", "guard"), 64, "invalid choice"),
    ],
)
def test_wrong_use_is_told_in_words(here: Homestead, words: tuple[str, ...], code: int, says: str) -> None:
    done = plugin(here, *words)
    assert done.returncode == code
    assert says in done.stderr


def test_a_plugin_that_is_gone_can_be_removed(here: Homestead) -> None:
    plugin(here, "add", "--yes", "guard")
    (here.base / "guard").rename(here.base / "moved")
    assert "its folder is gone" in plugin(here, "list").stdout
    assert plugin(here, "remove", "guard").returncode == 0
