"""Twenty hooks files in the shapes that five agents' users have, run unchanged with real commands.

Each lies where its agent would find it, and is fired at. What of it was dropped is a table, which
docs/dialects.md shows as it is here.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boathook import Hooks
from boathook.dialects import migration
from boathook.dialects.places import read_named
from homestead import Homestead

WILD = Path(__file__).parent / "wild"
DOCS = Path(__file__).parents[2] / "docs" / "dialects.md"
PLACES = {
    "codex": "{home}/.codex/{name}",
    "gemini": "{root}/.gemini/settings.json",
    "cursor": "{root}/.cursor/hooks.json",
    "copilot": "{root}/.github/hooks/{name}",
    "kimi": "{home}/.kimi/config.toml",
}

DROPPED = {
    # File → the codes of what its reading says, in the order of the file.
    "codex/bash-guard.json": ("dialect-note",),
    "codex/config.toml": ("dialect-note", "dialect-guard"),
    "codex/patch-guard.json": (),
    "codex/session.json": ("dialect-entry",),
    "copilot/folders.json": ("dialect-entry", "dialect-guard"),
    "copilot/pascal.json": (),
    "copilot/policy.json": (),
    "copilot/turns.json": ("dialect-entry",),
    "cursor/prompt-and-stop.json": ("dialect-note", "dialect-guard"),
    "cursor/read-guard.json": ("dialect-entry", "dialect-entry"),
    "cursor/shell-guard.json": (),
    "cursor/tools.json": ("event-unknown",),
    "gemini/prompt.json": ("dialect-guard",),
    "gemini/review.json": (),
    "gemini/shell-guard.json": ("dialect-guard",),
    "gemini/write-guard.json": (),
    "kimi/prompts.toml": (),
    "kimi/shell-guard.toml": (),
    "kimi/turns.toml": ("dialect-entry", "event-unknown"),
    "kimi/two-guards.toml": (),
}


def tool(name: str, /, **arguments: object) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": arguments, "tool_use_id": "t1"}


@dataclass(frozen=True)
class Shot:
    """One event at one file, and what has to come of it."""

    file: str
    event: str
    payload: dict[str, Any]
    permission: str | None = None
    block: bool = False
    says: str = ""


SHOTS = (
    Shot("codex/bash-guard.json", "PreToolUse", tool("execute", command="git push --force"), "deny", True, "need a person"),
    Shot("codex/bash-guard.json", "PreToolUse", tool("execute", command="git push")),
    Shot("codex/bash-guard.json", "PreToolUse", tool("read_file", file_path="push --force")),
    Shot("codex/patch-guard.json", "PreToolUse", tool("write_file", file_path="poetry.lock", content="x"), "deny", True, "apply_patch: run poetry lock"),
    Shot("codex/patch-guard.json", "PreToolUse", tool("edit_file", file_path="poetry.lock", old_string="a", new_string="b"), "deny", True, "run poetry lock"),
    Shot("codex/patch-guard.json", "PreToolUse", tool("edit_file", file_path="a.py", old_string="a", new_string="b")),
    Shot("codex/patch-guard.json", "PermissionRequest", tool("execute", command="ls"), "deny", True, "never at night"),
    Shot("codex/config.toml", "PreToolUse", tool("execute", command="curl x"), "deny", True, "No downloads"),
    Shot("codex/config.toml", "PreToolUse", tool("write_file", file_path="a", content="curl x"), "deny", True, "No downloads"),
    Shot("codex/config.toml", "PreToolUse", tool("execute", command="ls")),
    Shot("codex/config.toml", "UserPromptSubmit", {"prompt": "merge"}, says="frozen until Monday"),
    Shot("codex/session.json", "SessionStart", {"source": "startup"}, says="CONTRIBUTING"),
    Shot("codex/session.json", "SessionStart", {"source": "clear"}),
    Shot("codex/session.json", "Stop", {"stop_hook_active": False}, None, True, "done.txt is missing"),
    Shot("codex/session.json", "SessionEnd", {"reason": "other"}),
    Shot("gemini/write-guard.json", "PreToolUse", tool("write_file", file_path="k", content="BEGIN PRIVATE KEY"), "deny", True, "private key"),
    Shot("gemini/write-guard.json", "PreToolUse", tool("edit_file", file_path="k", old_string="a", new_string="BEGIN PRIVATE KEY"), "deny", True, "private key"),
    Shot("gemini/write-guard.json", "PreToolUse", tool("write_file", file_path="k", content="x")),
    Shot("gemini/write-guard.json", "PreToolUse", tool("execute", command="BEGIN PRIVATE KEY")),
    Shot("gemini/shell-guard.json", "PreToolUse", tool("execute", command="ls"), "deny", True, "no-such-guard-anywhere"),
    Shot("gemini/shell-guard.json", "PreToolUse", tool("read_file", file_path="a"), "deny", True, "Not this one."),
    Shot("gemini/shell-guard.json", "PreToolUse", tool("grep", pattern="a")),
    Shot("gemini/review.json", "Stop", {"last_assistant_message": "All done"}, None, True, "which tests ran"),
    Shot("gemini/review.json", "Stop", {"last_assistant_message": "12 passed"}),
    Shot("gemini/review.json", "PostToolUseFailure", {**tool("execute", command="make"), "error": "boom"}, says="Look at the log."),
    Shot("gemini/review.json", "PostToolUse", {**tool("execute", command="make"), "tool_response": "ok"}),
    Shot("gemini/review.json", "Notification", {"message": "?", "notification_type": "permission_prompt"}),
    Shot("gemini/prompt.json", "UserPromptSubmit", {"prompt": "my Password is x"}, None, True, "No passwords"),
    Shot("gemini/prompt.json", "UserPromptSubmit", {"prompt": "hello"}, says="release day"),
    Shot("cursor/shell-guard.json", "PreToolUse", tool("execute", command="git push"), "deny", True, "pull request"),
    Shot("cursor/shell-guard.json", "PreToolUse", tool("execute", command="git pull")),
    Shot("cursor/shell-guard.json", "PreToolUse", tool("write_file", file_path="git push", content="")),
    Shot("cursor/read-guard.json", "PreToolUse", tool("read_file", file_path="secrets.env"), "deny", True),
    Shot("cursor/read-guard.json", "PreToolUse", tool("read_file", file_path="plain.txt")),
    Shot("cursor/prompt-and-stop.json", "UserPromptSubmit", {"prompt": "use sk-live-1"}, None, True, "live key"),
    Shot("cursor/prompt-and-stop.json", "UserPromptSubmit", {"prompt": "hello"}),
    Shot("cursor/prompt-and-stop.json", "Stop", {"stop_hook_active": False}, None, True, "linter once more"),
    Shot("cursor/prompt-and-stop.json", "Stop", {"stop_hook_active": True}),
    Shot("cursor/tools.json", "PreToolUse", tool("edit_file", file_path="a", old_string="a", new_string="b"), "ask"),
    Shot("cursor/tools.json", "PreToolUse", tool("grep", pattern="a"), "deny", True, "cannot be read"),
    Shot("cursor/tools.json", "PreToolUse", tool("read_file", file_path="a"), "deny", True),
    Shot("cursor/tools.json", "PreToolUse", tool("mcp__db__drop_table", name="a"), "deny", True),
    Shot("cursor/tools.json", "PreToolUse", tool("mcp__db__select", name="a")),
    Shot("copilot/policy.json", "PreToolUse", tool("execute", command="sudo ls"), "deny", True, "not with sudo"),
    Shot("copilot/policy.json", "PreToolUse", tool("execute", command="ls")),
    Shot("copilot/pascal.json", "PreToolUse", tool("write_file", file_path="generated/a", content=""), "deny", True, "generated"),
    Shot("copilot/pascal.json", "PreToolUse", tool("write_file", file_path="src/a", content="")),
    Shot("copilot/folders.json", "PreToolUse", tool("read_file", file_path="a"), "deny", True),
    Shot("copilot/folders.json", "PreToolUse", tool("execute", command="edit")),
    Shot("copilot/turns.json", "Stop", {"stop_hook_active": False}, None, True, "No changelog"),
    Shot("copilot/turns.json", "PermissionRequest", tool("execute", command="ls"), "deny", True, "ask ops"),
    Shot("copilot/turns.json", "PermissionRequest", tool("read_file", file_path="a")),
    Shot("copilot/turns.json", "PostToolUseFailure", {**tool("execute", command="make"), "error": "boom"}, says="make clean"),
    Shot("kimi/shell-guard.toml", "PreToolUse", tool("execute", command="rm -rf /"), "deny", True, "Too destructive"),
    Shot("kimi/shell-guard.toml", "PreToolUse", tool("execute", command="ls")),
    Shot("kimi/two-guards.toml", "PreToolUse", tool("write_file", file_path="a/.env", content=""), "deny", True, "not the .env"),
    Shot("kimi/two-guards.toml", "PreToolUse", tool("write_file", file_path="a", content="")),
    Shot("kimi/prompts.toml", "UserPromptSubmit", {"prompt": "Deploy it"}, None, True, "frozen"),
    Shot("kimi/prompts.toml", "UserPromptSubmit", {"prompt": "test it"}),
    Shot("kimi/prompts.toml", "PostToolUse", {**tool("execute", command="ls"), "tool_response": "x"}),
    Shot("kimi/turns.toml", "Stop", {"stop_hook_active": False}, None, True, "Nothing was tested"),
    Shot("kimi/turns.toml", "PreToolUse", tool("edit_file", file_path="a", old_string="assert x", new_string=""), "deny", True, "Keep the assertion"),
)  # fmt: skip


class Field(Homestead):
    """A home and a project with one wild file in its agent's place."""

    def lay(self, file: str) -> Any:
        agent, name = file.split("/")
        name = name if agent == "copilot" or name.endswith(".toml") else "hooks.json"
        path = Path(PLACES[agent].format(home=self.home, root=self.root, name=name))
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(WILD / file, path)
        return self.load(compat=[agent], trust_project=True)


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Field:
    for name in ("CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    made = Field(tmp_path, monkeypatch)
    (made.root / "secrets.env").write_text("API_KEY=1\n")
    (made.root / "plain.txt").write_text("hello\n")
    (made.root / "tools").mkdir()
    return made


def test_there_are_twenty_files_of_five_agents_and_each_is_fired_at() -> None:
    files = {path.relative_to(WILD).as_posix() for path in WILD.rglob("*.*")}
    assert files == set(DROPPED) == {shot.file for shot in SHOTS}
    assert len(files) == 20
    assert len({file.split("/")[0] for file in files}) == 5


@pytest.mark.parametrize(
    "shot",
    SHOTS,
    ids=lambda shot: f"{shot.file}-{shot.event}-{'-'.join(map(str, shot.payload.values()))}"[:90],
)
def test_a_wild_file_runs_unchanged_with_the_decision_that_it_was_written_for(
    field: Field, shot: Shot
) -> None:
    decision = field.lay(shot.file).dispatch_sync(shot.event, shot.payload)
    assert (decision.permission, decision.block) == (shot.permission, shot.block), decision
    told = " ".join(filter(None, (decision.reason, *decision.context)))
    assert shot.says in told
    if not shot.says:
        assert not decision.context


@pytest.mark.parametrize("file", DROPPED)
def test_a_wild_file_that_was_migrated_decides_the_same(field: Field, file: str) -> None:
    agent, _ = file.split("/")
    shot = next(shot for shot in SHOTS if shot.file == file)
    target = field.base / "migrated.json"
    moved = migration.migrate([read_named(agent, WILD / file, field.root)], None, target, field.root)
    target.write_text(moved.after)
    hooks = Hooks.load(files=[target], project=field.root)
    assert hooks.problems == ()
    decision = hooks.dispatch_sync(shot.event, shot.payload)
    assert (decision.permission, decision.block) == (shot.permission, shot.block)
    assert shot.says in " ".join(filter(None, (decision.reason, *decision.context)))


@pytest.mark.parametrize("file", DROPPED)
def test_what_of_a_wild_file_is_dropped_is_said_by_name_and_by_place(field: Field, file: str) -> None:
    problems = field.lay(file).snapshot.problems
    assert tuple(problem.code for problem in problems) == DROPPED[file]
    assert all(problem.line and problem.file for problem in problems)


def test_the_table_of_what_is_dropped_is_the_one_in_the_docs() -> None:
    rows = [
        f"| `{file}` | {', '.join(f'`{code}`' for code in codes) or '–'} |"
        for file, codes in sorted(DROPPED.items())
    ]
    print("\n".join(rows))
    shown = [
        line
        for line in DOCS.read_text().splitlines()
        if line.startswith(tuple(f"| `{name}/" for name in PLACES))
    ]
    assert shown == rows


def test_the_words_of_each_agent_reach_its_handlers(field: Field) -> None:
    told = {}
    for file, event, payload, name in (
        ("cursor/shell-guard.json", "PostToolUse", {**tool("execute", command="ls"), "tool_response": "a"}, "shell-audit.json"),
        ("cursor/read-guard.json", "PostToolUse", tool("write_file", file_path="a.py", content="x"), "edited.json"),
        ("kimi/prompts.toml", "PostToolUse", {**tool("execute", command="ls"), "tool_response": "a"}, "kimi-audit.json"),
        ("gemini/review.json", "Notification", {"message": "?", "notification_type": "permission_prompt"}, "notified.json"),
        ("gemini/prompt.json", "PreCompact", {"trigger": "auto"}, "compressed.json"),
        ("copilot/pascal.json", "UserPromptSubmit", {"prompt": "hello"}, "prompt.json"),
    ):  # fmt: skip
        field.lay(file).dispatch_sync(event, {"session_id": "s1", **payload})
        told[name] = json.loads((field.root / name).read_text())
    shell = told["shell-audit.json"]
    assert (shell["hook_event_name"], shell["command"], shell["output"]) == ("afterShellExecution", "ls", "a")
    assert shell["conversation_id"] == "s1"
    assert told["edited.json"]["file_path"] == str(field.root / "a.py")
    assert told["edited.json"]["edits"] == [{"old_string": "", "new_string": "x"}]
    kimi = told["kimi-audit.json"]
    assert (kimi["tool_name"], kimi["tool_call_id"], kimi["tool_output"]) == ("Shell", "t1", "a")
    assert told["notified.json"]["notification_type"] == "ToolPermission"
    assert told["compressed.json"]["hook_event_name"] == "PreCompress"
    assert "timestamp" in told["compressed.json"]
    assert told["prompt.json"]["hook_event_name"] == "UserPromptSubmit"


def test_a_handlers_own_folder_and_variables_hold(field: Field) -> None:
    field.lay("copilot/folders.json").dispatch_sync("SessionStart", {"source": "startup"})
    assert (field.root / "tools" / "started.txt").read_text() == "harbour tools"


def test_timeouts_are_in_the_unit_of_their_agent(field: Field) -> None:
    (gemini,) = field.lay("gemini/write-guard.json").snapshot.handlers
    (_, _, notice) = field.lay("kimi/prompts.toml").snapshot.handlers
    (guard, _) = field.lay("cursor/shell-guard.json").snapshot.handlers
    (policy,) = field.lay("copilot/policy.json").snapshot.handlers
    ended = field.lay("codex/session.json").snapshot.handlers[-1]
    assert (gemini.timeout, notice.timeout, guard.timeout, policy.timeout, ended.timeout) == (
        5.0,
        600.0,
        10.0,
        15.0,
        3.0,
    )
