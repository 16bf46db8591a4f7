"""An interrupted run that another process resumes from a SQLite checkpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from langchain_support import command, recorded, recorder

TESTS = Path(__file__).parent.parent.parent
ONE_PROCESS = Path(__file__).with_name("one_process.py")


def step(folder: Path, scene: str, name: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(ONE_PROCESS), str(folder), scene, name],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("scene", ["gated", "interrupt_on", "subagent"])
def test_a_run_resumed_in_a_new_process_runs_no_hook_and_no_tool_twice(tmp_path: Path, scene: str) -> None:
    log = tmp_path / "log"
    note = command(recorder(log))
    deny = (
        'echo \'{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no c"}}\''
    )
    events = [
        "SessionStart",
        "UserPromptSubmit",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
    ]
    wanted: dict[str, Any] = {event: [note] for event in [*events, "SubagentStart", "SubagentStop"]}
    wanted["PreToolUse"] = [note, command(deny, "fail")]
    (tmp_path / "wanted.json").write_text(json.dumps(wanted))

    first = step(tmp_path, scene, "go")
    assert first["asked"] == ["work"]
    second = step(tmp_path, scene, "resume")
    assert second["asked"] == []
    assert sorted([*first["ran"], *second["ran"]]) == ["a", "b"]
    assert second["last"] == "done"

    entries = recorded(log)
    counts = Counter((entry["hook_event_name"], entry.get("tool_name")) for entry in entries)
    for tool in ("work", "play", "fail"):
        assert counts["PreToolUse", tool] == 1
    assert counts["PermissionRequest", "work"] == 1
    assert counts["PermissionRequest", "fail"] == 0
    assert counts["PostToolUse", "work"] == counts["PostToolUse", "play"] == 1
    assert counts["PostToolUseFailure", "fail"] == 0
    assert counts["UserPromptSubmit", None] == counts["Stop", None] == 1
    assert [e["source"] for e in entries if e["hook_event_name"] == "SessionStart"] == ["startup", "resume"]
    assert counts["SubagentStart", None] == counts["SubagentStop", None] == (scene == "subagent")
