"""A script's file and which turn comes next, without any model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boathook.agent.script import MAIN, Heard, Script, ScriptError, ToolResult, Turn
from boathook.agent.script_file import load_script, parse_script

if TYPE_CHECKING:
    from pathlib import Path


def script(text: str, **variables: str) -> Script:
    return parse_script(text, source="story.toml", variables=variables)


def play(script: Script, *heard: Heard, lane: str = MAIN) -> list[str]:
    """Return the texts of the turns that follow, one for each thing heard."""
    texts, played = [], 0
    for said in heard:
        turn = script.next_turn(lane, played, said)
        texts.append(turn.text)
        played = turn.number
    return texts


def fault(text: str, **variables: str) -> str:
    with pytest.raises(ScriptError) as caught:
        script(text, **variables)
    return str(caught.value)


def result(text: str, status: str = "success", tool: str = "execute") -> Heard:
    return Heard(results=(ToolResult(tool, "error" if status == "error" else "success", text),), input=text)


NOTHING = Heard()


def test_turns_are_played_in_the_order_of_the_file() -> None:
    two = script('[[turn]]\ntext = "one"\n[[turn]]\ntext = "two"\n')
    assert play(two, NOTHING, NOTHING) == ["one", "two"]


def test_an_exhausted_script_says_file_line_and_what_the_model_was_told() -> None:
    one = script('\n[[turn]]\ntext = "one"\n')
    with pytest.raises(ScriptError, match=r"story\.toml:2: .* after turn 1.*'go on'.*Add a turn"):
        one.next_turn(MAIN, 1, Heard(input="go on"))


BRANCH = """
[[turn]]
text = "run"
[[turn]]
when.result.contains = "OK"
text = "passed"
[[turn]]
when.result.status = "error"
otherwise = true
text = "refused"
[[turn]]
otherwise = true
text = "failed"
[[turn]]
text = "end"
"""


@pytest.mark.parametrize(
    ("heard", "branch"),
    [
        (result("OK"), "passed"),
        (result("no", status="error"), "refused"),
        (result("FAILED"), "failed"),
        (result("OK", status="error"), "passed"),
    ],
)
def test_exactly_one_branch_of_a_when_and_its_otherwises_is_played(heard: Heard, branch: str) -> None:
    assert play(script(BRANCH), NOTHING, heard, NOTHING) == ["run", branch, "end"]


def test_a_turn_whose_condition_fails_is_passed_over() -> None:
    text = '[[turn]]\nwhen.input.contains = "never"\ntext = "a"\n[[turn]]\ntext = "b"\n'
    assert play(script(text), NOTHING) == ["b"]


def test_until_repeats_a_turn_and_stops_before_the_first_play_when_it_holds_already() -> None:
    text = '[[turn]]\nuntil.result.contains = "OK"\ntext = "again"\n[[turn]]\ntext = "done"\n'
    assert play(script(text), result("F"), result("F"), result("OK")) == ["again", "again", "done"]
    assert play(script(text), result("OK")) == ["done"]


def test_then_jumps_to_the_named_turn() -> None:
    text = """
[[turn]]
name = "try"
text = "try"
[[turn]]
when.result.contains = "F"
text = "mend"
then = "try"
[[turn]]
text = "done"
"""
    assert play(script(text), NOTHING, result("F"), NOTHING, result("OK")) == ["try", "mend", "try", "done"]


@pytest.mark.parametrize(
    ("test", "holds", "fails"),
    [
        ('input.contains = ["a", "b"]', Heard(input="b a"), Heard(input="a")),
        ('input.lacks = "a"', Heard(input="b"), Heard(input="a")),
        ("input.matches = '^F\\w+$'", Heard(input="FAILED"), Heard(input="a FAILED")),
        ('conversation.contains = "sprint"', Heard(conversation="the sprint"), Heard(input="sprint")),
        ('result.tool = "ls"', result("", tool="ls"), result("")),
        ('result.status = "error"', result("", status="error"), result("")),
        ('result.lacks = "x"', result("y"), Heard(input="y")),
    ],
)
def test_every_condition_holds_and_fails(test: str, holds: Heard, fails: Heard) -> None:
    text = f'[[turn]]\nwhen.{test}\ntext = "yes"\n[[turn]]\notherwise = true\ntext = "no"\n'
    assert play(script(text), holds) == ["yes"]
    assert play(script(text), fails) == ["no"]


def test_one_result_must_pass_all_of_a_result_condition() -> None:
    text = '[[turn]]\nwhen.result = { tool = "ls", contains = "x" }\ntext = "yes"\n[[turn]]\ntext = "no"\n'
    apart = Heard(results=(ToolResult("ls", "success", ""), ToolResult("glob", "success", "x")))
    assert play(script(text), apart) == ["no"]


def test_each_agent_has_a_lane_of_its_own() -> None:
    text = '[[turn]]\ntext = "main"\n[[agent.general-purpose.turn]]\ntext = "sub"\n'
    assert play(script(text), NOTHING, lane="general-purpose") == ["sub"]
    with pytest.raises(ScriptError, match=r"no turns for the agent 'other'\. Add \[\[agent\.other\.turn\]\]"):
        script(text).next_turn("other", 0, NOTHING)


def test_placeholders_are_filled_in_every_string_and_braces_of_code_stay() -> None:
    text = """
