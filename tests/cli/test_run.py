"""`boathook run` as a real program, under real hooks."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from run_project import Ended, Project, alive, command, on

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# One whole session, looked at from many sides.

STORY = """
[[turn]]
when.conversation.contains = "the harbour is closed"
text = "I know it is closed."
calls = [
  { tool = "read_file", args = { file_path = "notes.txt" } },
  { tool = "write_file", args = { file_path = "undecided.txt", content = "x" } },
  { tool = "execute", args = { command = "echo allowed > ran.txt; exit 3" } },
  { tool = "execute", args = { command = "echo denied > ran-too.txt" } },
]

[[turn]]
when.result = { tool = "execute", contains = "exit code 3" }
text = "One ran."

[[turn]]
when.input.contains = "not yet"
text = "Again: {{cwd}}"

[[turn]]
when.input.contains = "not yet"
text = "At last."
"""

STOP = """
tail -n 1 "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["transcript_path"])')" >> last.jsonl
echo x >> stops
if [ "$(wc -l < stops)" -lt 3 ]; then echo "not yet" >&2; exit 2; fi
"""

GUARD = """
case $(cat) in
  *'echo allowed'*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}' ;;
  *'echo denied'*) echo "that one is forbidden" >&2; exit 2 ;;
esac
"""


def build_story(root: Path) -> Project:
    project = Project(root)
    project.script(STORY)
    project.write("notes.txt", "read me")
    project.write("stop.sh", f"#!/bin/sh{STOP}")
    project.write("guard.sh", f"#!/bin/sh{GUARD}")
    log = command("sh log.sh", name="log")
    context = {"hookEventName": "SessionStart", "additionalContext": "the harbour is closed"}
    project.hooks(
        {
            "SessionStart": on(
                log, command(f"echo '{json.dumps({'hookSpecificOutput': context})}'", name="brief")
            ),
            "UserPromptSubmit": on(log),
            "PreToolUse": on(log, command("./guard.sh", name="guard")),
            "PermissionRequest": on(log),
            "PostToolUse": on(log),
            "PostToolUseFailure": on(log),
            "Stop": on(log, command("./stop.sh", name="stop")),
            "SessionEnd": on(log, command(f"echo '{json.dumps({'systemMessage': 'bye'})}'", name="goodbye")),
        }
    )
    project.notifications()
    return project


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ended]:
    project = build_story(tmp_path_factory.mktemp("told"))
    return project, project.run_here("go on")


@pytest.fixture(scope="module")
def json_told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ended]:
    project = build_story(tmp_path_factory.mktemp("json"))
    return project, project.run_here("--json", "go on")


def test_a_whole_session_ends_with_0_and_only_the_agents_words_on_stdout(told: tuple[Project, Ended]) -> None:
    project, ended = told
    assert ended.status == 0, ended.err
    assert ended.out == f"I know it is closed.\nOne ran.\nAgain: {project.root}\nAt last.\n"


def test_the_moments_come_in_order_each_also_as_its_notification(told: tuple[Project, Ended]) -> None:
    project, _ = told
    lifecycle = [event for event in project.events() if event[0].isupper() and "ToolUse" not in event]
    assert [event for event in lifecycle if event != "PermissionRequest"] == [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "Stop",
        "Stop",
        "SessionEnd",
    ]
    dotted = [event for event in project.events() if "." in event]
    for once in ("session.start", "user.prompt", "task.complete", "session.end"):
        assert dotted.count(once) == 1, dotted
    assert dotted.count("tool.use") == dotted.count("tool.result") == 4
    assert dotted.count("tool.error") == 2


def test_a_gated_call_that_no_hook_decided_is_denied_and_says_how_to_allow_it(
    told: tuple[Project, Ended],
) -> None:
    project, _ = told
    assert not project.has("undecided.txt")
    [refused] = [
        r for r in project.log() if r.get("event") == "tool.result" and r["tool_name"] == "write_file"
    ]
    assert refused["tool_status"] == "error"
    assert "--approve all" in refused["tool_output"]


def test_a_hook_allows_and_denies_and_reading_needs_nobody(told: tuple[Project, Ended]) -> None:
    project, _ = told
    assert project.has("ran.txt")
    assert not project.has("ran-too.txt")
    results = {row["tool_id"]: row for row in project.log() if row.get("event") == "tool.result"}
    assert "read me" in results["call_1_1"]["tool_output"]
    assert "that one is forbidden" in results["call_1_4"]["tool_output"]


def test_hooks_see_wire_names_and_real_absolute_paths(told: tuple[Project, Ended]) -> None:
    project, _ = told
    calls = [row for row in project.log() if row.get("hook_event_name") == "PreToolUse"]
    assert {row["tool_name"] for row in calls} == {"Read", "Write", "Bash"}
    assert {row["tool_input"].get("file_path") for row in calls} == {
        str(project.root / "notes.txt"),
        str(project.root / "undecided.txt"),
        None,
    }


def test_every_payload_carries_the_sessions_facts(told: tuple[Project, Ended]) -> None:
    project, _ = told
    rows = [row for row in project.log() if "hook_event_name" in row]
    facts = {(row["session_id"], row["transcript_path"], row["cwd"], row["permission_mode"]) for row in rows}
    path = project.transcript()
    assert facts == {(path.parent.name, str(path), str(project.root), "default")}


def test_a_stop_hook_reads_the_last_answer_in_the_transcripts_last_line(told: tuple[Project, Ended]) -> None:
    project, _ = told
    rows = [json.loads(line) for line in (project.root / "last.jsonl").read_text().splitlines()]
    assert [row["message"]["content"][0]["text"] for row in rows] == [
        "One ran.",
        f"Again: {project.root}",
        "At last.",
    ]
    assert {row["type"] for row in rows} == {"assistant"}


def test_the_transcript_is_the_whole_conversation_and_private(told: tuple[Project, Ended]) -> None:
    project, _ = told
    path = project.transcript()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    for part in ("the harbour is closed", "go on", "read me", "that one is forbidden", "not yet", "At last."):
        assert part in text


def test_what_hooks_did_is_one_line_each_on_stderr_with_its_time(told: tuple[Project, Ended]) -> None:
    _, ended = told
    lines = ended.err.splitlines()
    assert all(line.startswith(("· ", "! ")) for line in lines), ended.err
    assert all(line.endswith((" ms", " s")) for line in lines if line.startswith("· "))
    for part in (
        "· SessionStart startup  brief  added context: the harbour is closed",
        "· PreToolUse Bash  guard  allowed",
        "· PreToolUse Bash  guard  denied: that one is forbidden",
        "· Stop  stop  not done yet: not yet",
    ):
        assert any(line.startswith(part) for line in lines), part
    assert "! bye" in lines
    assert "\x1b" not in ended.err


def test_json_tells_every_moment_handler_and_decision_and_the_agents_words(
    json_told: tuple[Project, Ended],
) -> None:
    project, ended = json_told
    assert ended.status == 0, ended.err
    assert {row["type"] for row in ended.rows()} == {"moment", "handler", "decision", "assistant"}
    assert [row["text"] for row in ended.rows("assistant")] == [
        "I know it is closed.",
        "One ran.",
        f"Again: {project.root}",
        "At last.",
    ]
    moments = {row["moment"]: row["event"] for row in ended.rows("moment")}
    decided = {row["moment"]: row["event"] for row in ended.rows("decision")}
    assert decided == {number: event for number, event in moments.items() if event[0].isupper()}
    denied = [row for row in ended.rows("decision") if row["decision"]["permission"] == "deny"]
    assert [row["decision"]["reason"] for row in denied] == ["that one is forbidden"]
    ran = list(ended.rows("handler"))
    assert len(ran) == len(project.log()) + 1 + 4 + 3 + 1  # beside the logs: brief, guard, stop, goodbye


def test_json_keeps_the_order_of_the_story(json_told: tuple[Project, Ended]) -> None:
    _, ended = json_told
    told = [
        row.get("text") or row["event"] for row in ended.rows() if row["type"] in ("assistant", "decision")
    ]
    first, last = told.index("I know it is closed."), told.index("At last.")
    assert told[:2] == ["SessionStart", "UserPromptSubmit"]
    assert first == 2
    assert told[last + 1 :] == ["Stop", "SessionEnd"]


# Ends of other kinds.


def ending_hooks(project: Project, **more: Any) -> None:
    project.hooks({"SessionEnd": on(command("sh log.sh")), **more})
    project.notifications()


def assert_ended_once(project: Project) -> None:
    events = project.events()
    assert (events.count("SessionEnd"), events.count("session.end")) == (1, 1), events


def test_a_failing_model_is_one_line_and_1_and_the_session_still_ends(project: Project) -> None:
    project.script('[[turn]]\ntext = "half"\nerror = "overloaded"\n')
    ending_hooks(project)
    ended = project.run_here("go")
    assert (ended.status, ended.out) == (1, "half\n")
    assert "boathook: the agent failed: ScriptedModelError: overloaded" in ended.err
    assert "Traceback" not in ended.err
    assert_ended_once(project)


def test_a_hook_that_stops_everything_is_3_with_its_reason(project: Project) -> None:
    project.script('[[turn]]\ncalls = [{ tool = "ls", args = { path = "." } }]\n')
    stop = command('echo \'{"continue": false, "stopReason": "low tide"}\'')
    ending_hooks(project, PreToolUse=on(stop))
    ended = project.run_here("go")
    assert ended.status == 3, ended.err
    assert "low tide" in ended.err
    assert ended.out == ""
    assert_ended_once(project)


def test_a_refused_prompt_is_3_and_never_reaches_the_model(project: Project) -> None:
    project.script('[[turn]]\ntext = "never said"\n')
    ending_hooks(project, UserPromptSubmit=on(command("echo too rude >&2; exit 2")))
    ended = project.run_here("go")
    assert (ended.status, ended.out) == (3, "")
    assert "boathook: a UserPromptSubmit hook refused the prompt: too rude" in ended.err
    assert_ended_once(project)
    assert not project.transcript().read_text()


HANGING_SHELL = """
[[turn]]
text = "I wait."
calls = [{ tool = "execute", args = { command = "sleep 60 & echo $! > child; wait" } }]
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_a_tool_ends_its_processes_and_the_session(
    project: Project, number: int, status: int
) -> None:
    project.script(HANGING_SHELL)
    ending_hooks(project)
    process = project.start("--approve", "all", "go")
    ended = project.interrupt(process, "child", number)
    assert ended.status == status, ended.err
    assert "Traceback" not in ended.err
    assert not alive(int((project.root / "child").read_text()))
    assert_ended_once(project)
    results = [row for row in project.log() if row.get("event") == "tool.result"]
    assert [row["tool_status"] for row in results] == ["error"]


