"""`boathook chat`, driven by Textual's pilot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, Static

from boathook.agent.chat import archive
from boathook.agent.chat.approval import Card
from boathook.agent.chat.lines import Asked, HookLine, Line, ToolLine
from boathook.agent.chat.log import LINES
from boathook.agent.chat.prompt_box import KEPT, History
from boathook.agent.chat.questions import AskName, AskTrust, Pick
from chat_support import chatting, drive, listened, logged, make
from run_project import alive, command, on

if TYPE_CHECKING:
    from pathlib import Path

    from textual.screen import Screen

    from run_project import Project

TALK = '[[turn]]\ntext = "First."\n[[turn]]\ntext = "Second."\n[[turn]]\ntext = "Third."\n'

SHELL = """
[[turn]]
text = "I try."
calls = [{ tool = "execute", args = { command = "echo ran >> ran.txt" } }]
[[turn]]
when.result = { tool = "execute", contains = "not now" }
text = "I was told why."
[[turn]]
text = "After."
calls = [{ tool = "execute", args = { command = "echo ran >> ran.txt" } }]
[[turn]]
text = "Other."
calls = [{ tool = "execute", args = { command = "echo other >> ran.txt" } }]
[[turn]]
text = "End."
"""

DECISION = '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "%s"}}}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = make(tmp_path, monkeypatch)
    project.script(TALK)
    return project


def shown(screen: Screen[Any]) -> str:
    return "\n".join(str(line.content) for line in screen.query(Line))


# The first start.


def test_the_first_start_asks_for_a_name_and_announces_it(project: Project) -> None:
    listened(project, "user.name.set")

    async def scene() -> None:
        async with chatting(project, name=None) as chat:
            await chat.field()
            await chat.pilot.press(*"Ada", "enter")
            await chat.sees("Welcome, Ada.")
            await chat.until(lambda: project.has("log.jsonl"))

    drive(scene())
    assert project.log() == [{"event": "user.name.set", "name": "Ada", "assistant_id": "boathook"}]
    assert archive.preferred_name() == "Ada"


def test_a_name_that_is_passed_over_is_announced_never_and_asked_for_once(project: Project) -> None:
    listened(project, "user.name.set", "session.end")

    async def scene() -> None:
        async with chatting(project, name=None) as chat:
            await chat.until(lambda: isinstance(chat.app.screen, AskName))
            await chat.pilot.press("escape")
            await chat.rests()
        async with chatting(project, name=archive.preferred_name()) as chat:
            assert not isinstance(chat.app.screen, AskName)

    drive(scene())
    assert project.events() == ["session.end", "session.end"]


@pytest.mark.parametrize(("key", "runs"), [("s", True), ("a", True), ("n", False)])
def test_a_project_s_hooks_are_asked_about_before_the_session_opens(
    project: Project, key: str, runs: bool
) -> None:
    (project.root / ".deepagents").mkdir()
    (project.root / ".git").mkdir()
    hooks = {"SessionStart": on(command("sh log.sh"), *(command(f"true {n}") for n in range(9)))}
    (project.root / ".deepagents/hooks.json").write_text(json.dumps({"hooks": hooks}))

    async def scene() -> None:
        async with chatting(project, name=None, given=False) as chat:
            await chat.until(lambda: isinstance(chat.app.screen, AskTrust))
            await chat.until(lambda: "log.sh" in shown(chat.app.screen))
            keys = chat.app.screen.query_one(".keys")
            await chat.until(lambda: keys.region.height)
            assert chat.app.screen.query_one("Vertical").content_region.contains_region(keys.region)
            await chat.pilot.press(key)
            await chat.until(lambda: isinstance(chat.app.screen, AskName))
            await chat.pilot.press("escape")
            await chat.rests()

    drive(scene())
    assert project.has("log.jsonl") == runs
    assert (project.home / ".boathook/trust.json").exists() == (key == "a")


# Permissions.


def test_the_card_is_drawn_after_permission_request_and_an_approval_runs_the_call(project: Project) -> None:
    project.script(SHELL)
    logged(project, "PermissionRequest", "Notification")
    listened(project, "permission.request", "input.required", "tool.result")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            card = await chat.card()
            heard = project.events()
            assert card.args == {"command": "echo ran >> ran.txt"}
            assert not project.has("ran.txt")
            await chat.pilot.press("y")
            await chat.until(lambda: project.has("ran.txt"))
            await chat.card()  # the second call asks again
            await chat.pilot.press("n")
            await chat.card()
            await chat.pilot.press("n")
            await chat.rests()
        assert sorted(heard) == ["Notification", "PermissionRequest", "input.required", "permission.request"]

    drive(scene())
    assert (project.root / "ran.txt").read_text() == "ran\n"


def test_a_rejection_says_why_to_the_model_and_is_a_result_with_an_error(project: Project) -> None:
    project.script(SHELL)
    listened(project, "tool.result", "tool.error")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.card()
            await chat.pilot.press("r")
            await chat.field()
            await chat.pilot.press("escape")
            await chat.card()
            await chat.until(lambda: not chat.app.query(Input))
            await chat.pilot.press("r")
            await chat.field()
            await chat.pilot.press(*"not now", "enter")
            await chat.sees("I was told why.")
            await chat.rests()

    drive(scene())
    [result] = [row for row in project.log() if row["event"] == "tool.result"]
    assert result["tool_status"] == "error"
    assert "not now" in result["tool_output"]
    assert result["tool_args"] == {"command": "echo ran >> ran.txt"}
    assert not project.has("ran.txt")


def test_an_approval_for_the_session_is_for_the_same_command_and_no_other(project: Project) -> None:
    project.script(SHELL)

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.card()
            await chat.pilot.press("a")
            await chat.card("echo other >> ran.txt")
            await chat.pilot.press("n")
            await chat.rests()

    drive(scene())
    assert (project.root / "ran.txt").read_text() == "ran\nran\n"


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_an_answer_by_a_hook_means_that_the_card_never_flashes_up(
    project: Project, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    project.script(SHELL)
    logged(project, PermissionRequest=on(command(f"echo '{DECISION % answer}'")))
    drawn: list[Card] = []
    monkeypatch.setattr(Card, "on_mount", drawn.append)

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("go")

    drive(scene())
    assert drawn == []
    assert project.has("ran.txt") == (answer == "allow")


def test_an_ask_of_a_hook_opens_the_card_although_such_calls_were_approved(project: Project) -> None:
    project.script(SHELL)
    ask = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}
    ask["hookSpecificOutput"]["permissionDecisionReason"] = "look twice"
    project.write("ask.json", json.dumps(ask))
    logged(project, PreToolUse=on(command("cat ask.json")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            first = await chat.card()
            await chat.until(lambda: "look twice" in shown(chat.app.screen))
            await chat.pilot.press("a")
            await chat.until(lambda: isinstance(chat.app.focused, Card) and chat.app.focused is not first)
            assert chat.app.query_one(Card).args == first.args
            await chat.pilot.press("escape")
            await chat.rests()

    drive(scene())


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        ('{ tool = "write_file", args = { file_path = "x.txt", content = "one\\ntwo" } }', "one\ntwo"),
        (
            '{ tool = "edit_file", args = { file_path = "x.txt", old_string = "a\\n", new_string = "b" } }',
            "- a\n+ b",
        ),
        ('{ tool = "execute", args = { command = "echo a\\nrm b" } }', "echo a\nrm b"),
        ('{ tool = "delete", args = { file_path = "x.txt" } }', '"file_path"'),
    ],
)
def test_a_card_shows_all_that_the_call_would_do(project: Project, call: str, seen: str) -> None:
    project.script(f"[[turn]]\ncalls = [{call}]\n[[turn]]\ntext = 'Done.'")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            card = await chat.card()
            await chat.until(lambda: seen in "\n".join(str(line.content) for line in card.query(Line)))
            await chat.pilot.press("n")
            await chat.rests()

    drive(scene())


def test_a_card_that_is_too_small_for_its_call_says_so_and_scrolls(project: Project) -> None:
    text = "\\n".join(f"line {number}" for number in range(50))
    project.script(f"""[[turn]]