[[turn]]
text = "in {{cwd}}"
touch = "{{cwd}}/here"
calls = [{ tool = "t", args = { deep = [{ path = "{{ cwd }}/a" }], code = "{x: {1}} ${HOME}" } }]
"""
    turn = script(text, cwd="/w").lanes[MAIN][0]
    assert (turn.text, turn.touch) == ("in /w", "/w/here")
    assert turn.calls[0].args == {"deep": [{"path": "/w/a"}], "code": "{x: {1}} ${HOME}"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[turn]]\ntxet = 1\n", "story.toml:1: turn 1: unknown key 'txet' (did you mean 'text'?)"),
        ('turm = 1\n[[turn]]\ntext = "a"\n', "story.toml: unknown key 'turm' (did you mean 'turn'?)"),
        ("[[turn]]\n", "turn 1: says nothing"),
        ("", "the script has no turns"),
        ("[[turn]\n", "story.toml: not TOML"),
        ("[[turn]]\ntext = 3\n", "`text` must be a string, not 3"),
        ('[[turn]]\ntext = "{{home}}"\n', "nothing is known as {{home}}. Known: cwd"),
        ("[[turn]]\ncalls = [{ args = {} }]\n", "turn 1: call 1: `tool` is missing"),
        (
            '[[turn]]\ncalls = [{ tool = "t", arg = {} }]\n',
            "call 1: unknown key 'arg' (did you mean 'args'?)",
        ),
        ('[[turn]]\ncalls = [{ tool = "t", args = { d = 2020-01-01 } }]\n', "what JSON can say"),
        ('[[turn]]\ntext = "a"\nwhen.result.status = "bad"\n', "when: result: `status` is 'bad'"),
        ('[[turn]]\ntext = "a"\nwhen.input.matches = "("\n', "when: input: `matches` is not a regular"),
        ('[[turn]]\ntext = "a"\nwhen.inputt = {}\n', "when: unknown key 'inputt'"),
        ('[[turn]]\ntext = "a"\nwhen = true\n', "when: must say something about"),
        ('[[turn]]\ntext = "a"\notherwise = true\n', "`otherwise` needs a turn with `when`"),
        ('[[turn]]\ntext = "a"\notherwise = 1\n', "`otherwise` must be true or false"),
        (
            '[[turn]]\ntext = "a"\nname = "go"\nthen = "got"\n',
            "`then` names no turn: 'got' (did you mean 'go'?)",
        ),
        ('[[turn]]\ntext = "a"\nname = "x"\n[[turn]]\ntext = "b"\nname = "x"\n', "stands more than once"),
        ('[[turn]]\ntext="a"\nname="x"\nthen="x"\nuntil.input.contains="y"\n', "both say what comes next"),
        ('chunk = 0\n[[turn]]\ntext = "a"\n', "`chunk` must be a whole number from 1 on"),
        ('turn = "a"\n', "`turn` must be a list of tables"),
        ('agent = 1\n[[turn]]\ntext = "a"\n', "`agent` must be a table"),
        ("[[agent.sub.turn]]\ntext = 1\n", "story.toml:1: agent sub, turn 1: `text` must be"),
    ],
)
def test_a_fault_says_where_it_is_and_what_to_do(text: str, words: str) -> None:
    assert words in fault(text, cwd="/w")


def test_a_header_inside_a_long_string_does_not_shift_the_lines() -> None:
    text = '[[turn]]\ntext = """\n[[turn]]\n"""\n[[turn]]\nnope = 1\n'
    assert fault(text).startswith("story.toml:5: turn 2: unknown key 'nope'")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"absent\.toml: cannot read the script"):
        load_script(tmp_path / "absent.toml")


def test_turn_numbers_count_from_one_and_lines_from_the_file() -> None:
    turns = script('\n\n[[turn]]\ntext = "a"\n[[turn]]\ntext = "b"\n').lanes[MAIN]
    assert [(turn.number, turn.line) for turn in turns] == [(1, 3), (2, 5)]
    assert isinstance(turns[0], Turn)
