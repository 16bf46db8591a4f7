"""What the docs show is done here, as a reader would do it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from boathook.config.json_schema import hooks_schema
from boathook.config.read import read_bytes
from boathook.run.fields import judge
from boathook.run.reply import Printed, read_reply
from boathook.terms.events import EVENTS

ROOT = Path(__file__).parents[2]
OURS = ("getting-started", "writing-hooks", "reference", "embedding", "security", "index")
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in OURS}
PAGES["README"] = (ROOT / "README.md").read_text(encoding="utf-8")
EVERY_PAGE = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)

NEEDED = [name for name in ("jq", "git", "bash") if shutil.which(name) is None]
needs_tools = pytest.mark.skipif(
    bool(NEEDED) and not os.environ.get("BOATHOOK_REQUIRE_TOOLS"),
    reason=f"not installed: {', '.join(NEEDED)}",
)


def blocks(language: str, pages: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (f"{page}-{number}", body)
        for page, text in pages.items()
        for number, (kind, _, body) in enumerate(FENCE.findall(text))
        if kind == language
    ]


JSON = blocks("json", EVERY_PAGE | PAGES)
PYTHON = blocks("python", {"embedding": PAGES["embedding"]})


@pytest.mark.parametrize(("where", "text"), JSON, ids=[where for where, _ in JSON])
def test_every_json_example_is_what_it_looks_like(where: str, text: str) -> None:
    for value in [json.loads(text)] if not text.startswith('{"type"') else map(json.loads, text.splitlines()):
        if "hooks" in value:
            document = read_bytes(text.encode(), where)
            assert document.problems == ()
            assert document.handlers
            assert not list(Draft7Validator(hooks_schema()).iter_errors(value))
        elif "hookSpecificOutput" in value:
            answer = read_reply(text.encode())
            assert isinstance(answer, Printed)
            row = EVENTS[value["hookSpecificOutput"]["hookEventName"]]
            judged = judge(answer, row, {}, "")
            assert judged.problems == ()
            assert judged.failure is None


@pytest.mark.parametrize(("where", "text"), PYTHON, ids=[where for where, _ in PYTHON])
def test_every_python_example_of_embedding_runs(where: str, text: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", text], cwd=tmp_path, env=environment(tmp_path),
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


def environment(folder: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BOATHOOK")}
    bins = folder / "bin"
    bins.mkdir(exist_ok=True)
    program = bins / "boathook"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m boathook "$@"\n')
    program.chmod(0o755)
    return {
        **clean,
        "HOME": str(folder / "home"),
        "PATH": f"{bins}{os.pathsep}{clean.get('PATH', '')}",
        "PYTHONIOENCODING": "utf-8",
        "BOATHOOK_ALLOW_WRITABLE": "1",
        "COLUMNS": "80",
        **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


def make_project(folder: Path, page: str, *, executable: bool) -> Path:
    """Write every file that a page shows with its name."""
    (folder / "home").mkdir()
    project = folder / "tides"
    (project / ".git").mkdir(parents=True)
    for _, name, body in FENCE.findall(PAGES[page]):
        if name:
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body)
            if executable and body.startswith("#!"):
                path.chmod(0o755)
    return project


def commit(project: Path, env: dict[str, str]) -> None:
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=project, env=env, check=True)


def fits(shown: str, printed: str) -> bool:
    """Whether a line is as the page shows it, where `…` stands for anything."""
    pattern = ".*".join(map(re.escape, shown.rstrip().split("…")))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def play(page: str, project: Path, env: dict[str, str]) -> int:
    """Type every command of a page's console blocks, and compare what is printed."""
    count = 0
    for kind, _, body in FENCE.findall(PAGES[page]):
        if kind != "console":
            continue
        for entry in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, shown = entry.partition("\n")
            run = subprocess.run(
                ["/bin/sh", "-c", command], cwd=project, env=env, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, encoding="utf-8", timeout=50, check=False,
            )  # fmt: skip
            lines, printed = shown.rstrip().splitlines(), run.stdout.rstrip().splitlines()
            assert len(lines) == len(printed), f"{command}\n{run.stdout}{run.stderr}"
            for line, got in zip(lines, printed, strict=True):
                assert fits(line, got), f"{command}\nshown:   {line}\nprinted: {got}"
            count += 1
    return count


@needs_tools
def test_getting_started_goes_as_it_says(tmp_path: Path) -> None:
    project = make_project(tmp_path, "getting-started", executable=False)
    assert play("getting-started", project, environment(tmp_path)) == 7


@needs_tools
def test_the_hooks_of_writing_hooks_do_what_it_says(tmp_path: Path) -> None:
    project = make_project(tmp_path, "writing-hooks", executable=True)
    env = environment(tmp_path)
    commit(project, env)
    assert play("writing-hooks", project, env) == 5


@needs_tools
def test_the_stop_hook_sends_the_agent_back_until_the_tests_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from boathook import Hooks

    project = make_project(tmp_path, "writing-hooks", executable=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    test = project / "test_it.py"
    test.write_text("import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        assert 0\n")
    hooks = Hooks.load(files=[project / ".deepagents/hooks.json"], project=project)
    decision = asyncio.run(hooks.dispatch("Stop", {"stop_hook_active": False}))
    assert decision.block
    assert decision.feedback[0].startswith("The tests do not pass yet:")
    test.write_text("import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        assert 10\n")
    assert not asyncio.run(hooks.dispatch("Stop", {"stop_hook_active": True})).block


@needs_tools
def test_the_guard_of_the_readme_denies_and_lets_through(tmp_path: Path) -> None:
    from boathook import Hooks

    (config,) = [body for _, body in blocks("json", {"README": PAGES["README"]})]
    (script,) = [body for _, body in blocks("bash", {"README": PAGES["README"]})]
    path = tmp_path / json.loads(config)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    path.parent.mkdir(parents=True)
    path.write_text(script)
    path.chmod(0o755)
    file = tmp_path / "hooks.json"
    file.write_text(config)
    hooks = Hooks.load(files=[file], project=tmp_path)
    for command, permission in (("rm -rf /", "deny"), ("ls", None)):
        decision = hooks.dispatch_sync(
            "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "1"}
        )
        assert decision.permission == permission, decision.diagnostics
