"""`boathook run --prompts`: a whole conversation without a person."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from run_project import Project, command, on

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = "\n".join(f'[[turn]]\ntext = "Answer {number}."' for number in range(1, 4))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.script(ANSWERS)
    log = on(command("sh log.sh"))
    project.hooks(dict.fromkeys(("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"), log))
    return project


def prompts(project: Project) -> list[str]:
    return [row["prompt"] for row in project.log() if row["hook_event_name"] == "UserPromptSubmit"]


def test_each_line_is_a_turn_of_one_session(project: Project) -> None:
    project.write("talk.txt", "One\n\n  Two  \nThree")
    ended = project.run_here("--prompts", "talk.txt")
    assert (ended.status, ended.out) == (0, "Answer 1.\nAnswer 2.\nAnswer 3.\n"), ended.err
    turn = ["UserPromptSubmit", "Stop"]
    assert project.events() == ["SessionStart", *turn * 3, "SessionEnd"]
    assert prompts(project) == ["One", "Two", "Three"]
    assert len({row["session_id"] for row in project.log()}) == 1
    assert len({row["prompt_id"] for row in project.log() if row["hook_event_name"] == "Stop"}) == 3


def test_a_line_that_is_a_json_string_holds_several_lines(project: Project) -> None:
    project.write("talk.txt", json.dumps("One\nof two lines") + '\n"Quoted" is a word\n"open\n')
    assert project.run_here("--prompts", "talk.txt").status == 0
    assert prompts(project) == ["One\nof two lines", '"Quoted" is a word', '"open']


def test_prompts_may_come_on_stdin_as_a_file(project: Project) -> None:
    assert project.run_here("--prompts", "-", stdin="One\nTwo\n").status == 0
    assert prompts(project) == ["One", "Two"]


def test_a_program_may_wait_for_an_answer_before_it_sends_the_next_prompt(project: Project) -> None:
    process = project.start("--prompts", "-", typed=True)
    assert process.stdin is not None
    assert process.stdout is not None
    for number in (1, 2):
        process.stdin.write(f"Prompt {number}\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"Answer {number}.\n"
    process.communicate(timeout=50)
    assert process.returncode == 0
    assert prompts(project) == ["Prompt 1", "Prompt 2"]


def test_ctrl_c_while_it_waits_for_a_prompt_ends_the_session(project: Project) -> None:
    project.hooks({"Stop": on(command("echo x > sign")), "SessionEnd": on(command("sh log.sh"))})
    process = project.start("--prompts", "-", typed=True)
    assert process.stdin is not None
    process.stdin.write("One\n")
    process.stdin.flush()
    project.await_file("sign")
    process.send_signal(signal.SIGINT)  # stdin stays open: only the signal ends the waiting
    assert process.wait(timeout=50) == 130
    process.communicate()
    assert project.events() == ["SessionEnd"]


def test_a_refused_prompt_is_passed_over_and_the_status_says_so(project: Project) -> None:
    project.hooks({"UserPromptSubmit": on(command("if grep -q Two; then echo rude >&2; exit 2; fi"))})
    project.write("talk.txt", "One\nTwo\nThree\n")
    ended = project.run_here("--prompts", "talk.txt")
    assert (ended.status, ended.out) == (3, "Answer 1.\nAnswer 2.\n")
    assert "refused the prompt: rude" in ended.err


def test_continue_false_leaves_the_other_prompts_unasked(project: Project) -> None:
    project.hooks({"Stop": on(command('echo \'{"continue": false, "stopReason": "enough"}\''))})
    project.write("talk.txt", "One\nTwo\n")
    ended = project.run_here("--prompts", "talk.txt")
    assert (ended.status, ended.out) == (3, "Answer 1.\n")
    assert "enough" in ended.err


def test_context_of_the_start_comes_with_the_first_prompt_that_is_not_refused(project: Project) -> None:
    start = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "the tide is low"}}
    project.script('[[turn]]\nwhen.conversation.contains = "the tide is low"\ntext = "I know."\n')
    project.hooks(
        {
            "SessionStart": on(command(f"echo '{json.dumps(start)}'")),
            "UserPromptSubmit": on(command("if grep -q One; then echo rude >&2; exit 2; fi")),
        }
    )
    project.write("talk.txt", "One\nTwo\n")
    assert project.run_here("--prompts", "talk.txt").out == "I know.\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--prompts", "none.txt"), "none.txt cannot be read: No such file"),
        (("--prompts", "empty.txt"), "holds no prompt"),
        (("--prompts", "-", "Also"), "not both"),
    ],
)
def test_wrong_prompts_are_told_in_one_line(project: Project, args: tuple[str, ...], words: str) -> None:
    project.write("empty.txt", "\n \n")
    ended = project.run_here(*args)
    assert ended.status == 64
    assert words in ended.err
    assert ended.err.count("\n") == 1
