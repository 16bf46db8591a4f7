"""`boathook migrate`: what is written means the same, and nothing is lost in silence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from boathook import Hooks
from boathook.dialects import migration, named
from boathook.dialects.places import read_named
from homestead import Homestead, on, write

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.snapshot import Snapshot

WILD = ("claude", "codex", "gemini", "cursor", "copilot", "kimi")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    return Homestead(tmp_path, monkeypatch)


def boathook(here: Homestead, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "boathook", *arguments],
        cwd=here.root,
        capture_output=True,
        text=True,
        check=False,
    )


def claude(here: Homestead, hooks: object, **more: object) -> Path:
    return write(here.root / ".claude/settings.json", hooks, **more)


def meanings(snapshot: Snapshot) -> list[tuple[object, ...]]:
    return [
        (each.events, each.matcher.names, each.identity[:4], each.condition, each.timeout, each.dialect)
        for each in snapshot.handlers
    ]


def test_what_is_written_runs_as_what_it_came_from(here: Homestead) -> None:
    guard = on("PreToolUse", "cat >&2; exit 2", matcher="Agent|Bash", timeout=7, **{"if": "Bash(rm *)"})
    claude(here, guard)
    run = boathook(here, "migrate", "--from", "claude", "--yes")
    assert (run.returncode, run.stderr) == (0, "")
    before = here.load(compat=["claude"], trust_project=True)
    (here.root / ".claude/settings.json").unlink()
    after = here.load(trust_project=True)
    assert len(before.snapshot.handlers) == 2 * len(after.snapshot.handlers) == 2
    assert set(meanings(before.snapshot)) == set(meanings(after.snapshot))
    for command, permission in (("rm -r x", "deny"), ("ls", None)):
        payload = {"tool_name": "execute", "tool_input": {"command": command}}
        assert after.dispatch_sync("PreToolUse", payload).permission == permission


def test_a_diff_is_shown_and_without_an_answer_nothing_is_written(here: Homestead) -> None:
    claude(here, on("Stop", "true"))
    run = boathook(here, "migrate", "--from", "claude")
    assert run.returncode == 1
    assert '+          "command": "true"' in run.stdout.replace("            ", "          ")
    assert "say --yes" in run.stderr
    assert not (here.root / ".deepagents").exists()
    assert boathook(here, "migrate", "--from", "claude", "--show").returncode == 1
    assert not (here.root / ".deepagents").exists()


def test_what_was_there_stays_a_backup_is_kept_and_a_second_time_adds_nothing(here: Homestead) -> None:
    own = here.project(on("Stop", "own"), description="mine")
    own.chmod(0o640)
    text = own.read_text()
    claude(here, on("Stop", "theirs"))
    assert boathook(here, "migrate", "--from", "claude", "--yes").returncode == 0
    written = json.loads(own.read_text())
    assert written["description"] == "mine"
    (group,) = written["hooks"]["Stop"]
    assert [each["command"] for each in group["hooks"]] == ["own", "theirs"]
    assert own.with_name("hooks.json.bak").read_text() == text
    assert own.stat().st_mode & 0o777 == 0o640
    again = boathook(here, "migrate", "--from", "claude", "--yes")
    assert (again.returncode, json.loads(own.read_text())) == (0, written)
    assert "1 handler there already" in again.stdout


def test_what_cannot_be_carried_over_is_named_and_the_exit_status_says_so(here: Homestead) -> None:
    aside: dict[str, Any] = {"async": True}
    claude(here, {**on("TaskCreated", "true"), **on("Stop", "true"), **on("PreCompact", "x", **aside)})
    run = boathook(here, "migrate", "--from", "claude", "--yes")
    assert run.returncode == 3
    assert "[dialect-guard]" in run.stdout
    assert "[migrate-left]" in run.stdout
    assert list(json.loads((here.root / ".deepagents/hooks.json").read_text())["hooks"]) == ["Stop"]


def test_arguments_with_the_projects_folder_and_odd_characters_stay_what_they_are(here: Homestead) -> None:
    args = ["-c", 'printf "%s|" "$@" > seen', "sh", "${CLAUDE_PROJECT_DIR}/a b", "it's $HOME", ""]
    claude(here, {"Stop": [{"hooks": [{"type": "command", "command": "/bin/sh", "args": args}]}]})
    assert boathook(here, "migrate", "--from", "claude", "--yes").returncode == 0
    written = (here.root / ".deepagents/hooks.json").read_text()
    assert str(here.root.resolve()) not in written
    Hooks.load(project=here.root, trust_project=True).dispatch_sync("Stop", {})
    assert (here.root / "seen").read_text() == f"{here.root}/a b|it's $HOME||"


def test_a_file_that_has_to_be_mended_first_is_not_touched(here: Homestead) -> None:
    claude(here, on("Stop", "true"))
    own = here.project([{"command": ["true"]}])
    text = own.read_text()
    run = boathook(here, "migrate", "--from", "claude", "--yes")
    assert (run.returncode, own.read_text()) == (65, text)
    assert "--from notifications" in run.stderr
    own.write_text('{"hooks": {"Stop": [], "Stop": []}}')
    run = boathook(here, "migrate", "--from", "claude", "--yes")
    assert run.returncode == 65
    assert "stands twice" in run.stderr


def test_the_users_own_files_go_into_the_users_own_file(here: Homestead) -> None:
    write(here.home / ".claude/settings.json", on("Stop", "true"))
    assert boathook(here, "migrate", "--from", "claude", "--user", "--yes").returncode == 0
    assert (here.home / ".deepagents/hooks.json").exists()
    assert not (here.root / ".deepagents").exists()


def test_a_list_of_notifications_becomes_a_map_and_hears_the_same(here: Homestead) -> None:
    heard: list[Any] = [
        {
            "command": ["/bin/sh", "-c", "cat >> heard; echo no; exit 2"],
            "events": ["session.start", "user.prompt"],
        }
    ]
    own = here.user(heard)

    def tell() -> list[str]:
        hooks = here.load()
        for event in ("SessionStart", "UserPromptSubmit"):
            decision = hooks.dispatch_sync(event, {"session_id": "s", "prompt": "x", "source": "startup"})
            assert not decision.block
        text = (here.root / "heard").read_text()
        (here.root / "heard").unlink()
        return text.splitlines()

    before = tell()
    assert boathook(here, "migrate", "--from", "notifications", "--user", "--yes").returncode == 0
    assert isinstance(json.loads(own.read_text())["hooks"], dict)
    assert tell() == before


def test_of_a_list_nothing_is_taken_out_unless_that_was_asked_for(here: Homestead) -> None:
    own = here.user([{"command": ["true"], "events": ["session.start", "tool.use"]}])
    text = own.read_text()
    run = boathook(here, "migrate", "--from", "notifications", "--user", "--yes")
    assert (run.returncode, own.read_text()) == (1, text)
    assert "tool.use: no lifecycle event says the same" in run.stdout
    run = boathook(here, "migrate", "--from", "notifications", "--user", "--yes", "--leave-out")
    assert run.returncode == 3
    assert own.with_name("hooks.json.bak").read_text() == text


def test_a_link_is_followed_and_stays_one(here: Homestead) -> None:
    claude(here, on("Stop", "true"))
    real = write(here.base / "dotfiles/hooks.json", {})
    own = here.root / ".deepagents/hooks.json"
    own.parent.mkdir()
    own.symlink_to(real)
    assert boathook(here, "migrate", "--from", "claude", "--yes").returncode == 0
    assert own.is_symlink()
    assert "true" in real.read_text()


def wild() -> list[Any]:
    folder = os.path.join(os.path.dirname(__file__), "wild")
    files = [
        pytest.param(name, os.path.join(folder, name, file), id=f"{name}/{file}")
        for name in WILD
        if os.path.isdir(os.path.join(folder, name))
        for file in sorted(os.listdir(os.path.join(folder, name)))
    ]
    assert files
    return files


@pytest.mark.parametrize(("name", "path"), wild())
def test_every_handler_of_a_file_in_the_wild_is_written_or_named(
    name: str, path: str, here: Homestead
) -> None:
    document = read_named(name, path, here.root)
    migrated = migration.migrate((document,), None, here.root / "hooks.json", here.root)
    wanted = sum(len(handler.events) for handler in document.handlers)
    left = sum(problem.code == "migrate-left" for problem in migrated.left)
    assert migrated.moved + migrated.known + left == wanted
    written = write(here.root / "written.json", json.loads(migrated.after)["hooks"])
    hooks = Hooks.load(files=[written])
    assert [problem.code for problem in hooks.problems if problem.severity == "error"] == []
    assert {handler.dialect for handler in hooks.snapshot.handlers} <= {name}
    assert {handler.said for handler in hooks.snapshot.handlers} <= {
        "",
        *(row.theirs for row in named(name).events),
    }


def test_a_condition_in_our_own_file_is_judged_too(here: Homestead) -> None:
    here.user(on("PreToolUse", "true", dialect="claude", **{"if": "Bash("}))
    assert [problem.code for problem in here.load().problems] == ["condition-invalid"]
    here.user(on("PreToolUse", "true", dialect="cursor:stop"))
    assert [problem.code for problem in here.load().problems] == ["event-unknown"]
    here.user(on("PreToolUse", "true", **{"if": "Bash"}))
    assert [problem.code for problem in here.load().problems] == ["entry-type"]
    run = boathook(here, "check", str(here.user(on("PreToolUse", "true", dialect="claude", **{"if": "B("}))))
    assert "[condition-invalid]" in run.stdout
