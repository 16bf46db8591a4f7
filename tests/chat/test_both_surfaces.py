"""One scripted conversation on both surfaces: the same moments, but for the documented differences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boathook.terms.events import EVENTS
from chat_support import chatting, drive, make
from run_project import command, on

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from run_project import Project

STORY = """
[[turn]]
text = "I look, and try two things."
calls = [
  { tool = "ls", args = { path = "src" } },
  { tool = "execute", args = { command = "echo allowed" } },
  { tool = "execute", args = { command = "echo undecided" } },
]
[[turn]]
text = "Done?"
[[turn]]
text = "Now it is."
[[turn]]
text = "I delegate."
calls = [{ tool = "task", args = { description = "look around", subagent_type = "general-purpose" } }]
[[turn]]
text = "They looked."

[[agent.general-purpose.turn]]
calls = [{ tool = "read_file", args = { file_path = "notes.txt" } }]
[[agent.general-purpose.turn]]
text = "I read the notes."
"""

GUARD = """
payload=$(cat)
case $payload in
  *'echo undecided'*) ;;
  *) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}' ;;
esac
"""

ONCE = "if grep -q '\"stop_hook_active\": false' && mkdir once 2>/dev/null; then echo not yet >&2; exit 2; fi"

PROMPTS = ("Look around.", "a rude prompt", "Delegate.")

UNORDERED = ("tool.use", "tool.result", "tool.error", "input.required")
"""Fired and forgotten on one surface at least, so that the log has no order of theirs."""

UNEQUAL = (
    *("session_id", "thread_id", "prompt_id", "agent_id", "transcript_path", "duration_ms", "cwd"),
    *("tool_id", "tool_use_id", "agent_transcript_path"),
)
"""What differs between any two sessions."""


def set_up(project: Project) -> None:
    project.script(STORY)
    project.write("src/notes.txt", "ahoy")
    project.write("notes.txt", "ahoy")
    project.write("guard.sh", f"#!/bin/sh{GUARD}")
    log = command("sh log.sh")
    more = {
        "PreToolUse": on(log, command("./guard.sh")),
        "Stop": on(log, command(ONCE)),
        "UserPromptSubmit": on(log, command("if grep -q rude; then echo manners >&2; exit 2; fi")),
    }
    project.hooks({**{event: on(log) for event in EVENTS}, **more})
    (project.root / "list.json").write_text(json.dumps({"hooks": [{"command": ["sh", "log.sh"]}]}))


def plain(row: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return a payload without what differs between any two sessions, and with this session's folder by name."""
    text = json.dumps({key: value for key, value in row.items() if key not in UNEQUAL})
    result: dict[str, Any] = json.loads(text.replace(str(root), "/project"))
    return result


def moments(project: Project) -> list[list[dict[str, Any]]]:
    """Return the lifecycle events and the notifications that keep an order, and all others in any.

    A notification that comes along with a lifecycle event runs beside it.
    """
    rows = [plain(row, project.root) for row in project.log()]
    parallel = ("PreToolUse", "PostToolUse", "PostToolUseFailure", *UNORDERED)
    others = [row for row in rows if name_of(row) in parallel]
    return [
        [row for row in rows if "hook_event_name" in row and name_of(row) not in parallel],
        [row for row in rows if "hook_event_name" not in row and name_of(row) not in parallel],
        sorted(others, key=lambda row: json.dumps(row, sort_keys=True)),
    ]


def name_of(row: dict[str, Any]) -> str:
    return str(row.get("hook_event_name") or row["event"])


def headless(project: Project) -> None:
    project.write("talk.txt", "\n".join(PROMPTS))
    ended = project.run_here("--prompts", "talk.txt")
    assert ended.status == 3, ended.err  # one prompt was refused


def interactive(project: Project) -> None:
    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types(PROMPTS[0])
            await chat.card()
            await chat.pilot.press("n")
            await chat.rests()
            for prompt in PROMPTS[1:]:
                await chat.says(prompt)
            await chat.types("/quit")
            assert await chat.ended() == 0

    drive(scene())


def differences(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[tuple[str, str, Any, Any]]:
    """Return (event, key, headless, interactive) for each value that differs."""
    assert [*map(name_of, one)] == [*map(name_of, other)]
    return [
        (name_of(left), key, left.get(key), right.get(key))
        for left, right in zip(one, other, strict=True)
        for key in sorted({*left, *right})
        if left.get(key) != right.get(key)
    ]


def test_both_surfaces_tell_the_same_story_but_for_the_documented_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = []
    for name, hold in (("headless", headless), ("interactive", interactive)):
        (tmp_path / name).mkdir()
        project = make(tmp_path / name, monkeypatch)
        set_up(project)
        hold(project)
        logs.append(moments(project))
    (events, notifications, others), (events_too, notifications_too, others_too) = logs
    prompts_shown = [row for row in events_too if name_of(row) == "Notification"]
    assert [row["notification_type"] for row in prompts_shown] == ["permission_prompt"]
    assert differences(events, [row for row in events_too if row not in prompts_shown]) == [
        ("SessionEnd", "reason", "other", "prompt_input_exit"),
    ]
    assert differences(notifications, notifications_too) == []
    turn = ["user.prompt", "task.complete"]
    refused = ["user.prompt"]
    told = ["session.start", turn[0], "permission.request", turn[1], *refused, *turn, "session.end"]
    assert [*map(name_of, notifications)] == told
    required = [row for row in others_too if name_of(row) == "input.required"]
    assert len(required) == 1
    others_too.remove(required[0])
    [(event, key, said_headless, said_interactive)] = differences(others, others_too)
    assert (event, key) == ("tool.result", "tool_output")
    assert "nobody was asked" in said_headless
    assert "user rejected" in said_interactive
