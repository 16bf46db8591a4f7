"""Matcher texts: what they compile to and what is doubtful about them. Matching itself: test_match.py."""

from __future__ import annotations

import pytest

from boathook.config.matcher import MatcherError, compile_matcher, doubts
from boathook.terms.events import EVENTS


def codes(text: str, event: str = "PreToolUse") -> list[str]:
    return [code for code, _, _ in doubts(compile_matcher(text), EVENTS[event])]


@pytest.mark.parametrize("text", ["Bash", "Edit|Write", "a, b", "größe", "a-b_c 1"])
def test_a_text_of_names_is_a_list_of_exact_names(text: str) -> None:
    matcher = compile_matcher(text)
    assert matcher.names
    assert matcher.pattern is None


@pytest.mark.parametrize("text", ["^Bash$", "mcp__.*", "a.b", "Bash(x)", "a\n", "a/b", "Bash:*"])
def test_any_other_text_is_an_expression(text: str) -> None:
    assert compile_matcher(text).pattern is not None


@pytest.mark.parametrize("text", ["[", "(", "*Bash", "a{2,1}", "(?P<", "\\", "(?:" * 5000, "|", " , "])
def test_a_text_that_can_match_nothing_is_an_error(text: str) -> None:
    with pytest.raises(MatcherError):
        compile_matcher(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bash(git *)", ["matcher-rule"]), ("Bash(npm run test:*)|Edit", ["matcher-rule"]), ("Edit|Write(src/**/x)", []), ("mcp__a__b(x)", ["matcher-rule"]),
        ("Bash(Output)?", []), ("(Bash|Edit)", []), ("^Bash$", []), ("mcp__memory", ["matcher-server"]), ("mcp__a__b", []), ("mcp__a__", ["matcher-server"]),
        ("bash", ["matcher-case"]), ("BASH|edit", ["matcher-case", "matcher-case"]), ("execute", []), ("Execute", ["matcher-case"]), ("MyTool", []), ("*", []),
    ],
)  # fmt: skip
def test_what_a_matcher_probably_does_not_mean_is_said(text: str, found: list[str]) -> None:
    try:
        assert codes(text) == found
    except MatcherError:
        assert text == "Edit|Write(src/**/x)"  # `**` is no expression, and that is said instead


def test_a_rule_that_does_not_even_compile_is_told_what_it_is() -> None:
    with pytest.raises(MatcherError, match="tool names only, so write 'Bash'"):
        compile_matcher("Bash(**)")


@pytest.mark.parametrize(
    ("event", "text", "found"),
    [("SessionStart", "startup", []), ("SessionStart", "Startup", ["matcher-case"]), ("SessionStart", "boot", ["matcher-value"]),
     ("PreCompact", "manual|auto", []), ("SessionEnd", "logout", ["matcher-value"]), ("SubagentStart", "bash", []), ("Notification", "anything", [])],
)  # fmt: skip
def test_a_value_that_an_event_never_has_is_said(event: str, text: str, found: list[str]) -> None:
    assert codes(text, event) == found
