"""`boathook fire`, as other programs rely on it: contract section 12. Each test runs the real program."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from boathook.cli.main import entry

BOATHOOK = [sys.executable, "-m", "boathook"]
DENY = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}
BASH = b'{"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}'
ESCAPES = "\x1b[2J\x07\u202e"


class Program:
    """Runs `boathook` in a project folder with a home folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        self.project.mkdir()
        self.home.mkdir()

    def write(self, config: object, name: str = "hooks.json") -> str:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = config if isinstance(config, bytes) else json.dumps(config).encode()
        path.write_bytes(data)
        return str(path)

    def __call__(
        self, *args: str, stdin: bytes = BASH, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("BOATHOOK")}
        return subprocess.run(
            [*BOATHOOK, *args],
            input=stdin,
            cwd=self.project,
            timeout=40,
            check=False,
            capture_output=True,
            env={**clean, "HOME": str(self.home), **(env or {})},
        )

    def inside(self, *args: str, stdin: bytes = BASH) -> tuple[int, str, str]:
        """Do the same inside this process, which is much faster: (exit status, stdout, stderr)."""
        out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "argv", ["boathook"])
            with pytest.raises(SystemExit) as end:
                entry(args)
        for stream in (out, err):
            stream.seek(0)
        return int(str(end.value.code)), out.read(), err.read()

    def fire(self, event: str, *args: str, **options: Any) -> Any:
        run = self("fire", event, "--json", *args, **options)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)


