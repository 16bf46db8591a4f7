"""`--from` on the command line: what other agents' files come to, in every command that reads hooks."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from homestead import Homestead, on, write

if TYPE_CHECKING:
    from pathlib import Path

GUARD = on("PreToolUse", "echo no >&2; exit 2", matcher="Bash", **{"if": "Bash(rm *)"})
RM = json.dumps({"tool_name": "execute", "tool_input": {"command": "rm x"}})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return Homestead(tmp_path, monkeypatch)


def boathook(here: Homestead, *arguments: str, data: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "boathook", *arguments],
        cwd=here.root,
        input=data,
        capture_output=True,
        text=True,
        check=False,
    )


def printed(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(run.stdout)
    return value


def test_fire_runs_what_stands_there(here: Homestead) -> None:
    write(here.home / ".claude/settings.json", GUARD)
    decision = printed(boathook(here, "fire", "PreToolUse", "--json", "--from", "claude", data=RM))[
        "decision"
    ]
    assert (decision["permission"], decision["reason"]) == ("deny", "no")
    assert printed(boathook(here, "fire", "PreToolUse", "--json", data=RM))["decision"]["permission"] is None


def test_an_agent_that_is_not_known_is_wrong_usage(here: Homestead) -> None:
    run = boathook(here, "list", "--from", "clippy")
    assert run.returncode == 64
    assert "claude" in run.stderr


def test_a_named_file_has_one_form(here: Homestead) -> None:
    path = write(here.base / "some.json", GUARD)
    arguments = ("fire", "PreToolUse", "--config", str(path), "--from", "claude", "--from", "codex")
    run = boathook(here, *arguments, data=RM)
    assert run.returncode == 65
    assert "one form" in run.stderr


def test_list_says_whose_a_handler_is_and_when_it_runs(here: Homestead) -> None:
    path = write(here.home / ".claude/settings.json", GUARD)
    run = boathook(here, "list", "--from", "claude")
    assert "if Bash(rm *)" in run.stdout
    assert "as claude has it" in run.stdout
    assert ".claude/settings.local.json  not there" in run.stdout
    listed = printed(boathook(here, "list", "--json", "--from", "claude"))
    (handler,) = listed["handlers"]
    assert (handler["dialect"], handler["if"], handler["file"]) == ("claude", "Bash(rm *)", str(path))


def test_check_knows_an_agents_file_by_its_place_and_shows_the_line(here: Homestead) -> None:
    path = here.root / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text(
        '{\n  "model": "x",\n  "hooks": {\n    "TaskCreated": [{"hooks": [{"type": "command"}]}]\n  }\n}'
    )
    for arguments in ([str(path)], ["--from", "claude"]):
        run = boathook(here, "check", *arguments)
        assert run.returncode == 1
        assert ".claude/settings.json:4:5: error: 1 handler of TaskCreated" in run.stdout
        assert "[dialect-guard]" in run.stdout
        assert "key-unknown" not in run.stdout


def test_check_finds_a_script_that_is_missing_and_a_condition_that_is_none(here: Homestead) -> None:
    hooks = on("PreToolUse", '"$CLAUDE_PROJECT_DIR"/.claude/gone.sh', **{"if": "Bash("})
    write(here.root / ".claude/settings.local.json", hooks)
    found = printed(boathook(here, "check", "--format", "json", "--from", "claude"))
    assert {each["code"] for each in found["diagnostics"]} == {"script-missing", "condition-invalid"}
    assert all(each["line"] for each in found["diagnostics"])
    (file,) = found["files"]
    assert (file["scope"], file["dialect"]) == ("project", "claude")


def test_trust_shows_and_approves_what_a_project_brings_for_another_agent(here: Homestead) -> None:
    script = here.script(".claude/guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n")
    write(here.root / ".claude/settings.json", on("PreToolUse", '"$CLAUDE_PROJECT_DIR"/.claude/guard.sh'))
    fire = ("fire", "PreToolUse", "--json", "--from", "claude")
    skipped = printed(boathook(here, *fire, data=RM))
    assert [each["code"] for each in skipped["diagnostics"]] == ["project-untrusted"]
    assert boathook(here, "trust").returncode == 0, "there is nothing of our own form to approve"
    shown = boathook(here, "trust", "--from", "claude", "--show")
    assert shown.returncode == 1
    assert ".claude/guard.sh" in shown.stdout
    assert boathook(here, "trust", "--from", "claude", "--yes").returncode == 0
    assert printed(boathook(here, *fire, data=RM))["decision"]["permission"] == "deny"
    assert boathook(here, "trust", "--list").stdout.startswith("trusted")
    script.write_text("#!/bin/sh\nexit 0\n")
    assert boathook(here, "trust", "--list").stdout.startswith("changed")
    assert printed(boathook(here, *fire, data=RM))["decision"]["permission"] is None


def test_a_session_of_the_bundled_agent_runs_them(here: Homestead) -> None:
    write(here.home / ".claude/settings.json", on("PreToolUse", "echo no >&2; exit 2", matcher="Bash"))
    story = here.base / "story.toml"
    story.write_text(
        '[[turn]]\ncalls = [{ tool = "execute", args = { command = "touch made" } }]\n[[turn]]\ntext = "done"\n'
    )
    run = boathook(
        here, "run", "--from", "claude", "--model", f"scripted:{story}", "--approve", "all", "--json", "go"
    )
    assert run.returncode == 0, run.stderr
    assert not (here.root / "made").exists()
    assert "no" in run.stdout
