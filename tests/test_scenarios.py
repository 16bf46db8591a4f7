"""Scenario files: one story each of what handlers said and what it came to, without code.

A file of `tests/scenarios` holds `[[scenario]]` tables:

claim      what is shown, the test's name
event      the event, PreToolUse where none is named
payload    its payload; where there is none, one that fits the event
config     the text of the hooks file; or
handler    a list of handlers, each in a group of its own that matches everything:
             run = "script for the shell", or any of say = "stdout", err = "stderr", exit = 2,
             bytes = "stdout, one character a byte"; and every key that a hooks file may hold
files      name → text, below the project; {DIR} is its path; a text with `#!` may be run
wants      what the decision must be. What is not named must be neutral: no permission, no block,
           no words and no diagnostics. A text that begins with ~ is an expression to be found.
             permission, reason, block, continue, stop_reason, interrupt, context, feedback, notices
             codes    the diagnostics' codes, in order
             says     an expression to be found in the diagnostics' messages
             status   the handlers' status, in order
             files    name → text of a file afterwards, false where it must not be there
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from boathook import Decision, Hooks

FILES = sorted(Path(__file__).parent.glob("scenarios/*.toml"))
Table = dict[str, Any]

TOOL: Table = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
PAYLOADS: dict[str, Table] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "hello"},
    "PreToolUse": TOOL,
    "PermissionRequest": {**TOOL, "permission_suggestions": []},
    "PostToolUse": {**TOOL, "tool_response": "ok"},
    "PostToolUseFailure": {**TOOL, "error": "no"},
    "Notification": {"message": "m", "notification_type": "idle"},
    "PreCompact": {"trigger": "auto", "custom_instructions": ""},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "done"},
    "SubagentStart": {"agent_id": "a1", "agent_type": "helper"},
    "SubagentStop": {"agent_id": "a1", "agent_type": "helper", "stop_hook_active": False},
    "SessionEnd": {"reason": "other"},
}
NEUTRAL: Table = {
    "continue": True,
    "stop_reason": None,
    "permission": None,
    "reason": None,
    "interrupt": False,
    "block": False,
    "context": [],
    "feedback": [],
    "notices": [],
    "updated_input": None,
    "updated_output": None,
    "updated_permissions": [],
}
OWN_KEYS = {"run", "say", "bytes", "err", "exit", "matcher"}


def scenarios() -> list[Any]:
    return [
        pytest.param(table, id=f"{file.stem}: {table['claim']}")
        for file in FILES
        for table in tomllib.loads(file.read_text())["scenario"]
    ]


def script(handler: Table, index: int, project: Path) -> str:
    """Return the command of a handler that is described by what it prints."""
    if "run" in handler:
        return str(handler["run"])
    text = handler.get("bytes")
    said = text.encode("latin-1") if text is not None else handler.get("say", "").encode()
    (project / f"said{index}").write_bytes(said.replace(b"{DIR}", str(project).encode()))
    (project / f"err{index}").write_text(handler.get("err", ""))
    return f"cat said{index}; cat err{index} >&2; exit {handler.get('exit', 0)}"


def config_of(scenario: Table, event: str, project: Path) -> str:
    if "config" in scenario:
        return str(scenario["config"]).replace("{DIR}", str(project))
    groups = []
    for index, handler in enumerate(scenario.get("handler", [])):
        more = {key: value for key, value in handler.items() if key not in OWN_KEYS}
        entry = {"type": "command", "command": script(handler, index, project), **more}
        matcher = {"matcher": handler["matcher"]} if "matcher" in handler else {}
        groups.append({**matcher, "hooks": [entry]})
    return json.dumps({"hooks": {event: groups}}).replace("{DIR}", str(project))


def write_files(project: Path, files: Table) -> None:
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{DIR}", shlex.quote(str(project))))
        path.chmod(0o755 if text.startswith("#!") else 0o644)


def fits(got: object, want: object) -> bool:
    if isinstance(want, str) and want.startswith("~"):
        return isinstance(got, str) and re.search(want[1:], got, re.DOTALL) is not None
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(fits, got, want))
    return got == want


def check_decision(decision: Decision, wants: Table) -> None:
    public: Any = decision.as_dict()
    for key, neutral in NEUTRAL.items():
        got, want = public["decision"][key], wants.get(key, neutral)
        assert fits(got, want), f"{key}: wanted {want!r}, got {got!r}\n{public}"
    messages = [problem["message"] for problem in public["diagnostics"]]
    codes = [problem["code"] for problem in public["diagnostics"]]
    assert codes == wants.get("codes", []), messages
    if "says" in wants:
        assert re.search(wants["says"], "\n".join(messages), re.DOTALL), messages
    if "status" in wants:
        assert [handler["status"] for handler in public["handlers"]] == wants["status"], public


@pytest.mark.parametrize("scenario", scenarios())
def test_scenario(scenario: Table, tmp_path: Path) -> None:
    event = scenario.get("event", "PreToolUse")
    wants = scenario["wants"]
    project = tmp_path / "project"
    project.mkdir()
    write_files(project, scenario.get("files", {}))
    (project / "hooks.json").write_text(config_of(scenario, event, project))
    hooks = Hooks.load(files=[project / "hooks.json"], project=project)
    payload = scenario.get("payload", PAYLOADS.get(event, {}))
    decision = hooks.dispatch_sync(event, payload)
    loading = [problem.code for problem in hooks.problems]
    assert loading == wants.get("loading", []), [problem.message for problem in hooks.problems]
    check_decision(decision, wants)
    for name, text in wants.get("files", {}).items():
        path = project / name
        got = path.read_text() if path.exists() else False
        want = text.replace("{DIR}", str(project)) if isinstance(text, str) else text
        assert fits(got, want), f"{name}: wanted {want!r}, got {got!r}"


def test_every_scenario_key_is_known() -> None:
    known = {"claim", "event", "payload", "config", "handler", "files", "wants"}
    wanted = {*NEUTRAL, "codes", "says", "status", "files", "loading"}
    for param in scenarios():
        (scenario,) = param.values
        assert set(scenario) <= known, scenario
        assert set(scenario["wants"]) <= wanted, scenario


def test_no_two_scenarios_make_the_same_claim() -> None:
    claims = [param.id for param in scenarios()]
    assert len(claims) == len(set(claims))
