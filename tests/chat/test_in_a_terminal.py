"""`boathook chat` as a real program in a real terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from run_project import Project, alive, command, on
from tmux_support import PATIENCE, Terminal, needs_tmux

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_tmux

STORY = """
[[turn]]
text = "I write a note."
calls = [{ tool = "write_file", args = { file_path = "note.txt", content = "ahoy" } }]
[[turn]]
text = "Now the shell."
calls = [{ tool = "execute", args = { command = "echo by the hook > shell.txt" } }]
[[turn]]
text = "All done."
[[turn]]
text = "I wait."
calls = [{ tool = "execute", args = { command = "sleep 60 & echo $! > child; wait" } }]
"""

ALLOW_SHELL = (
    """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'"""
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.script(STORY)
    return project


IDLE = "/help  ·"
"""What the last line says while nothing is under way."""


def chat(project: Project, size: tuple[int, int] = (80, 24)) -> Terminal:
    words = [sys.executable, "-m", "boathook.cli.main", "chat", *project.files()]
    return Terminal(words, project.root, {**project.environment(), **project.variables()}, size)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
def test_from_the_first_start_to_the_last_word(project: Project, size: tuple[int, int]) -> None:
    project.hooks(
        {
            "SessionStart": on(command("sh log.sh")),
            "UserPromptSubmit": on(command("grep -q rude && { echo mind your manners >&2; exit 2; }; true")),
            "PreToolUse": on(command(ALLOW_SHELL), matcher="Bash"),
            "SessionEnd": on(command("sh log.sh"), command("cat ended.json")),
        }
    )
    project.write("ended.json", json.dumps({"systemMessage": "The log is \x1b[31mstowed."}))
    with chat(project, size) as terminal:
        terminal.sees("How may the assistant call you?")
        terminal.types("Ada")
        terminal.sees("Welcome, Ada.")
        terminal.sees(IDLE)
        terminal.types("a rude prompt")
        terminal.sees("Refused: mind your manners", IDLE, "│ a rude prompt")  # back in the box
        terminal.keys("C-u")
        terminal.types("please write a note")
        screen = terminal.sees(
            "Allow Write?", "│ ahoy", "r reject"
        )  # all of it: what would be written, and the keys
        assert all(len(line) <= size[0] for line in screen.splitlines())
        terminal.keys("y")
        terminal.sees("All done.")
        terminal.sees(IDLE)
        assert (project.root / "note.txt").read_text() == "ahoy"
        assert project.has("shell.txt")  # the hook answered: there was no second card
        terminal.loses("Allow")
        terminal.types("/quit")
        screen = terminal.sees("status 0")
        assert "Ask" not in screen  # the terminal is as it was
        assert r"boathook: The log is \x1b[31mstowed." in screen
        assert "boathook chat --resume" in screen
    assert [row.get("source") or row.get("reason") for row in project.log()] == [
        "startup",
        "prompt_input_exit",
    ]


def begun(project: Project, terminal: Terminal) -> int:
    """Hold the story up to the tool that waits, and return its process."""
    terminal.sees("How may the assistant call you?")
    terminal.keys("Escape")
    terminal.loses("How may the assistant call you?")
    terminal.sees(IDLE)
    terminal.types("go")
    terminal.sees("All done.", IDLE)
    terminal.types("and wait")
    return int(project.await_file("child"))


ALWAYS = on(command(ALLOW_SHELL))