calls = [{{ tool = "write_file", args = {{ file_path = "x.txt", content = "{text}" }} }}]
[[turn]]
text = "Done."
""")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            card = await chat.card()
            await chat.until(lambda: "see all of it" in str(card.query_one(".keys", Static).content))
            view = card.query_one(VerticalScroll)
            await chat.pilot.press("down", "pagedown")
            await chat.until(lambda: view.scroll_y == 7)
            await chat.pilot.press("n")
            await chat.rests()

    drive(scene())


# Hooks on the screen.


def test_a_slow_handler_shows_its_message_and_the_time_and_then_one_line_that_opens(project: Project) -> None:
    slow = command(
        "cat > /dev/null; until [ -e go ]; do sleep 0.01; done; echo loud >&2; exit 2",
        statusMessage="Weighing anchor",
    )
    logged(project, UserPromptSubmit=on(slow))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            running = chat.app.running
            await chat.until(lambda: running.display and "Weighing anchor" in str(running.content))
            assert " ms" in str(running.content) or " s" in str(running.content)
            project.write("go", "")
            await chat.sees("Refused: loud")
            await chat.until(lambda: not running.display)
            [line] = chat.app.query(HookLine)
            assert "refused: loud" in str(line.content)
            assert "until [ -e go ]" not in str(line.content)
            line.focus()
            await chat.pilot.press("enter")
            shown = str(line.content)
            assert "until [ -e go ]" in shown
            assert "exit 2" in shown
            assert "stderr" in shown
            await chat.pilot.press("space")
            assert "until [ -e go ]" not in str(line.content)

    drive(scene())


def test_what_a_handler_prints_is_shown_and_not_obeyed(project: Project) -> None:
    answer = {"systemMessage": "\x1b[2J\x1b[31m[red]bold[/red]\x07"}
    project.write("say.json", json.dumps(answer))
    logged(project, UserPromptSubmit=on(command("cat say.json")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("go")
            assert r"! \x1b[2J\x1b[31m[red]bold[/red]\x07" in chat.text

    drive(scene())


def test_a_refused_prompt_returns_to_the_box_with_the_reason(project: Project) -> None:
    logged(
        project, UserPromptSubmit=on(command("grep -q rude && { echo mind your manners >&2; exit 2; }; true"))
    )

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("a rude\nprompt")
            assert chat.app.box.text == "a rude\nprompt"
            assert "Refused: mind your manners" in chat.text
            await chat.says("a kind one")
            assert "First." in chat.text
            assert chat.app.box.text == ""

    drive(scene())


def test_continue_false_ends_the_turn_with_its_reason_and_the_chat_goes_on(project: Project) -> None:
    project.write("stop.json", json.dumps({"continue": False, "stopReason": "low tide"}))
    logged(project, Stop=on(command("if [ -e stop.json ]; then cat stop.json; rm stop.json; fi")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("one")
            assert "Stopped by a Stop hook: low tide" in chat.text
            await chat.says("two")
            assert "Second." in chat.text

    drive(scene())


def test_hooks_shows_what_is_loaded_from_where_and_how_it_ran(project: Project) -> None:
    logged(project, "SessionStart", "Stop")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("/hooks")
            await chat.sees("did not run yet")
            assert "hooks.json:1  ran 1 time, last ok in" in chat.text
            assert "given" in chat.text

    drive(scene())


def test_a_model_that_fails_is_told_and_the_chat_goes_on(project: Project) -> None:
    project.script('[[turn]]\nerror = "the line went dead"\n[[turn]]\ntext = "Back again."\n')

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("one")
            assert "the line went dead" in chat.text
            await chat.says("two")
            assert "Back again." in chat.text

    drive(scene())


# Commands.


def starts(project: Project) -> list[tuple[str, Any]]:
    rows = (row for row in project.log() if "hook_event_name" in row)
    return [
        (row["hook_event_name"], row.get("source") or row.get("reason") or row.get("trigger")) for row in rows
    ]


def test_every_command_has_its_source_and_its_reason(project: Project) -> None:
    project.script(TALK + '[[agent.summary.turn]]\ntext = "We said hello."\n')
    logged(project, "SessionStart", "SessionEnd", "PreCompact")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("hello")
            first = chat.app.chats.conversation.session_id
            await chat.says("/compact keep names")
            assert "The history was compacted." in chat.text
            await chat.says("/clear")
            assert "First." not in chat.text
            assert chat.app.chats.conversation.session_id != first
            await chat.types("/resume")
            await chat.until(lambda: isinstance(chat.app.screen, Pick))
            await chat.pilot.press("enter")
            await chat.until(lambda: chat.app.chats.conversation.session_id == first)
            await chat.rests()
            assert "We said hello." in chat.text
            await chat.types("/quit")
            assert await chat.ended() == 0

    drive(scene())
    assert starts(project) == [
        ("SessionStart", "startup"),
        ("PreCompact", "manual"),
        ("SessionStart", "compact"),
        ("SessionEnd", "clear"),
        ("SessionStart", "clear"),
        ("SessionEnd", "resume"),
        ("SessionStart", "resume"),
        ("SessionEnd", "prompt_input_exit"),
    ]
    [compaction] = [row for row in project.log() if row["hook_event_name"] == "PreCompact"]
    assert compaction["custom_instructions"] == "keep names"


def test_a_hook_that_refuses_a_compaction_leaves_the_history_as_it_is(project: Project) -> None:
    logged(project, PreCompact=on(command("echo too early >&2; exit 2")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("hello")
            await chat.says("/compact")
            assert "Not compacted: too early" in chat.text
            assert len(await chat.app.chats.conversation.history()) == 2

    drive(scene())


def test_an_earlier_chat_goes_on_with_its_history(project: Project) -> None:
    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("remember the tide")
        [past] = archive.earlier(str(project.root))
        assert past.title == "remember the tide"
        async with chatting(project, resume=past.session_id) as chat:
            assert "remember the tide" in chat.text
            assert "First." in chat.text
            await chat.says("and now?")
            assert "Second." in chat.text

    drive(scene())


def test_a_new_session_reads_the_hooks_anew_and_tells_what_is_wrong_with_them(project: Project) -> None:
    logged(project, "SessionStart")

    async def scene() -> None:
        async with chatting(project) as chat:
            project.hooks({"SesionStart": []})
            await chat.says("/clear")
            assert "SesionStart" in chat.text
            project.write("hooks.json", "{")
            await chat.says("/clear")
            assert "file-syntax" in chat.text

    drive(scene())


def test_a_misspelt_command_is_told_and_never_sent_to_the_model(project: Project) -> None:
    logged(project, "UserPromptSubmit")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("/claer")
            await chat.sees("No command is called /claer.")
            await chat.says("/usr/bin is a folder")

    drive(scene())
    assert [row["prompt"] for row in project.log()] == ["/usr/bin is a folder"]


# Cancelling and leaving.

HANGING = """
[[turn]]
text = "I wait."
calls = [{ tool = "execute", args = { command = "sleep 60 & echo $! > child; wait" } }]
[[turn]]
text = "Here I am."
"""


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
def test_cancelling_a_turn_ends_the_tool_s_processes_and_gives_the_call_its_result(
    project: Project, key: str
) -> None:
    project.script(HANGING)
    logged(project, "PostToolUseFailure", PreToolUse=on(command(ALLOW)))
    listened(project, "tool.result", "tool.error")

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.until(lambda: project.has("child") and (project.root / "child").read_text().strip())
            await chat.pilot.press(key)
            await chat.rests()
            assert "Cancelled." in chat.text
            await chat.until(lambda: not alive(int((project.root / "child").read_text())))
            [tool] = chat.app.query(ToolLine)
            assert "✗" in str(tool.content)
            await chat.says("still there?")
            assert "Here I am." in chat.text

    drive(scene())
    [result] = [row for row in project.log() if row.get("event") == "tool.result"]
    assert result["tool_status"] == "error"
    [failure] = [row for row in project.log() if row.get("hook_event_name") == "PostToolUseFailure"]
    assert failure["is_interrupt"] is True


ALLOW = """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'"""