def test_ctrl_c_in_a_handler_ends_its_whole_group_and_the_session(project: Project) -> None:
    project.script('[[turn]]\ncalls = [{ tool = "ls", args = { path = "." } }]\n')
    ending_hooks(project, PreToolUse=on(command("sleep 60 & echo $! > child; wait")))
    ended = project.interrupt(project.start("go"), "child", signal.SIGINT)
    assert ended.status == 130, ended.err
    assert not alive(int((project.root / "child").read_text()))
    assert_ended_once(project)


def test_a_second_ctrl_c_kills_a_slow_end_hook(project: Project) -> None:
    project.script(HANGING_SHELL)
    ending_hooks(project, SessionEnd=on(command("sleep 60 & echo $! > child.1; wait", timeout=60)))
    process = project.start("--approve", "all", "go")
    ended = project.interrupt(process, "child", signal.SIGINT, signal.SIGINT)
    assert ended.status == 130, ended.err
    assert not alive(int((project.root / "child.1").read_text()))


# What else a run can be given.


def test_the_prompt_may_come_on_stdin_and_the_folder_by_cwd(project: Project) -> None:
    project.script('[[turn]]\nwhen.input.contains = "piped"\ntext = "{{cwd}}"\n')
    project.write("elsewhere/file", "")
    ended = project.run_here("--cwd", "elsewhere", stdin="piped")
    assert (ended.status, ended.out) == (0, f"{project.root}/elsewhere\n"), ended.err


