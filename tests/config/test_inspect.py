"""What is wrong with hooks files is found before anything runs, and nothing that may be right is called wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from boathook.config import inspect, plugins

if TYPE_CHECKING:
    from boathook.terms.problem import Problem

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def script(self, name: str, text: str = "#!/bin/sh\nexit 0\n", mode: int = 0o755) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(mode)
        return path

    def problems(self, *handlers: dict[str, Any]) -> tuple[Problem, ...]:
        path = self.root / "hooks.json"
        path.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": list(handlers)}]}}, indent=1))
        (found,) = inspect.named([path], self.root, ENVIRON)
        return tuple(problem for problem in found.problems if problem.code != "script-writable")

    def command(self, command: str) -> list[str]:
        return [problem.code for problem in self.problems({"type": "command", "command": command})]

    def argv(self, *argv: str) -> list[str]:
        return [problem.code for problem in self.problems({"type": "command", "argv": list(argv)})]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.script("guard.sh")
    made.script("plain.sh", "exit 0\n")
    made.script("noexec.sh", mode=0o644)
    made.script("crlf.sh", "#!/bin/sh\r\nexit 0\r\n")
    made.script("lost.sh", "#!/opt/nowhere/bin/sh\n")
    made.script("lost-env.py", "#!/usr/bin/env no-such-python\n")
    made.script("sub/inner.sh")
    made.script("guard.py", "print(1)\n", mode=0o644)
    return made


FAULTY = {
    "./nothere.sh": "script-missing",
    "bash nothere.sh": "script-missing",
    "bash -eu nothere.sh --option": "script-missing",
    "bash -o pipefail nothere.sh": "script-missing",
    "python3 hooks/nothere.py": "script-missing",
    "python3 -u -X dev nothere.py": "script-missing",
    "env A=b python3 nothere.py": "script-missing",
    "exec ./nothere.sh": "script-missing",
    "A=b ./nothere.sh": "script-missing",
    "cd sub && ./guard.sh": "script-missing",
    "(cd sub); ./inner.sh": "script-missing",
    "DIR=sub; $DIR/nothere.sh": "script-missing",
    "~/nothere.sh": "script-missing",
    '"$CLAUDE_PROJECT_DIR"/nothere.sh': "script-missing",
    "cat | ./nothere.sh": "script-missing",
    "./sub": "script-missing",
    "./noexec.sh": "script-mode",
    "./crlf.sh": "script-shebang",
    "bash crlf.sh": "script-shebang",
    "./lost.sh": "command-missing",
    "./lost-env.py": "command-missing",
    "no-such-program --flag": "command-missing",
    "cat | no-such-program": "command-missing",
    "bash -c 'no-such-program'": "command-missing",
    "{ no-such-program; }": "command-missing",
    "echo 'not closed": "command-syntax",
    "if true; then echo": "command-syntax",
    "bash -c 'echo ('": "command-syntax",
}

FINE = (
    "./guard.sh",
    "no_such() { true; }; no_such",
    "./plain.sh",
    "sh plain.sh",
    "sh noexec.sh",
    "cd sub && ./inner.sh",
    "(cd sub && ./inner.sh); ./guard.sh",
    "python3 guard.py",
    "python3 -m no_such_module",
    "python3 -c 'print(1)' nothere.py",
    "python3 - nothere.py",
    "bash -s nothere.sh",
    "bash -lc true",
    "[ -x ./nothere.sh ] && ./nothere.sh",
    "test -f nothere.sh && bash nothere.sh",
    "command -v no-such-program >/dev/null && no-such-program",
    "which no-such-program && no-such-program",
    "no-such-program 2>/dev/null || true",
    "if [ -e x ]; then no-such-program; fi",
    "case $A in x) no-such-program;; esac",
    "for x in 1 2; do no-such-program; done",
    "PATH=/opt/tools:$PATH; no-such-program",
    "export PATH=/opt/tools:$PATH; no-such-program",
    ". ./guard.sh; no-such-program",
    "eval no-such-program",
    "alias x=cat; x",
    "exit 0; no-such-program",
    "$EDITOR file",
    "${TOOL:-no-such-program} x",
    "$(which cat) x",
    "./*.sh",
    "cd $SOMEWHERE && ./nothere.sh",
    "$SOMEWHERE/nothere.sh",
    "echo hello > out.txt # no-such-program",
    "cat <<'EOF'\nno-such-program\nEOF",
    "jq_filter='.a | .b'; echo $jq_filter",
    "time -p true",
    "{ true; }",
    "echo $(( 1 + 2 ))",
    'read -r line; echo "$line"',
    "bash <guard.sh",
    "bash /dev/stdin",
    "xargs no-such-program",
    "((i++)); no-such-program",
    "perl nothere",
)  # fmt: skip


@pytest.mark.parametrize(("command", "code"), FAULTY.items(), ids=FAULTY)
def test_what_would_fail_at_run_time_is_found(project: Project, command: str, code: str) -> None:
    assert project.command(command) == [code]


@pytest.mark.parametrize("command", FINE, ids=FINE)
def test_what_may_work_is_not_called_wrong(project: Project, command: str) -> None:
    assert project.command(command) == []


def test_a_list_of_arguments_is_judged_without_a_shell(project: Project) -> None:
    assert project.argv("./guard.sh") == []
    assert project.argv("bash", "-c", "echo $HOME") == []
    assert project.argv("grep", "$HOME", "a|b") == []
    assert project.argv("./plain.sh") == ["script-shebang"]
    assert project.argv("~/guard.sh") == ["argv-unexpanded"]
    assert project.argv("bash", "$CLAUDE_PROJECT_DIR/guard.sh") == ["argv-unexpanded"]
    assert project.argv("source", "guard.sh") == ["command-missing"]
    assert project.argv("bash", "nothere.sh") == ["script-missing"]
    assert project.argv("./sub dir/x.sh") == ["script-missing"]


def test_a_placeholder_outside_of_quotes_is_found_when_its_value_has_a_space(tmp_path: Path) -> None:
    spaced = Project(tmp_path / "my project")
    spaced.script("guard.sh")
    assert spaced.command("$CLAUDE_PROJECT_DIR/guard.sh") == ["command-quoting"]
    assert spaced.command("bash ${CLAUDE_PROJECT_DIR}/guard.sh") == ["command-quoting"]
    assert spaced.command(f"{spaced.root}/guard.sh") == ["command-quoting"]
    assert spaced.command('"$CLAUDE_PROJECT_DIR/guard.sh"') == []
    assert spaced.command('bash "${CLAUDE_PROJECT_DIR}"/guard.sh') == []
    assert spaced.command("bash -c 'bash \"$CLAUDE_PROJECT_DIR/guard.sh\"'") == []
    assert spaced.command("echo $CLAUDE_PROJECT_DIR") == []
    assert spaced.command("export D=$CLAUDE_PROJECT_DIR") == []
    assert spaced.command('D=$CLAUDE_PROJECT_DIR; cd "$D"') == []  # fmt: skip


def test_a_handler_that_is_switched_off_fails_nowhere(project: Project) -> None:
    assert project.problems({"type": "command", "command": "./nothere.sh", "enabled": False}) == ()


def test_a_fault_points_at_its_command(project: Project) -> None:
    (problem,) = project.problems({"type": "command", "timeout": 3, "command": "./nothere.sh"})
    lines = (project.root / "hooks.json").read_text().split("\n")
    assert problem.line is not None
    assert problem.column is not None
    assert lines[problem.line - 1][problem.column - 1 :].startswith('"./nothere.sh"')
    assert problem.pointer == "/hooks/PreToolUse/0/hooks/0/command"


def test_a_fault_behind_a_repeated_key_points_at_its_own_place(project: Project) -> None:
    group = '[{"hooks": [{"type": "command", "command": "%s"}]}]'
    path = project.root / "hooks.json"
    path.write_text(f'{{"hooks": {{"Stop": {group % "./one"},\n"Stop": {group % "./two"}}}}}')
    (found,) = inspect.named([path], project.root, ENVIRON)
    missing = [problem for problem in found.problems if problem.code == "script-missing"]
    assert [(problem.line, Path(problem.found.split()[0]).name) for problem in missing] == [
        (1, "one"), (2, "two"),
    ]  # fmt: skip


def test_a_script_that_others_may_write_to_is_found(project: Project) -> None:
    path = project.root / "hooks.json"
    path.write_text(
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./guard.sh"}]}]}})
    )
    (project.root / "guard.sh").chmod(0o757)
    (found,) = inspect.named([path], project.root, ENVIRON)
    (problem,) = [each for each in found.problems if "guard.sh" in each.found]
    assert (problem.code, problem.severity) == ("script-writable", "warning")


def test_a_file_in_a_projects_own_place_belongs_to_that_project(tmp_path: Path) -> None:
    project = Project(tmp_path / "elsewhere")
    project.script("guard.sh")
    path = project.root / ".deepagents/hooks.json"
    path.parent.mkdir()
    path.write_text(
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./guard.sh"}]}]}})
    )
    (found,) = inspect.named([path], None, ENVIRON)
    assert found.root == project.root
    assert found.document.scope == "project"
    assert "script-missing" not in [problem.code for problem in found.problems]


def test_problems_come_in_the_order_of_the_file(project: Project) -> None:
    found = project.problems(
        {"type": "command", "command": "./nothere.sh"},
        {"type": "prompt"},
        {"type": "command", "command": "no-such-program"},
    )
    assert [problem.code for problem in found] == ["script-missing", "handler-kind", "command-missing"]
    assert list(found) == sorted(found, key=inspect.order)


def test_an_enabled_plugin_is_inspected_with_its_own_placeholders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BOATHOOK_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("BOATHOOK_ALLOW_WRITABLE", "1")
    plugin, project = Project(tmp_path / "my plugin"), Project(tmp_path / "project")
    plugin.script("there.sh")
    words = (
        "${CLAUDE_PLUGIN_ROOT}/there.sh",
        "bash $CLAUDE_PLUGIN_ROOT/there.sh",
        "${CLAUDE_PLUGIN_ROOT}/nope.sh",
    )
    handlers = [{"type": "command", "command": each} for each in words]
    plugin.script("hooks/hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": handlers}]}}))
    plugins.add(plugin.root)
    assert inspect.found(project.root) == ()
    plugins.enable(plugin.root, on=True)
    (found,) = inspect.found(project.root)
    (problem,) = found.problems
    assert problem.code == "script-missing"
    assert problem.pointer == "/hooks/Stop/0/hooks/2/command"


def test_a_pipe_in_a_scripts_place_holds_nobody_up(project: Project) -> None:
    os.mkfifo(project.root / "pipe", 0o755)
    assert project.command("./pipe; bash pipe; python3 pipe") == []