def test_ctrl_c_in_a_tool_then_a_slow_end_hook_and_no_way_but_force(project: Project) -> None:
    slow = command("echo $$ > ending; sleep 60; sh log.sh", statusMessage="Stowing the gear")
    project.hooks(
        {"PreToolUse": ALWAYS, "PostToolUseFailure": on(command("sh log.sh")), "SessionEnd": on(slow)}
    )
    with chat(project) as terminal:
        child = begun(project, terminal)
        terminal.keys("C-c")
        terminal.sees("Cancelled.")
        terminal.until(lambda: not alive(child))
        terminal.until(lambda: project.has("log.jsonl"))
        terminal.keys("C-c")
        terminal.sees("Stowing the gear")
        terminal.sees("Ctrl+C forces")
        ending = int(project.await_file("ending"))
        terminal.keys("C-c")
        terminal.sees("status 130", "the end of the session was forced")
        terminal.until(lambda: not alive(ending))
    assert [row["is_interrupt"] for row in project.log()] == [True]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_signal_ends_the_session_and_leaves_the_terminal_as_it_was(
    project: Project, number: int, status: int
) -> None:
    project.hooks({"PreToolUse": ALWAYS, "SessionEnd": on(command("sh log.sh"))})
    with chat(project) as terminal:
        child = begun(project, terminal)
        os.kill(terminal.pid_of_program(), number)
        assert "Ask" not in terminal.sees(f"status {status}")
        terminal.until(lambda: not alive(child))
    assert [row["reason"] for row in project.log()] == ["other"]


def test_a_terminal_that_is_closed_ends_the_session_and_leaves_no_process(project: Project) -> None:
    project.hooks({"PreToolUse": ALWAYS, "SessionEnd": on(command("sh log.sh"))})
    with chat(project) as terminal:
        child = begun(project, terminal)
        program = terminal.pid_of_program()
    gone_by = time.monotonic() + PATIENCE
    while (alive(program) or alive(child)) and time.monotonic() < gone_by:
        time.sleep(0.03)
    assert not alive(program)
    assert not alive(child)
    assert [row["reason"] for row in project.log()] == ["other"]


def test_ctrl_c_twice_leaves_also_while_a_question_stands_before_everything(project: Project) -> None:
    with chat(project) as terminal:
        terminal.sees("How may the assistant call you?")
        terminal.keys("C-c")
        terminal.keys("C-c")
        terminal.sees("status 130")


def test_the_screen_follows_the_terminal_s_size(project: Project) -> None:
    project.hooks({"PreToolUse": ALWAYS})
    with chat(project) as terminal:
        terminal.sees("How may the assistant call you?")
        terminal.keys("Escape")
        terminal.loses("How may the assistant call you?")
        terminal.sees(IDLE)
        terminal.resize(50, 16)
        terminal.until(lambda: max(map(len, terminal.screen.splitlines())) == 50)
        terminal.types("/quit")
        terminal.sees("status 0")


def test_without_a_terminal_or_a_model_one_line_says_so(project: Project) -> None:
    with Terminal(
        [sys.executable, "-m", "boathook.cli.main", "chat"], project.root, project.environment()
    ) as terminal:
        terminal.sees("status 64", "--model")
    words = [sys.executable, "-m", "boathook.cli.main", "chat", "--model", "scripted:story.toml"]
    run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (64, "")
    assert run.stderr == "boathook: chat needs a terminal. Without one: boathook run.\n"


def test_a_theme_that_is_not_there_is_told_with_those_that_are(project: Project) -> None:
    project_environment = {**project.environment(), **project.variables(), "TEXTUAL_THEME": "plaid"}
    words = [sys.executable, "-m", "boathook.cli.main", "chat"]
    with Terminal(words, project.root, project_environment) as terminal:
        terminal.sees("status 64", "TEXTUAL_THEME plaid", "textual-light")


def test_a_database_that_cannot_be_used_is_told_when_the_screen_is_gone(project: Project) -> None:
    project.write("home/.boathook/chat.sqlite", "no database" * 100)
    with chat(project, (200, 24)) as terminal:
        terminal.sees("status 65", "Move that file away")


def test_an_unusable_hooks_file_is_told_when_the_screen_is_gone(project: Project) -> None:
    project.write("hooks.json", "{")
    with chat(project) as terminal:
        terminal.sees("status 65", "file-syntax")