@pytest.mark.parametrize("trusted", [True, False])
def test_project_hooks_run_only_when_trusted_and_are_never_skipped_in_silence(
    project: Project, trusted: bool
) -> None:
    project.script('[[turn]]\ntext = "hi"\n')
    (project.root / ".git").mkdir()
    project.write(".deepagents/hooks.json", json.dumps({"hooks": {"Stop": on(command("touch ran"))}}))
    ended = project.run_here(*(["--trust-project-hooks"] if trusted else []), "go")
    assert ended.status == 0, ended.err
    assert project.has("ran") is trusted
    assert ("--trust-project-hooks" in ended.err) is not trusted


def test_guards_reach_into_subagents_and_stdout_stays_the_main_agents(project: Project) -> None:
    project.script("""
[[turn]]
text = "I delegate."
calls = [{ tool = "task", args = { subagent_type = "general-purpose", description = "count the boats" } }]

[[turn]]
when.result.contains = "I may not"
text = "It may not."

[[agent.general-purpose.turn]]
when.input.contains = "count the boats"
text = "Counting."
calls = [{ tool = "execute", args = { command = "touch counted" } }]

[[agent.general-purpose.turn]]
when.result.contains = "no counting"
text = "I may not."
""")
    project.hooks(
        {
            "PreToolUse": on(command("sh log.sh; echo no counting >&2; exit 2"), matcher="Bash"),
            "SubagentStart": on(command("sh log.sh")),
            "SubagentStop": on(command("sh log.sh")),
        }
    )
    ended = project.run_here("--approve", "all", "go")
    assert (ended.status, ended.out) == (0, "I delegate.\nIt may not.\n"), ended.err
    assert not project.has("counted")
    rows = project.log()
    assert [row["hook_event_name"] for row in rows] == ["SubagentStart", "PreToolUse", "SubagentStop"]
    assert {row["agent_type"] for row in rows} == {"general-purpose"}
    assert len({row["agent_id"] for row in rows}) == 1


