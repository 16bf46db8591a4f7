"""Which handlers apply to an event: contract section 4."""

from __future__ import annotations

import pytest

from boathook import match
from boathook.terms.events import EVENTS
from boathook.terms.tools import NATIVE_NAMES, WIRE_NAMES
from hooking import entry, lifecycle, snapshot


def chosen(config: object, value: str, event: str = "PreToolUse") -> list[str]:
    taken = snapshot(config)
    assert not taken.problems or all(problem.severity != "error" for problem in taken.problems)
    return [handler.name for handler in match.select(taken, EVENTS[event], value).handlers]


def ran(matcher: str, value: str, event: str = "PreToolUse") -> bool:
    return bool(chosen(lifecycle(event, entry(), matcher=matcher), value, event))


@pytest.mark.parametrize("matcher", ["", "*"])
def test_everything_is_matched(matcher: str) -> None:
    assert ran(matcher, "Bash")
    assert ran(matcher, "")
    assert ran(matcher, "mcp__a__b")


@pytest.mark.parametrize(
    ("matcher", "value", "fits"),
    [
        ("Bash", "Bash", True), ("Bash", "bash", False), ("Bash", "BashOutput", False), ("Bash", "ABash", False), ("Bash", "", False),
        ("Edit|Write", "Write", True), ("Edit|Write", "NotebookEdit", False), ("Edit,Write", "Write", True), (" Edit | Write ,", "Edit", True),
        ("my tool", "my tool", True), ("my-tool_2", "my-tool_2", True), ("Größe", "Größe", True),
        ("mcp__a__b", "mcp__a__b", True), ("mcp__a", "mcp__a__b", False), ("mcp__a__.*", "mcp__a__b", True), ("mcp__.*__write", "mcp__x__write_all", True),
        ("^Bash$", "Bash", True), ("ash.?", "Bash", True), ("B.sh", "Bash", True), ("Edit$", "NotebookEdit", True), ("^Edit", "NotebookEdit", False),
        ("^(?!Bash).*", "Edit", True), ("^(?!Bash).*", "Bash", False), (".*", "anything", True), ("Bash\n", "Bash", False),
    ],
)  # fmt: skip
def test_names_are_exact_and_expressions_are_searched(matcher: str, value: str, fits: bool) -> None:
    assert ran(matcher, value) is fits


@pytest.mark.parametrize(("native", "wire"), WIRE_NAMES.items())
def test_a_native_name_and_its_wire_name_are_one_in_lists(native: str, wire: str) -> None:
    for matcher in (native, wire, f"other|{native}", f"other, {wire}"):
        assert ran(matcher, native)
        assert ran(matcher, wire)


@pytest.mark.parametrize(("native", "wire"), WIRE_NAMES.items())
def test_an_expression_knows_the_wire_name_alone(native: str, wire: str) -> None:
    assert not ran(f"^{native}$", native)
    assert ran(f"^{wire}$", native)


def test_native_names_mean_nothing_outside_of_tools() -> None:
    assert not ran("execute", "Bash", "SubagentStart")
    assert ran("execute", "execute", "SubagentStart")


def test_every_wire_name_has_one_native_name() -> None:
    assert len(NATIVE_NAMES) == len(WIRE_NAMES)


def test_equal_handlers_run_once_in_the_place_of_the_first_that_fits() -> None:
    config = {"hooks": {"PreToolUse": [
        {"matcher": "Edit", "hooks": [entry("a")]}, {"matcher": "Bash", "hooks": [entry("b"), entry("a", timeout=3)]}, {"hooks": [entry("a", name="other"), entry("b")]},
    ]}}  # fmt: skip
    assert chosen(config, "Bash") == ["PreToolUse[1].hooks[0]", "PreToolUse[1].hooks[1]"]
    assert chosen(config, "Edit") == ["PreToolUse[0].hooks[0]", "PreToolUse[2].hooks[1]"]


def test_equal_handlers_of_two_files_run_once_and_are_listed_twice() -> None:
    taken = snapshot(lifecycle("Stop", entry("a")), lifecycle("Stop", entry("a")))
    assert len(match.select(taken, EVENTS["Stop"], "").handlers) == 1
    assert [handler.source for handler in taken.handlers] == ["0.json", "1.json"]


def test_handlers_that_differ_in_what_matters_all_run() -> None:
    entries: list[dict[str, object]] = [
        entry("a"),
        entry("a", onFailure="block"),
        entry("a", passEnv=["X"]),
        entry("b"),
        {"type": "command", "argv": ["a"]},
    ]
    assert len(chosen(lifecycle("Stop", *entries), "", "Stop")) == 5


def test_an_undecided_expression_counts_as_matching_with_a_problem() -> None:
    taken = snapshot(lifecycle("PreToolUse", entry(), matcher="^(a|aa)+$"))
    selection = match.select(taken, EVENTS["PreToolUse"], "a" * 60 + "!")
    assert len(selection.handlers) == 1
    (problem,) = selection.problems
    assert (problem.code, problem.pointer, problem.line) == ("matcher-slow", "/hooks/PreToolUse/0/hooks/0", 1)
    assert "(a|aa)+" in problem.message


def test_a_choice_is_remembered_up_to_a_limit() -> None:
    taken = snapshot(lifecycle("PreToolUse", entry(), matcher="Bash"))
    for number in range(match.REMEMBERED + 10):
        match.select(taken, EVENTS["PreToolUse"], f"tool{number}")
    assert len(taken.selections) == match.REMEMBERED
    assert match.remembered(taken, "PreToolUse", "tool1") is not None
    assert match.remembered(taken, "PreToolUse", "Bash") is None


@pytest.mark.parametrize("payload", [{}, {"tool_name": None}, {"tool_name": 5}, {"tool_name": ["Bash"]}])
def test_a_payload_without_the_compared_key_is_a_problem_only_where_matchers_wait_for_it(
    payload: dict[str, object],
) -> None:
    row = EVENTS["PreToolUse"]
    assert match.compared(row, payload) == ""
    waiting = snapshot(lifecycle("PreToolUse", entry(), matcher="Bash"))
    (problem,) = match.nothing_to_compare(waiting, row, payload)
    assert problem.code == "payload-key"
    assert "tool_name" in problem.message
    assert not match.nothing_to_compare(snapshot(lifecycle("PreToolUse", entry())), row, payload)
    assert not match.nothing_to_compare(waiting, row, {"tool_name": ""})
    assert not match.nothing_to_compare(waiting, EVENTS["Stop"], {})
