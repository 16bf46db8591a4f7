"""One session of a real deepagents agent, guarded by the files of five other agents at once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend

from boathook.hosts.langchain import HooksMiddleware
from homestead import Homestead
from langchain_support import Script, calls, results, run, says, texts

if TYPE_CHECKING:
    import pytest

WILD = Path(__file__).parent / "wild"


def test_files_of_five_agents_guard_one_session_each_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    here = Homestead(tmp_path, monkeypatch)
    for file, place in {
        "codex/patch-guard.json": here.home / ".codex/hooks.json",
        "gemini/write-guard.json": here.home / ".gemini/settings.json",
        "cursor/shell-guard.json": here.home / ".cursor/hooks.json",
        "copilot/policy.json": here.home / ".copilot/hooks/policy.json",
        "kimi/shell-guard.toml": here.home / ".kimi/config.toml",
    }.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(WILD / file, place)
    model = Script(
        calls(
            ("write_file", {"file_path": str(here.root / "poetry.lock"), "content": "x"}),
            ("write_file", {"file_path": str(here.root / "key"), "content": "BEGIN PRIVATE KEY"}),
            ("execute", {"command": "git push"}),
            ("execute", {"command": "sudo ls"}),
            ("execute", {"command": "rm -rf nothing"}),
            ("execute", {"command": "echo hello"}),
        ),
        says("done"),
    )
    hooks = here.load(compat=["codex", "gemini", "cursor", "copilot", "kimi"])
    agent = create_deep_agent(
        model,
        middleware=[HooksMiddleware(hooks)],
        backend=LocalShellBackend(root_dir=here.root, virtual_mode=False),
    )
    told = results(run(agent, "go"))
    assert [told[f"c{number}"][0] for number in range(1, 7)] == [*["error"] * 5, "success"]
    assert "run poetry lock instead" in told["c1"][1]
    assert "private key" in told["c2"][1]
    assert "pull request" in told["c3"][1]
    assert told["c4"][1] == "not with sudo"
    assert told["c5"][1] == "Too destructive."
    assert "hello" in told["c6"][1]
    assert not (here.root / "key").exists()
    assert "Too destructive." in texts(model.seen[1])