def test_a_reader_that_leaves_does_not_end_the_session(project: Project) -> None:
    project.script(
        '[[turn]]\ntext = "one"\ncalls = [{ tool = "ls", args = { path = "." } }]\n[[turn]]\ntext = "two"\n'
    )
    ending_hooks(project, PreToolUse=on(command("touch at; until [ -e go ]; do sleep 0.01; done")))
    process = project.start("go")
    project.await_there("at")
    assert process.stdout is not None
    process.stdout.close()
    project.write("go", "")
    assert process.stderr is not None
    with process.stderr as stream:
        err = stream.read()
    assert process.wait(50) == 0, err
    assert "Traceback" not in err
    assert_ended_once(project)


# What cannot even begin.


def test_without_a_model_one_line_says_how_to_choose_one(project: Project) -> None:
    ended = project.run_here("go", BOATHOOK_MODEL="")
    assert (ended.status, ended.out) == (64, "")
    assert ended.err.startswith("boathook: no model chosen: give --model or set BOATHOOK_MODEL")
    assert ended.err.count("\n") == 1


def test_without_a_prompt_it_says_so(project: Project) -> None:
    ended = project.run_here()
    assert ended.status == 64
    assert "no prompt" in ended.err


def test_a_folder_that_is_not_there_is_wrong_usage(project: Project) -> None:
    ended = project.run_here("--cwd", "absent", "go")
    assert ended.status == 64
    assert "absent is not a folder" in ended.err


def test_a_missing_provider_package_is_one_line_and_1(project: Project) -> None:
    ended = project.run_here("--model", "groq:llama", "go")
    assert ended.status == 1
    assert "pip install langchain-groq" in ended.err
    assert ended.err.count("\n") == 1


def test_an_unusable_hooks_file_and_a_faulty_script_are_65(project: Project) -> None:
    project.write("hooks.json", "{")
    ended = project.run_here("go")
    assert ended.status == 65
    assert "hooks.json" in ended.err
    project.hooks({})
    project.script("[[turn]]\ntxt = 1\n")
    ended = project.run_here("go")
    assert (ended.status, ended.err.count("\n")) == (65, 1)
    assert "story.toml:1: turn 1: unknown key 'txt' (did you mean 'text'?)" in ended.err


def test_without_the_agents_packages_one_line_says_what_to_install(project: Project) -> None:
    code = "import sys; sys.modules['deepagents'] = None; from boathook.cli.main import entry; entry()"
    for args in (["demo"], ["run", "--model", "scripted:story.toml", "go"]):
        ended = subprocess.run(
            [sys.executable, "-c", code, *args],
            cwd=project.root,
            env=project.environment(),
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        assert ended.returncode == 64
        assert "pip install 'boathook[agent]'" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert ended.stdout == ""