def test_ctrl_c_cancels_a_running_handler_with_all_its_children(project: Project) -> None:
    logged(project, UserPromptSubmit=on(command("sleep 60 & echo $! > child; wait")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.until(lambda: project.has("child") and (project.root / "child").read_text().strip())
            await chat.pilot.press("ctrl+c")
            await chat.rests()
            assert not alive(int((project.root / "child").read_text()))

    drive(scene())


def test_ctrl_c_while_a_card_asks_takes_the_card_away(project: Project) -> None:
    project.script(SHELL)

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.card()
            await chat.pilot.press("ctrl+c")
            await chat.rests()
            assert not chat.app.query(Card)
            assert chat.app.focused is chat.app.box

    drive(scene())


def test_a_slow_end_hook_is_shown_running_and_never_freezes_the_screen(project: Project) -> None:
    slow = command("until [ -e go ]; do sleep 0.01; done; sh log.sh", statusMessage="Stowing the gear")
    logged(project, SessionEnd=on(slow))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.pilot.press("ctrl+c", "ctrl+c")
            running = chat.app.running
            await chat.until(lambda: running.display and "Stowing the gear" in str(running.content))
            before = str(running.content)
            await chat.until(lambda: str(running.content) != before)  # the time goes on: it is drawn
            await chat.pilot.press("x")
            assert chat.app.box.text == "x"
            project.write("go", "")
            assert await chat.ended() == 130

    drive(scene())
    assert [row["reason"] for row in project.log()] == ["prompt_input_exit"]


def test_a_third_ctrl_c_forces_out_and_kills_the_end_hook(project: Project) -> None:
    logged(project, SessionEnd=on(command("echo $$ > child; sleep 60; sh log.sh")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.pilot.press("ctrl+c", "ctrl+c")
            await chat.until(lambda: project.has("child") and (project.root / "child").read_text().strip())
            await chat.pilot.press("ctrl+c")
            assert await chat.ended() == 130

    drive(scene())
    assert not alive(int((project.root / "child").read_text()))
    assert not project.has("log.jsonl")


def test_esc_while_an_end_hook_holds_up_clear_kills_it_and_the_new_session_takes_prompts(
    project: Project,
) -> None:
    slow = "if [ ! -e child ]; then echo $$ > child; sleep 60; fi; sh log.sh"
    logged(project, "SessionStart", SessionEnd=on(command(slow)))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("hello")
            await chat.types("/clear")
            await chat.until(lambda: project.has("child") and (project.root / "child").read_text().strip())
            await chat.pilot.press("escape")
            await chat.rests()
            assert not alive(int((project.root / "child").read_text()))
            assert "hello" not in chat.text
            await chat.says("and now?")
            assert "First." in chat.text  # the story began anew

    drive(scene())
    assert starts(project) == [
        ("SessionStart", "startup"),
        ("SessionStart", "clear"),
        ("SessionEnd", "other"),
    ]


def test_esc_while_the_session_opens_leaves_a_session_that_takes_prompts(project: Project) -> None:
    logged(project, SessionStart=on(command("touch begun; sleep 60")))

    async def scene() -> None:
        async with chatting(project, name=None) as chat:
            await chat.until(lambda: isinstance(chat.app.screen, AskName))
            await chat.pilot.press("escape")
            await chat.until(lambda: project.has("begun"))
            await chat.pilot.press("escape")
            await chat.rests()
            await chat.says("hello")
            assert "First." in chat.text

    drive(scene())


def test_a_turn_that_was_cancelled_can_be_resumed(project: Project) -> None:
    project.script(HANGING)
    logged(project, PreToolUse=on(command(ALLOW)))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.until(lambda: project.has("child"))
            await chat.pilot.press("escape")
            await chat.rests()
            assert chat.app.chats.resumable == chat.app.chats.conversation.session_id

    drive(scene())
    assert [past.title for past in archive.earlier(str(project.root))] == ["go"]


# Habits.


def test_keys_that_come_in_one_burst_act_in_their_order(project: Project) -> None:
    async def scene() -> None:
        async with chatting(project) as chat:
            chat.app.box.put("a draft")
            for key in ("ctrl+u", "n", "o", "backspace", "e", "w", "home", "a", "enter"):
                chat.app.post_message(Key(key, key if len(key) == 1 else None))
            await chat.until(lambda: any("anew" in str(line.content) for line in chat.app.query(Asked)))
            await chat.rests()

    drive(scene())


def test_the_box_has_a_history_new_lines_and_takes_what_is_pasted(project: Project) -> None:
    from textual.events import Paste

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("one")
            await chat.says("two")
            box = chat.app.box
            await chat.pilot.press(*"draft", "up")
            assert box.text == "two"
            await chat.pilot.press("up")
            assert box.text == "one"
            await chat.pilot.press("down", "down")
            assert box.text == "draft"
            await chat.pilot.press("ctrl+j", *"more")
            assert box.text == "draft\nmore"
            box.put("")
            chat.app.post_message(Paste("a\nb"))
            await chat.until(lambda: box.text == "a\nb")

    drive(scene())
    drive(_remembers(project))


async def _remembers(project: Project) -> None:
    async with chatting(project) as chat:
        await chat.pilot.press("up")
        assert chat.app.box.text == "two"
    history = project.home / ".boathook/history.jsonl"
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_prompt_that_comes_while_a_turn_is_under_way_stays_in_the_box(project: Project) -> None:
    logged(project, Stop=on(command("until [ -e go ]; do sleep 0.01; done")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("one")
            await chat.sees("First.")
            await chat.types("two")
            assert chat.app.box.text == "two"
            project.write("go", "")
            await chat.rests()

    drive(scene())


def test_what_needs_no_waiting_is_done_while_a_turn_is_under_way(project: Project) -> None:
    logged(project, Stop=on(command("touch begun; sleep 60")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("one")
            await chat.until(lambda: project.has("begun"))
            await chat.types("/hooks")
            await chat.sees("did not run yet")
            await chat.types("/quit")
            assert await chat.ended() == 0

    drive(scene())


def test_what_is_typed_when_a_card_opens_is_text_and_no_answer(project: Project) -> None:
    project.script(SHELL)
    logged(project, PreToolUse=on(command("until [ -e go ]; do sleep 0.01; done")))

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            await chat.until(lambda: chat.app.is_busy)
            await chat.pilot.press(*"say")
            project.write("go", "")
            while not chat.app.query(Card):
                await chat.pilot.press("y")
            await chat.pilot.press("y")
            assert chat.app.box.text.startswith("sayy")
            assert not project.has("ran.txt")
            await chat.card()  # takes the keyboard once nobody types
            await chat.pilot.press("escape")
            await chat.rests()

    drive(scene())
    assert not project.has("ran.txt")


def test_a_key_that_repeats_answers_one_card_and_not_the_next_one(project: Project) -> None:
    project.script(SHELL)

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.types("go")
            first = await chat.card()
            await chat.pilot.press("y")
            await chat.until(lambda: chat.app.query(Card) and chat.app.query_one(Card) is not first)
            await chat.pilot.press("y")
            assert chat.app.query(Card)
            await chat.card()
            await chat.pilot.press("escape")
            await chat.rests()

    drive(scene())
    assert (project.root / "ran.txt").read_text() == "ran\n"


def test_ctrl_d_quits_where_there_is_nothing_to_delete(project: Project) -> None:
    async def scene() -> None:
        async with chatting(project) as chat:
            chat.app.box.put("x")
            await chat.pilot.press("left", "ctrl+d")
            assert chat.app.box.text == ""
            await chat.pilot.press("ctrl+d")
            assert await chat.ended() == 0

    drive(scene())


def test_what_is_kept_can_be_read_by_its_owner_alone(project: Project) -> None:
    (project.home / ".boathook").mkdir(mode=0o755)

    async def scene() -> None:
        async with chatting(project) as chat:
            await chat.says("a secret")
            files = [path for path in (project.home / ".boathook").rglob("*") if path.is_file()]
            assert {path.name for path in files} >= {"chat.sqlite", "chat.sqlite-wal", "history.jsonl"}
            assert {oct(path.stat().st_mode & 0o077) for path in files} == {"0o0"}

    drive(scene())


def test_files_that_cannot_be_read_cost_what_is_in_them_and_not_the_chat(project: Project) -> None:
    for name in ("history.jsonl", "profile.json"):
        (project.home / ".boathook" / name).mkdir(parents=True)

    async def scene() -> None:
        async with chatting(project, name=None) as chat:
            await chat.until(lambda: isinstance(chat.app.screen, AskName))
            await chat.pilot.press(*"Ada", "enter")
            await chat.sees("could not be kept")
            await chat.rests()
            await chat.says("hello")
            assert "First." in chat.text

    drive(scene())


def test_a_long_history_is_cut_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f'"prompt {number}"\n' for number in range(2 * KEPT + 1)))
    assert History(path).older("") == f"prompt {2 * KEPT}"
    assert len(path.read_text().splitlines()) == KEPT


def test_a_burst_of_lines_leaves_no_more_than_are_kept(project: Project) -> None:
    async def scene() -> None:
        async with chatting(project) as chat:
            for number in range(2 * LINES):
                chat.app.log_view.tell(f"line {number}")
            await chat.until(lambda: len(chat.app.log_view.children) <= LINES)
            assert f"line {2 * LINES - 1}" in chat.text

    drive(scene())


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (40, 12)])
def test_nothing_is_wider_than_the_terminal_also_after_a_resize(
    project: Project, size: tuple[int, int]
) -> None:
    project.script(SHELL)
    logged(project, "UserPromptSubmit")

    async def scene() -> None:
        async with chatting(project, size=(100, 30)) as chat:
            await chat.pilot.resize_terminal(*size)
            await chat.types("/help")
            await chat.types("a long prompt " * 20)
            card = await chat.card()
            widgets = chat.app.screen.query(Widget)
            assert all(widget.region.right <= size[0] for widget in widgets if widget.display)
            assert card.region.bottom <= size[1]
            await chat.pilot.press("n")
            await chat.card()
            await chat.pilot.press("escape")
            await chat.rests()

    drive(scene())
