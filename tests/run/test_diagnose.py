"""Why a run failed, in words that name the cause and the cure. The scenarios show the same with real children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boathook.run import diagnose
from boathook.run.process import Command, Exit
from hooking import handler, said

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.terms.problem import Problem


def failure(ended: Exit, cwd: Path | str = "/", path: str = "/nowhere", **fields: object) -> Problem:
    command = Command(("/bin/sh",), str(cwd), {"PATH": path, "ROOT": str(cwd)}, b"", 1)
    found = diagnose.failure(handler(**fields), command, ended)  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("code", [0, 2])
def test_exit_0_and_2_are_no_failures(code: int) -> None:
    assert diagnose.failure(handler(), Command((), "/", {}, b"", 1), said(code=code)) is None


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (9, "SIGKILL"),
        (15, "SIGTERM"),
        (11, "SIGSEGV"),
        (64, "SIGRTMAX"),
        (63, "signal 63"),
        (99, "signal 99"),
    ],
)
def test_a_signal_is_called_by_its_name(number: int, name: str) -> None:
    assert diagnose.signal_name(number) == name


def test_127_names_the_program_and_the_path() -> None:
    problem = failure(
        said("", "sh: 1: frobnicate: not found", 127), command="A=1 frobnicate --now", path="/a:/b"
    )
    assert problem.code == "run-not-found"
    assert "frobnicate was not found on PATH=/a:/b" in problem.message


def test_126_tells_how_to_set_the_bit() -> None:
    problem = failure(said(code=126), command="'/o p/x.sh' a")
    assert problem.code == "run-not-executable"
    assert "chmod +x '/o p/x.sh'" in problem.message


def test_a_quoting_fault_names_the_whole_path(tmp_path: Path) -> None:
    script = tmp_path / "a b" / "c d.sh"
    script.parent.mkdir()
    script.write_text("")
    for text in (f"{script} x", "$ROOT/a b/c d.sh", "${ROOT}/a b/c d.sh --flag"):
        problem = failure(said(code=127), tmp_path, command=text)
        assert problem.code == "run-quoting", text
        assert str(script) in problem.message


def test_a_quoting_fault_of_an_interpreters_argument_names_the_whole_path(tmp_path: Path) -> None:
    script = tmp_path / "a b" / "guard.py"
    script.parent.mkdir()
    script.write_text("")
    stderr = f"python3: can't open file '{tmp_path}/a': [Errno 2] No such file or directory\n"
    configured = handler(command=f"python3 {script} --strict")
    problem = diagnose.unread_script(configured, Command((), "/", {}, b"", 1), said("", stderr, 2))
    assert problem is not None
    assert problem.code == "run-quoting"
    assert str(script) in problem.message


@pytest.mark.parametrize(
    "stderr",
    [
        '/bin/sh: 1: Syntax error: "then" unexpected\n',
        "guard.sh: 12: Syntax error: Unterminated quoted string\n",
        "/bin/sh: -c: line 1: syntax error near unexpected token `then'\n",
        "guard.sh: line 3: syntax error: unexpected end of file\n",
    ],
)
def test_what_a_shell_cannot_parse_is_recognized(stderr: str) -> None:
    problem = diagnose.unread_script(handler(), Command((), "/", {}, b"", 1), said("", stderr, 2))
    assert problem is not None
    assert problem.code == "command-syntax"


@pytest.mark.parametrize(
    "stderr",
    [
        "/bin/sh: 1: cd: can't cd to frontend\n",
        "/bin/sh: 1: cannot create logs/x: Directory nonexistent\n",
        "/bin/sh: 1: Bad substitution\n",
        "/bin/sh: 1: [: a: unexpected operator\n",
        "/bin/sh: line 1: [: a: integer expression expected\n",
        "hooks/x.sh: 3: cd: can't cd to frontend\n",
        "hooks/x.sh: 3: set: Illegal option -o pipefail\n",
        "hooks/x.sh: 3: FOO: parameter not set\n",
    ],
)
def test_a_shell_that_fails_itself_is_recognized(stderr: str) -> None:
    problem = diagnose.unread_script(handler(), Command((), "/", {}, b"", 1), said("", stderr, 2))
    assert problem is not None
    assert problem.code == "run-shell"


@pytest.mark.parametrize(
    "stderr",
    [
        "src/tides.py: 12: undefined name 'charted'\n",
        "/bin/sh: 1: Bad substitution\nand two tests fail\n",
        "/bin/sh: 1: jq: not found\n",
        "/bin/sh: 1: ./guard: Permission denied\n",
    ],
)
def test_a_refusal_in_the_form_of_a_shells_complaint_is_still_one(stderr: str) -> None:
    assert diagnose.unread_script(handler(), Command((), "/", {}, b"", 1), said("", stderr, 2)) is None


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("cd . && frob x", "/bin/sh: 1: frob: not found"),
        ("if true; then frob; fi", "/bin/sh: line 1: frob: command not found"),
        ("exec frob", "/bin/sh: 1: exec: frob: not found"),
        (
            "sh -c x; timeout 5 frob",
            "x: 1: y: not found\ntimeout: failed to run command ‘frob’: No such file or directory",
        ),
        ("env frob", "env: 'frob': No such file or directory"),
    ],
)
def test_127_names_the_program_that_the_shell_names(command: str, stderr: str) -> None:
    problem = failure(said("", stderr, 127), command=command)
    assert problem.code == "run-not-found"
    assert problem.message.startswith("exit 127: frob was not found on PATH=/nowhere.")


def test_126_names_the_program_that_the_shell_names() -> None:
    problem = failure(said("", "/bin/sh: 1: ./x.sh: Permission denied", 126), command="cd . && ./x.sh")
    assert problem.message.endswith("Run: chmod +x ./x.sh")


@pytest.mark.parametrize("name", ["‘bash\\r’", "'bash\\r'", "'bash\r'"])
def test_a_carriage_return_that_env_trips_over_is_explained(name: str) -> None:
    problem = failure(said("", f"env: {name}: No such file or directory\n", 127), command="cd . && ./x.sh")
    assert problem.code == "run-shebang"


def test_127_of_a_program_that_is_there_does_not_accuse_it() -> None:
    problem = failure(said("", "sh: gone.sh: No such file", 127), command="sh gone.sh", path="/bin")
    assert problem.code == "run-not-found"
    assert "sh is there, but something" in problem.message
    assert "gone.sh" in problem.message


def test_a_home_folder_in_argv_is_explained() -> None:
    command = Command(("~/x.sh",), "/", {}, b"", 1)
    problem = diagnose.failure(
        handler(argv=["~/x.sh"]), command, Exit(start_error=FileNotFoundError(2, "no"))
    )
    assert problem is not None
    assert "no home folder" in problem.message


def test_what_a_command_said_is_shown_shortly_and_safely() -> None:
    problem = failure(said("", "\x1b[31m" + "z" * 1000, 7))
    assert "\\x1b[31mzzz" in problem.message
    assert len(problem.message) < 400


def test_a_command_that_cannot_be_taken_apart_is_still_explained() -> None:
    assert failure(said(code=127), command="'unclosed \"").code == "run-not-found"
    assert failure(said(code=126), command="=").code == "run-not-executable"


@pytest.mark.parametrize(
    ("stderr", "script"),
    [
        ("python3: can't open file '/gone/a b.py': [Errno 2] No such file or directory\n", "/gone/a b.py"),
        (
            "\n/usr/bin/python3.11: can't open file 'gone.py': [Errno 2] No such file or directory\n",
            "gone.py",
        ),
        ("/bin/sh: 0: cannot open /gone/x.sh: No such file\n", "/gone/x.sh"),
        ('Can\'t open perl script "/gone/x.pl": No such file or directory\n', "/gone/x.pl"),
        (
            "error: Failed to spawn: `gone.py`\n  Caused by: No such file or directory (os error 2)\n",
            "gone.py",
        ),
        ("awk: can't open file /gone/x.awk\n source line number 1\n", "/gone/x.awk"),
        ("jq: error: Could not open /gone/x.jq: No such file or directory\n", "/gone/x.jq"),
    ],
)
def test_a_missing_script_is_recognized_by_what_its_interpreter_says(stderr: str, script: str) -> None:
    command = Command((), "/", {}, b"", 1)
    problem = diagnose.unread_script(handler(), command, said("", stderr, 2))
    assert problem is not None
    assert script in problem.message


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "no rm here",
        "policy: python3: see the wiki",
        "2 tests fail\npython3: can't open file '/gone.py': x\n",
        "grep: rules: No such file or directory",
    ],
)
def test_other_words_are_no_missing_script(stderr: str) -> None:
    assert diagnose.unread_script(handler(), Command((), "/", {}, b"", 1), said("", stderr, 2)) is None


def test_a_script_that_is_there_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("")
    command = Command((), str(tmp_path), {}, b"", 1)
    assert (
        diagnose.unread_script(handler(), command, said("", "python3: can't open file 'there.py': x\n", 2))
        is None
    )


def test_how_to_switch_a_handler_off_is_said_with_its_place() -> None:
    assert 'set "enabled": false at hooks.json:1' in diagnose.switch_off(handler())