@pytest.fixture
def boathook(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_the_printed_object_has_exactly_the_promised_keys(boathook: Program) -> None:
    config = {"hooks": {"PreToolUse": [{"x": 1, "hooks": [{"type": "command", "command": "exit 2"}]}]}}
    shown = boathook.fire("PreToolUse", "--config", boathook.write(config))
    assert list(shown) == ["event", "snapshot", "decision", "handlers", "diagnostics"]
    assert set(shown["decision"]) == {
        "continue", "stop_reason", "permission", "reason", "interrupt", "block",
        "context", "feedback", "notices", "updated_input", "updated_output", "updated_permissions",
    }  # fmt: skip
    (handler,) = shown["handlers"]
    assert set(handler) == {"name", "source", "status", "exit_code", "signal", "duration_ms", "stderr"}
    (problem,) = shown["diagnostics"]
    assert set(problem) == {"code", "severity", "message", "handler", "file", "pointer", "line", "column"}
    assert len(shown["snapshot"]) == 64
    assert problem["line"] == 1
    assert problem["column"] > 1
    assert problem["pointer"] == "/hooks/PreToolUse/0/x"


def test_the_same_keys_stand_there_when_nothing_ran(boathook: Program) -> None:
    shown = boathook.fire("session.start", "--config", boathook.write({"hooks": []}), stdin=b"{}")
    assert shown["handlers"] == shown["diagnostics"] == []
    assert shown["decision"]["permission"] is None
    assert shown["decision"]["updated_permissions"] == []


def test_an_unknown_event_is_wrong_usage_with_a_hint(boathook: Program) -> None:
    run = boathook("fire", "PreToolUsee", "--config", boathook.write(DENY))
    assert run.returncode == 64
    assert b"PreToolUse" in run.stderr
    assert run.stdout == b""


@pytest.mark.parametrize(
    "args",
    [(), ("--nonsense",), ("Stop", "--config"), ("Stop", "extra")],
    ids=["none", "option", "value", "many"],
)
def test_wrong_usage_ends_with_64_and_never_2(boathook: Program, args: tuple[str, ...]) -> None:
    run = boathook("fire", *args)
    assert run.returncode == 64
    assert b"--help" in run.stderr


@pytest.mark.parametrize(
    "payload",
    [b"", b"  \n", b"text", b"[]", b"null", b"5", b'"x"', b"{", b'{"a": 1}{}', b'{"a": NaN}', b'{"a": 1e999}',
     b"\xff\xfe{\x00}\x00", b'{"a": "\xe9"}', b"[" * 100_000, b'{"a": ' + b"[" * 100_000, b'{"a": ' + b"9" * 9000 + b"}"],
    ids=lambda data: data[:12].decode("latin-1"),
)  # fmt: skip
def test_an_unusable_payload_is_65_with_words_and_no_trace(boathook: Program, payload: bytes) -> None:
    code, out, err = boathook.inside(
        "fire", "PreToolUse", "--config", boathook.write(DENY), "--json", stdin=payload
    )
    assert code == 65, err
    assert "payload" in err
    assert "Traceback" not in err
    assert out == ""


def test_a_payload_with_a_byte_order_mark_is_read(boathook: Program) -> None:
    config = boathook.write(DENY)
    shown = boathook.fire("PreToolUse", "--config", config, stdin=b"\xef\xbb\xbf" + BASH + b"\r\n")
    assert shown["decision"]["permission"] == "deny"


def test_a_closed_stdin_is_an_unusable_payload(boathook: Program) -> None:
    command = [
        "/bin/sh",
        "-c",
        'exec "$@" <&-',
        "sh",
        *BOATHOOK,
        "fire",
        "Stop",
        "--config",
        boathook.write(DENY),
    ]
    run = subprocess.run(command, capture_output=True, timeout=40, check=False, cwd=boathook.project)
    assert run.returncode == 65
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(
    "config",
    [b"", b" ", b"{", b"[]", b"null", b"5", b'"x"', b'{"hooks": null}', b'{"hooks": 5}', b'{"hooks": "x"}', b'{"hooks": {},}',
     b'{"hooks": [],\n// no\n"a": 1}', b'{"hooks": {}} {}', b'{"hooks": NaN}', b'{"hooks": {"a": Infinity}}', b"{'hooks': {}}",
     b"\xff\xfe{\x00}\x00", b'{"hooks": "\xe9"}', b'{"hooks": ' + b"[" * 100_000, b'{"a": 01}', b'{"a": "\n"}', b"\x00"],
    ids=lambda data: data[:24].decode("latin-1"),
)  # fmt: skip
def test_an_unusable_file_is_65_and_named_with_its_place(boathook: Program, config: bytes) -> None:
    code, out, err = boathook.inside("fire", "PreToolUse", "--config", boathook.write(config), "--json")
    assert code == 65, out
    assert "hooks.json" in err
    assert "Traceback" not in err
    assert out == ""


def test_line_and_column_of_a_fault_count_from_one_in_characters(boathook: Program) -> None:
    run = boathook("fire", "Stop", "--config", boathook.write('{"é": "写",\n "b": [1, 2,]}'.encode()))
    assert run.returncode == 65
    assert b"hooks.json:2:12: " in run.stderr


@pytest.mark.parametrize("kind", ["missing", "folder", "unreadable", "dangling"])
def test_a_file_that_cannot_be_read_is_65(boathook: Program, kind: str) -> None:
    path = boathook.project / "there.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "unreadable":
        path.write_text("{}")
        path.chmod(0)
        if os.access(path, os.R_OK):  # root reads everything
            path.unlink()
            path.symlink_to(path.name)
    run = boathook("fire", "Stop", "--config", str(path))
    assert run.returncode == 65
    assert b"there.json" in run.stderr


def test_every_given_file_counts_in_the_order_given(boathook: Program) -> None:
    def say(words: str) -> dict[str, Any]:
        command = f"echo {words} >&2; exit 2"
        return {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}

    one, two = boathook.write(say("one"), "1.json"), boathook.write(say("two"), "2.json")
    shown = boathook.fire("PreToolUse", "--config", two, "--config", one)
    assert shown["decision"]["reason"] == "two"
    assert [Path(handler["source"]).name for handler in shown["handlers"]] == ["2.json", "1.json"]


def test_one_unusable_file_among_several_is_said_loudly(boathook: Program) -> None:
    run = boathook("fire", "PreToolUse", "--config", boathook.write(DENY), "--config", "none.json")
    assert run.returncode == 65
    assert b"none.json" in run.stderr


def test_a_given_file_keeps_every_other_scope_out(boathook: Program) -> None:
    (boathook.home / ".deepagents").mkdir()
    (boathook.home / ".deepagents" / "hooks.json").write_text(json.dumps(DENY))
    assert boathook.fire("PreToolUse")["decision"]["permission"] == "deny"
    config = boathook.write({"hooks": {}})
    assert boathook.fire("PreToolUse", "--config", config)["decision"]["permission"] is None


def test_a_denied_tool_is_still_exit_0(boathook: Program) -> None:
    run = boathook("fire", "PreToolUse", "--config", boathook.write(DENY))
    assert run.returncode == 0
    assert b"deny" in run.stdout
    assert b"no" in run.stdout


@pytest.mark.parametrize(
    ("event", "code"), [("PreToolUse", 2), ("Stop", 2), ("PostToolUse", 0), ("SessionStart", 0)]
)
def test_exit_code_turns_a_block_into_2_with_the_reason_on_stderr(
    boathook: Program, event: str, code: int
) -> None:
    handler = {"type": "command", "command": "echo '\x1b[31mred' >&2; exit 2"}
    config = boathook.write({"hooks": {event: [{"hooks": [handler]}]}})
    run = boathook("fire", event, "--exit-code", "--config", config, "--json")
    assert run.returncode == code
    assert json.loads(run.stdout)["decision"]["block"] is (code == 2)
    assert run.stderr == (b"\\x1b[31mred\n" if code else b"")


def test_a_payload_of_another_event_is_said(boathook: Program) -> None:
    config = boathook.write(DENY)
    payload = b'{"hook_event_name": "Stop", "tool_name": "Bash"}'
    shown = boathook.fire("PreToolUse", "--config", config, stdin=payload)
    assert [problem["code"] for problem in shown["diagnostics"]] == ["payload-event"]
    shown = boathook.fire("user.prompt", "--config", config, stdin=b'{"event": "session.end"}')
    assert [problem["code"] for problem in shown["diagnostics"]] == ["payload-event"]


def test_a_project_that_is_gone_runs_its_handlers_in_the_nearest_parent(boathook: Program) -> None:
    handler = {"type": "command", "command": "pwd -P >&2; echo $DEEPAGENTS_PROJECT_DIR >&2; exit 2"}
    config = boathook.write({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    gone = boathook.project / "a" / "b"
    shown = boathook.fire("PreToolUse", "--config", config, "--project", str(gone))
    assert shown["decision"]["reason"] == f"{boathook.project.resolve()}\n{gone}"
    (problem,) = shown["diagnostics"]
    assert problem["code"] == "root-missing"
    assert str(gone) in problem["message"]


def test_a_current_folder_that_is_gone_breaks_nothing(boathook: Program) -> None:
    config = boathook.write(DENY)
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    command = ["/bin/sh", "-c", script, "sh", *BOATHOOK, "fire", "PreToolUse", "--config", config, "--json"]
    run = subprocess.run(
        command, input=BASH, capture_output=True, timeout=40, check=False, cwd=boathook.project
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["decision"]["permission"] == "deny"


@pytest.mark.parametrize("depth", ["0", "2", "3", "17", "nonsense"])
def test_an_engine_at_depth_three_runs_nothing_and_says_so(boathook: Program, depth: str) -> None:
    shown = boathook.fire("PreToolUse", "--config", boathook.write(DENY), env={"BOATHOOK_DEPTH": depth})
    deep = depth in {"3", "17"}
    assert len(shown["handlers"]) == (0 if deep else 1)
    assert [problem["code"] for problem in shown["diagnostics"]] == (["depth-limit"] if deep else [])


def test_an_engine_at_depth_three_says_so_to_notifications_too(boathook: Program) -> None:
    config = boathook.write({"hooks": [{"command": ["touch", "out"]}]})
    for event, payload in (("session.start", b"{}"), ("SessionStart", b'{"source": "startup"}')):
        shown = boathook.fire(event, "--config", config, stdin=payload, env={"BOATHOOK_DEPTH": "3"})
        assert [problem["code"] for problem in shown["diagnostics"]] == ["depth-limit"]
    assert not (boathook.project / "out").exists()


def test_a_handler_cannot_ask_for_another_depth(boathook: Program) -> None:
    handler = {
        "type": "command",
        "command": "echo $BOATHOOK_DEPTH >&2; exit 2",
        "passEnv": ["BOATHOOK_DEPTH"],
    }
    config = boathook.write({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    shown = boathook.fire("PreToolUse", "--config", config, env={"BOATHOOK_DEPTH": "1"})
    assert shown["decision"]["reason"] == "2"


def test_secrets_pass_only_by_name(boathook: Program) -> None:
    secret = {
        "A_TOKEN": "1",
        "OPENAI_API_KEY": "2",
        "MYSQL_PWD": "3",
        "DB_PASSWORD": "4",
        "NPM_AUTH": "5",
        "GH_PAT": "6",
    }
    handler = {
        "type": "command",
        "command": "env > out",
        "passEnv": ["A_TOKEN", "\ud800", "NOT_THERE", "a=b", "\0"],
    }
    config = boathook.write({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    boathook.fire("PreToolUse", "--config", config, env={**secret, "PLAIN": "p"})
    seen = dict(
        line.split("=", 1) for line in (boathook.project / "out").read_text().splitlines() if "=" in line
    )
    assert {name for name in secret if name in seen} == {"A_TOKEN"}
    assert seen["PLAIN"] == "p"


def test_a_denied_handler_and_every_other_are_shown_for_people(boathook: Program) -> None:
    config = {"hooks": {"Stop": [{"hooks": [
        {"type": "command", "name": "tests", "command": "echo red >&2; exit 2"},
        {"type": "command", "name": "broken", "command": "exit 3"},
        {"type": "command", "name": "talker", "command": "echo '{\"systemMessage\": \"hello there\"}'"},
    ]}]}}  # fmt: skip
    run = boathook("fire", "Stop", "--config", boathook.write(config), stdin=b"{}")
    text = run.stdout.decode()
    for words in ("the turn goes on", "red", "tests", "broken", "exit 3", "hello there", "run-exit"):
        assert words in text


@pytest.mark.parametrize("form", ["--json", "people"])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_nothing_hostile_reaches_the_terminal_and_no_encoding_crashes(
    boathook: Program, form: str, encoding: str
) -> None:
    words = f"{ESCAPES}\ud800写"
    config = {f"key{ESCAPES}": 1, "hooks": {f"Event{ESCAPES}": [], "PreToolUse": [{f"k{ESCAPES}": 1, "hooks": [
        {"type": "command", "name": words, "statusMessage": words, "argv": ["cat", "said"]},
        {"type": "command", "command": f"printf '%s' '{ESCAPES}写' >&2; exit 2"},
        {"type": "command", "command": f"printf '%s' '{ESCAPES}写' >&2; exit 1"},
        {"type": "command", "command": f"printf '%s' '{ESCAPES}写'"},
        {"type": "command", "argv": [f"no{words}"]},
        {"type": "command", "command": "true", "onFailure": words},
    ]}]}}  # fmt: skip
    answer = {"systemMessage": words, "reason": words, words: words, "decision": "block",
              "hookSpecificOutput": {"hookEventName": words, "additionalContext": words}}  # fmt: skip
    (boathook.project / "said").write_text(json.dumps(answer))
    path = boathook.write(config, f"hooks{ESCAPES}.json")
    payload = json.dumps({"tool_name": "Bash", "hook_event_name": words, "session_id": words}).encode()
    run = boathook(
        "fire", "PreToolUse", "--config", path, *(["--json"] if form == "--json" else []), "--exit-code",
        stdin=payload, env={"LC_ALL": "C", "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert run.returncode == 2, run.stderr
    assert b"Traceback" not in run.stderr
    for stream in (run.stdout, run.stderr):
        for bad in ("\x1b", "\x07", "\u202e"):
            assert bad.encode() not in stream
    if form == "--json":
        shown = json.loads(run.stdout)
        said = [shown["decision"]["reason"], *shown["decision"]["notices"]]
        said += [problem["message"] for problem in shown["diagnostics"]]
        said += [handler["name"] + handler["stderr"] for handler in shown["handlers"]]
        assert not any(bad in text for text in said for bad in ("\x1b", "\x07", "\u202e", "\ud800"))


def test_an_unusable_file_with_a_hostile_name_is_said_safely(boathook: Program) -> None:
    path = boathook.write(f'{{"{ESCAPES}": ]}}'.encode(), f"h{ESCAPES}\udcff.json")
    run = boathook("fire", "Stop", "--config", path, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert run.returncode == 65
    assert b"\x1b" not in run.stderr
    assert b"Traceback" not in run.stderr


def test_an_unknown_event_with_a_hostile_name_is_said_safely(boathook: Program) -> None:
    run = boathook("fire", f"E{ESCAPES}\udcff", env={"PYTHONIOENCODING": "ascii"})
    assert run.returncode == 64
    assert b"\x1b" not in run.stderr
    assert b"Traceback" not in run.stderr


def test_output_that_nobody_takes_is_no_error(boathook: Program) -> None:
    path = boathook.write(DENY)
    line = f"exec {shlex.join([*BOATHOOK, 'fire', 'PreToolUse', '--config', path])} >&-"
    run = subprocess.run(["/bin/sh", "-c", line], input=BASH, capture_output=True, timeout=40, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told_in_one_line(boathook: Program) -> None:
    path = boathook.write(DENY)
    command = [*BOATHOOK, "fire", "PreToolUse", "--json", "--config", path]
    with open("/dev/full", "wb") as full:
        run = subprocess.run(
            command, input=BASH, stdout=full, stderr=subprocess.PIPE, timeout=40, check=False
        )
    assert run.returncode == 70
    assert run.stderr == b"boathook: the output cannot be written: No space left on device.\n"


def test_a_handler_that_fires_events_itself_ends(boathook: Program) -> None:
    (boathook.project / "payload").write_bytes(BASH)
    again = " ".join([*BOATHOOK, "fire", "PreToolUse", "--config", "hooks.json", "--json"])
    handler = {"type": "command", "command": f"echo x >> log; {again} < payload > /dev/null"}
    config = boathook.write({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    boathook.fire("PreToolUse", "--config", config)
    assert (boathook.project / "log").read_text() == "x\n" * 3


def test_real_guards_run_unchanged(boathook: Program) -> None:
    guard = boathook.project / "guard.sh"
    guard.write_text(
        '#!/bin/bash\ncommand=$(python3 -S -E -c \'import json,sys; print(json.load(sys.stdin)["tool_input"]["command"])\')\n'
        "if grep -qE 'rm +-[rf]' <<< \"$command\"; then echo 'rm is off limits' >&2; exit 2; fi\n"
    )
    guard.chmod(0o755)
    handler = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/guard.sh'}
    config = boathook.write({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}})
    args = ("--config", config, "--project", str(boathook.project))
    for command, permission in (("rm -rf /", "deny"), ("ls", None)):
        payload = json.dumps({"tool_name": "execute", "tool_input": {"command": command}}).encode()
        shown = boathook.fire("PreToolUse", *args, stdin=payload)
        assert shown["decision"]["permission"] == permission
