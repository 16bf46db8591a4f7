"""What handlers of five other agents say, read by their agents' rules; no process is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook import Hooks
from boathook.dialects import named
from boathook.dialects.dialect import Source
from boathook.snapshot import take
from boathook.terms.events import EVENTS
from hooking import said

if TYPE_CHECKING:
    from boathook.config.schema import Document
    from boathook.run.process import Cancel, Command, Exit
    from boathook.terms.decision import Decision

TOOL = {"tool_name": "execute", "tool_input": {"command": "ls"}}
ASKED = {**TOOL, "permission_suggestions": []}
FAILED = {**TOOL, "error": "boom"}
SUFFIX = {"codex": ".json", "gemini": ".json", "cursor": ".json", "copilot": ".json", "kimi": ".toml"}


def file_of(agent: str, event: str, **fields: object) -> bytes:
    """A file of one handler."""
    if agent == "kimi":
        return f'[[hooks]]\nevent = "{event}"\ncommand = "guard"\n'.encode()
    entry: dict[str, object] = {"type": "command", "command": "guard", **fields}
    if agent == "copilot":
        entry["bash"] = entry.pop("command")
    inner = [entry] if agent in {"cursor", "copilot"} else [{"hooks": [entry]}]
    return json.dumps(
        {"version": 1, "hooks": {event: inner}} if agent == "cursor" else {"hooks": {event: inner}}
    ).encode()


def document(agent: str, data: bytes, name: str = "") -> Document:
    return named(agent).read(named(agent), Source(data, name or f"x{SUFFIX[agent]}", "given", Path("/work")))


def decided(
    agent: str, theirs: str, ours: str, payload: dict[str, Any], ended: Exit, **fields: object
) -> Decision:
    """What comes of one handler that ended so."""

    def start(_command: Command, _cancel: Cancel | None) -> Exit:
        return ended

    hooks = Hooks(take([document(agent, file_of(agent, theirs, **fields))]), "/", start=start)
    return hooks.dispatch_sync(ours, payload)


def inner(**fields: object) -> str:
    return json.dumps({"hookSpecificOutput": fields})


@pytest.mark.parametrize(
    ("agent", "theirs", "ours", "payload", "ended", "permission", "block", "says"),
    [
        # Codex
        ("codex", "PreToolUse", "PreToolUse", TOOL, said(stderr="no", code=2), "deny", True, "no"),
        ("codex", "PreToolUse", "PreToolUse", TOOL, said(code=2), "deny", True, ""),
        ("codex", "PreToolUse", "PreToolUse", TOOL, said(stderr="no", code=1), None, False, ""),
        ("codex", "PreToolUse", "PreToolUse", TOOL, said(inner(permissionDecision="allow")), None, False, ""),
        ("codex", "PreToolUse", "PreToolUse", TOOL, said(inner(permissionDecision="ask")), "ask", False, ""),
        ("codex", "PreToolUse", "PreToolUse", TOOL, said('{"decision": "block", "reason": "r"}'), "deny", True, "r"),
        ("codex", "PermissionRequest", "PermissionRequest", ASKED, said(inner(decision={"behavior": "allow"})), "allow", False, ""),
        ("codex", "PermissionRequest", "PermissionRequest", ASKED, said(inner(decision={"behavior": "allow", "interrupt": True})), "deny", True, "interrupt"),
        # Gemini CLI: JSON before the exit status, text by it
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said('{"decision": "block", "reason": "r"}'), "deny", True, "r"),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said('{"decision": "allow"}', code=2), None, False, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said('{"decision": "deny"}', code=1), "deny", True, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said(stderr='{"decision": "deny", "reason": "r"}'), "deny", True, "r"),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said('{"decision": "ask"}'), "ask", False, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said('{"decision": "perhaps"}'), "deny", True, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said("words"), None, False, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said("words", code=1), None, False, ""),
        ("copilot", "preToolUse", "PreToolUse", TOOL, said('{"permissionDecision": "deny"'), "deny", True, "cannot be read"),
        ("copilot", "preToolUse", "PreToolUse", TOOL, said("words"), None, False, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said(stderr="sh: guard: not found", code=127), "deny", True, "not found"),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said(code=2), "deny", True, ""),
        ("gemini", "BeforeTool", "PreToolUse", TOOL, said(code=3), None, False, ""),
        ("gemini", "PreCompress", "PreCompact", {"trigger": "auto"}, said('{"decision": "deny"}'), None, False, ""),
        # Cursor
        ("cursor", "preToolUse", "PreToolUse", TOOL, said('{"permission": "allow"}'), None, False, ""),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said('{"permission": "ask"}'), "ask", False, ""),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said('{"permission": "deny", "agentMessage": "r"}'), "deny", True, "r"),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said('{"permission": "nope"}'), "deny", True, "cannot be read"),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said('{"permission": "deny"'), "deny", True, "cannot be read"),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said(), None, False, ""),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said(stderr="r", code=2), "deny", True, "r"),
        ("cursor", "preToolUse", "PreToolUse", TOOL, said(stderr="r", code=1), None, False, ""),
        ("cursor", "stop", "Stop", {}, said(stderr="r", code=2), None, False, ""),
        ("cursor", "beforeSubmitPrompt", "UserPromptSubmit", {"prompt": "a"}, said('{"continue": false}'), None, True, ""),
        ("cursor", "beforeSubmitPrompt", "UserPromptSubmit", {"prompt": "a"}, said('{"continue": "no"}'), None, True, ""),
        # GitHub Copilot
        ("copilot", "preToolUse", "PreToolUse", TOOL, said('{"permissionDecision": "allow"}'), None, False, ""),
        ("copilot", "preToolUse", "PreToolUse", TOOL, said('{"permissionDecision": "ask"}'), "ask", False, ""),
        ("copilot", "preToolUse", "PreToolUse", TOOL, said('{"permissionDecision": "no"}'), "deny", True, "cannot be read"),
        ("copilot", "preToolUse", "PreToolUse", TOOL, said(stderr="r", code=2), "deny", True, "r"),
        ("copilot", "preToolUse", "PreToolUse", TOOL, said(stderr="r", code=1), None, False, ""),
        ("copilot", "permissionRequest", "PermissionRequest", ASKED, said(stderr="r", code=2), "deny", True, "r"),
        ("copilot", "permissionRequest", "PermissionRequest", ASKED, said('{"behavior": "allow"}'), "allow", False, ""),
        ("copilot", "agentStop", "Stop", {}, said(stderr="r", code=2), None, False, ""),
        ("copilot", "userPromptSubmitted", "UserPromptSubmit", {"prompt": "a"}, said(stderr="r", code=2), None, False, ""),
        ("copilot", "postToolUseFailure", "PostToolUseFailure", FAILED, said(stderr="r", code=2), None, False, ""),
        # Kimi CLI: two things decide, the rest is for nobody
        ("kimi", "PreToolUse", "PreToolUse", TOOL, said(stderr="r", code=2), "deny", True, "r"),
        ("kimi", "PreToolUse", "PreToolUse", TOOL, said(inner(permissionDecision="deny", permissionDecisionReason="r")), "deny", True, "r"),
        ("kimi", "PreToolUse", "PreToolUse", TOOL, said(inner(permissionDecision="allow")), None, False, ""),
        ("kimi", "PreToolUse", "PreToolUse", TOOL, said(inner(permissionDecision="ask")), None, False, ""),
        ("kimi", "PreToolUse", "PreToolUse", TOOL, said('{"hookSpecificOutput": [1]}'), None, False, ""),
        ("kimi", "PreToolUse", "PreToolUse", TOOL, said('{"continue": false}'), None, False, ""),
        ("kimi", "PostToolUse", "PostToolUse", TOOL, said(stderr="r", code=2), None, False, ""),
    ],
)  # fmt: skip
def test_an_answer_means_what_it_means_to_the_agent_that_it_was_written_for(
    agent: str, theirs: str, ours: str, payload: dict[str, Any], ended: Exit, permission: str | None, block: bool, says: str
) -> None:  # fmt: skip
    decision = decided(agent, theirs, ours, payload, ended)
    assert (decision.permission, decision.block) == (permission, block)
    assert says in (decision.reason or "")


@pytest.mark.parametrize(
    ("agent", "theirs", "reply"),
    [
        ("codex", "PreToolUse", {"hookSpecificOutput": {"permissionDecision": "allow"}}),
        ("gemini", "BeforeTool", {"decision": "allow"}),
        ("cursor", "preToolUse", {"permission": "allow"}),
        ("copilot", "preToolUse", {"permissionDecision": "allow"}),
        ("kimi", "PreToolUse", {"hookSpecificOutput": {"permissionDecision": "allow"}}),
    ],
)
def test_an_allow_of_another_agent_before_a_call_grants_nothing(
    agent: str, theirs: str, reply: object
) -> None:
    decision = decided(agent, theirs, "PreToolUse", TOOL, said(json.dumps(reply)))
    assert decision.permission is None


@pytest.mark.parametrize(
    ("agent", "theirs", "reply"),
    [
        ("codex", "PreToolUse", {"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "x"}}}),
        ("gemini", "BeforeTool", {"hookSpecificOutput": {"tool_input": {"command": "x"}}}),
        ("cursor", "preToolUse", {"updated_input": {"command": "x"}}),
        ("copilot", "preToolUse", {"modifiedArgs": {"command": "x"}}),
    ],
)  # fmt: skip
def test_a_changed_input_is_not_applied_and_that_is_said(agent: str, theirs: str, reply: object) -> None:
    decision = decided(agent, theirs, "PreToolUse", TOOL, said(json.dumps(reply)))
    assert decision.permission is None
    assert "answer-unapplied" in [problem.code for problem in decision.diagnostics]


@pytest.mark.parametrize(
    ("agent", "theirs", "ours", "payload", "reply", "context"),
    [
        ("codex", "PostToolUse", "PostToolUse", TOOL, {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "c"}}, "c"),
        ("gemini", "BeforeAgent", "UserPromptSubmit", {"prompt": "a"}, {"hookSpecificOutput": {"additionalContext": "c"}}, "c"),
        ("cursor", "postToolUse", "PostToolUse", TOOL, {"additional_context": "c"}, "c"),
        ("copilot", "postToolUse", "PostToolUse", TOOL, {"additionalContext": "c"}, "c"),
    ],
)  # fmt: skip
def test_words_for_the_model_reach_it(
    agent: str, theirs: str, ours: str, payload: dict[str, Any], reply: object, context: str
) -> None:
    decision = decided(agent, theirs, ours, payload, said(json.dumps(reply)))
    assert (decision.context, decision.diagnostics) == ((context,), ())


def test_a_guard_of_cursor_that_fails_refuses_where_its_file_says_so() -> None:
    failed = said(stderr="boom", code=1)
    assert decided("cursor", "preToolUse", "PreToolUse", TOOL, failed, failClosed=True).permission == "deny"
    assert decided("cursor", "preToolUse", "PreToolUse", TOOL, failed).permission is None


@pytest.mark.parametrize(
    ("agent", "data", "codes"),
    [
        ("codex", b'{"hooks": []}', ["entry-type"]),
        ("codex", b'{"hooks": {"PreToolUse": [{"matcher": "(", "hooks": []}]}}', ["matcher-invalid"]),
        ("gemini", b'{"hooks": 3}', ["entry-type"]),
        ("gemini", b'{"hooks": {"BeforeTool": [{"hooks": [{"type": "runtime"}]}]}}', ["dialect-guard"]),
        ("gemini", b'{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "a", "timeout": -1}]}]}}', ["timeout-invalid"]),
        ("gemini", b'{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "a", "timeout": 30}]}]}}', ["dialect-note"]),
        ("gemini", b'{"hooks": {"AfterModel": []}}', []),
        ("cursor", b'{"hooks": {"preToolUse": {}}}', ["entry-type"]),
        ("cursor", b'{"hooks": {"subagentStart": [{"command": "a"}]}}', ["dialect-weaker"]),
        ("cursor", b'{"hooks": {"preToolUse": [3, {"command": ""}, {"command": "a", "matcher": "("}]}}', ["entry-type", "handler-command", "matcher-invalid"]),
        ("cursor", b'{"hooks": {"stop": [{"command": "a"}], "stop": [{"command": "b", "wait": 1}]}}', ["key-duplicate", "key-unknown"]),
        ("copilot", b'{"hooks": {"preToolUse": [{"type": "http"}, {"type": "command"}]}}', ["dialect-guard", "handler-command"]),
        ("copilot", b"[]", ["file-shape"]),
        ("copilot", b'{"hooks": {"agentStop": [{"bash": "a", "env": {"A": 1}}, {"bash": "a", "env": []}, {"bash": "a", "env": {"A=B": "c"}}]}}', ["entry-type"] * 3),
        ("copilot", b'{"hooks": {"agentStop": [{"bash": "a", "env": {"A": "$HOME"}}]}}', ["dialect-note"]),
        ("kimi", b"hooks = 1", ["entry-type"]),
        ("kimi", b"[[hooks]]\ncommand = 'a'", ["entry-type"]),
        ("kimi", b"hooks = [1]", ["entry-type"]),
        ("kimi", b"[[hooks]]\nevent = 3", ["entry-type"]),
        ("kimi", b"[[hooks]]\nevent = 'Stop'\ncommand = 1979-05-27\nwhen = 07:32:00", ["key-unknown"]),
        ("kimi", b"[[hooks]\n", ["file-syntax"]),
        ("kimi", b"a = " + b"[" * 5000, ["file-syntax"]),
        ("kimi", b"\xff", ["file-encoding"]),
        ("kimi", b"default_model = 'x'", []),
    ],
)  # fmt: skip
def test_bad_input_is_named_and_costs_only_itself(agent: str, data: bytes, codes: list[str]) -> None:
    problems = document(agent, data).problems
    assert [problem.code for problem in problems] == codes
    assert all(problem.message for problem in problems)


def test_a_problem_in_toml_is_shown_at_the_header_of_its_table() -> None:
    text = '# a note\n[a]\nb = """\n[[hooks]]\n"""\n[[hooks]]\nevent = "Stop"\ncommand = "a"\n\n[[hooks]]\nevent = "Later"\n'
    (problem,) = document("kimi", text.encode()).problems
    assert (problem.code, problem.pointer, problem.line) == ("event-unknown", "/hooks/1/event", 10)


def test_both_spellings_of_a_toml_list_are_read_and_placed() -> None:
    text = """\
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "a"
[[hooks.PreToolUse]]
hooks = [{type = "command", command = "b"}, {type = "agent"}]
"""
    found = document("codex", text.encode(), "config.toml")
    assert [(handler.command, handler.line) for handler in found.handlers] == [("a", 3), ("b", 6)]
    assert [(problem.code, problem.line) for problem in found.problems] == [
        ("dialect-note", 1),
        ("dialect-guard", 6),
    ]


def test_a_patch_of_codex_is_known_to_lists_and_expressions_by_all_its_names() -> None:
    agent = named("codex")
    for text in ("Write", "apply_patch", "^(Edit|Write)$", "^apply_patch$"):
        data = json.dumps(
            {"hooks": {"PreToolUse": [{"matcher": text, "hooks": [{"type": "command", "command": "a"}]}]}}
        )
        ((handler,), problems) = (found := document("codex", data.encode())).handlers, found.problems
        assert problems == ()
        for tool in ("Write", "Edit"):
            assert handler.matcher.matches(*agent.names(EVENTS["PreToolUse"], tool))
        assert not handler.matcher.matches(*agent.names(EVENTS["PreToolUse"], "Bash"))


AGENTS = st.sampled_from(sorted(SUFFIX))
WORDS = st.sampled_from(
    [
        *("deny", "allow", "ask", "block", "x", ""),
        *(
            "hooks",
            "matcher",
            "command",
            "bash",
            "type",
            "timeout",
            "timeoutSec",
            "env",
            "cwd",
            "event",
            "name",
        ),
        *(
            "PreToolUse",
            "BeforeTool",
            "preToolUse",
            "beforeShellExecution",
            "stop",
            "hooksConfig",
            "features",
        ),
        *(
            "hookSpecificOutput",
            "decision",
            "permission",
            "permissionDecision",
            "behavior",
            "continue",
            "reason",
        ),
        *(
            "additionalContext",
            "tool_input",
            "updatedInput",
            "modifiedArgs",
            "followup_message",
            "user_message",
        ),
    ]
)
SCALARS = st.one_of(WORDS, st.none(), st.booleans(), st.integers(-2, 3), st.floats(allow_nan=False, width=16))
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)), max_leaves=12
)  # fmt: skip
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=5)


@given(agent=AGENTS, config=OBJECTS)
@settings(max_examples=800, deadline=None)
def test_no_file_however_odd_stops_its_reading(agent: str, config: dict[str, object]) -> None:
    if agent != "kimi":
        document(agent, json.dumps(config).encode())


EVENTS_OF = [(agent, row.theirs, row.ours) for agent in SUFFIX for row in named(agent).events if row.ours]


@given(row=st.sampled_from(EVENTS_OF), reply=OBJECTS, code=st.sampled_from([0, 1, 2, 3]))
@settings(max_examples=80, deadline=None)
def test_no_answer_however_odd_breaks_the_engine(
    row: tuple[str, str, str], reply: dict[str, object], code: int
) -> None:
    agent, theirs, ours = row
    payload = {**FAILED, "prompt": "a", "source": "startup", "trigger": "auto", "reason": "other"}
    decision = decided(agent, theirs, ours, payload, said(json.dumps(reply), "words", code))
    assert "internal" not in [problem.code for problem in decision.diagnostics]
