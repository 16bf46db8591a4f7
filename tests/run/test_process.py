from __future__ import annotations

import errno
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from boathook.run.process import MARK_VARIABLE, run
from run_children import Before, alive, command, python, quoted, read_pid, shell, until

if TYPE_CHECKING:
    from pathlib import Path

# Everything here holds with and without the kernel's help in seeing an exit.
pytestmark = pytest.mark.parametrize("pidfd", [True, False], ids=["pidfd", "looking"])


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


# --- what goes in


def test_a_command_reads_its_stdin_to_the_end_and_answers(pidfd: bool) -> None:
    ended = run(shell("cat; echo no >&2; exit 3", stdin=b'{"a": 1}\n'), pidfd=pidfd)
    assert (ended.code, ended.stdout, ended.stderr) == (3, b'{"a": 1}\n', b"no\n")
    odd = (ended.timed_out, ended.cancelled, ended.lost, ended.stdout_cut, ended.stderr_cut, ended.signal)
    assert not any(odd)
    assert ended.start_error is None
    assert 0 < ended.duration < time.monotonic() - ended.started + 0.001


@pytest.mark.parametrize("size", [0, 1, 512, 513, 65536, 65537, 8_000_000])
def test_a_command_that_never_reads_stdin_is_no_error_and_no_wait(pidfd: bool, size: int) -> None:
    ended = run(command("/bin/true", stdin=b"x" * size), pidfd=pidfd)
    assert (ended.code, ended.start_error) == (0, None)


@pytest.mark.parametrize("size", [0, 1, 512, 513, 65536, 65537, 3_000_000])
def test_every_byte_of_stdin_arrives_and_then_its_end(pidfd: bool, size: int) -> None:
    ended = run(command("/usr/bin/wc", "-c", stdin=b"x" * size), pidfd=pidfd)
    assert ended.stdout.split() == [str(size).encode()]


def test_a_command_that_reads_a_little_and_goes_on_is_no_error(pidfd: bool) -> None:
    ended = run(shell("head -c 70000 | wc -c; exec 0<&-; echo done", stdin=b"x" * 1_000_000), pidfd=pidfd)
    assert (ended.code, ended.stdout.split()) == (0, [b"70000", b"done"])


def test_a_command_that_floods_both_pipes_before_it_reads_gets_all_of_its_stdin(pidfd: bool) -> None:
    ended = run(
        python(
            """
            import os, sys
            os.write(2, b"e" * 1_000_000)
            sys.stdout.buffer.write(b"o" * 1_000_000)
            sys.stdout.flush()
            sys.exit(7 if len(sys.stdin.buffer.read()) == 1_000_000 else 1)
            """,
            stdin=b"i" * 1_000_000,
        ),
        pidfd=pidfd,
    )
    assert (ended.code, len(ended.stdout), len(ended.stderr)) == (7, 1_000_000, 65536)
    assert (ended.stdout_cut, ended.stderr_cut) == (False, True)


# --- what comes out


def test_output_of_exactly_the_limit_is_not_cut_and_one_byte_more_is(pidfd: bool) -> None:
    for size, cut in ((99_999, False), (100_000, False), (100_001, True)):
        ended = run(command("/usr/bin/head", "-c", str(size), "/dev/zero", stdout_limit=100_000), pidfd=pidfd)
        assert (len(ended.stdout), ended.stdout_cut, ended.code) == (min(size, 100_000), cut, 0)


def test_200_mb_of_output_are_drained_and_memory_stays_flat(pidfd: bool) -> None:
    before = peak_memory()
    ended = run(command("/usr/bin/head", "-c", "200000000", "/dev/zero"), pidfd=pidfd)
    assert (ended.code, len(ended.stdout), ended.stdout_cut) == (0, 1 << 20, True)
    assert peak_memory() - before < 20_000


def peak_memory() -> int:
    """Return the highest use of memory so far, in KiB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def test_a_command_that_closes_its_output_and_goes_on_is_waited_for(pidfd: bool) -> None:
    ended = run(shell("exec >&- 2>&-; sleep 0.1; exit 4"), pidfd=pidfd)
    assert ended.code == 4
    assert ended.duration >= 0.1


@pytest.mark.parametrize(
    "way", ["sleep 20 &", "setsid sleep 20 &", "nohup sleep 20 &", "(setsid sleep 20 &) &"]
)
def test_a_background_child_that_keeps_the_pipes_delays_nothing_loses_nothing_and_lives(
    pidfd: bool, way: str, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    sleeper = script(tmp_path / "sleeper", f"#!/bin/sh\necho $$ > {quoted(note)}\nexec sleep 20\n")
    ended = run(shell(f"echo answer; {way.replace('sleep 20', quoted(sleeper))}\n exit 2"), pidfd=pidfd)
    left = read_pid(note)
    try:
        assert (ended.code, ended.stdout, ended.timed_out) == (2, b"answer\n", False)
        assert ended.duration < 5
        assert alive(left)
    finally:
        os.kill(left, signal.SIGKILL)


def test_what_a_background_child_writes_right_after_the_end_is_still_taken(pidfd: bool) -> None:
    ended = run(shell("(sleep 0.05; echo late) & echo early"), pidfd=pidfd)
    assert (ended.code, ended.stdout) == (0, b"early\nlate\n")


def test_a_background_child_that_floods_the_pipe_does_not_hold_the_answer_back(pidfd: bool) -> None:
    ended = run(shell("(exec timeout 20 yes) & exit 5"), pidfd=pidfd)
    assert ended.code == 5
    assert ended.duration < 5


# --- how it can end


@pytest.mark.parametrize("name", ["HUP", "INT", "KILL", "SEGV", "TERM", "PIPE", "USR1", "ABRT"])
def test_death_by_a_signal_is_told_as_that_signal(pidfd: bool, name: str) -> None:
    ended = run(shell(f"ulimit -c 0; echo last; kill -{name} $$"), pidfd=pidfd)
    assert (ended.code, ended.signal, ended.stdout) == (None, signal.Signals[f"SIG{name}"], b"last\n")


@pytest.mark.parametrize("code", [0, 1, 2, 126, 127, 255])
def test_an_exit_status_comes_as_it_is(pidfd: bool, code: int) -> None:
    assert run(shell(f"exit {code}"), pidfd=pidfd).code == code


def test_a_command_gets_the_default_signals_a_session_and_a_group_of_its_own(pidfd: bool) -> None:
    ended = run(
        python(
            """
            import os, signal
            assert os.getsid(0) == os.getpgid(0) == os.getpid()
            """
        ),
        pidfd=pidfd,
    )
    assert (ended.code, ended.stderr) == (0, b"")
    assert run(shell("yes | head -1"), pidfd=pidfd).stderr == b""


def test_no_descriptor_of_the_host_reaches_the_command(pidfd: bool) -> None:
    inherited = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(inherited, True)
    try:
        ended = run(python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"), pidfd=pidfd)
    finally:
        os.close(inherited)
    # The fourth is the listing's own.
    assert ended.stdout == b"[0, 1, 2, 3]\n"


# --- where it does not even start


def failure(path: str, pidfd: bool, **more: object) -> tuple[int | None, str | None]:
    before = Before()
    ended = run(command(path, **more), pidfd=pidfd)  # type: ignore[arg-type]
    assert (ended.code, ended.signal, ended.timed_out, ended.cancelled) == (None, None, False, False)
    assert before.holds_again()
    assert isinstance(ended.start_error, OSError)
    return ended.start_error.errno, ended.start_error.filename


def test_a_program_that_is_nowhere_is_an_error_of_the_start(pidfd: bool) -> None:
    assert failure("no-such-program-anywhere", pidfd) == (errno.ENOENT, "no-such-program-anywhere")
    assert failure("/no/such/program", pidfd) == (errno.ENOENT, "/no/such/program")


def test_a_script_without_the_execute_bit_is_an_error_of_the_start(pidfd: bool, tmp_path: Path) -> None:
    path = str(script(tmp_path / "hook", "#!/bin/sh\n", 0o644))
    assert failure(path, pidfd) == (errno.EACCES, path)


def test_a_script_without_a_first_line_is_an_error_of_the_start(pidfd: bool, tmp_path: Path) -> None:
    path = str(script(tmp_path / "hook", "echo hi\n"))
    assert failure(path, pidfd) == (errno.ENOEXEC, path)


@pytest.mark.parametrize("first", ["#!/bin/sh\r", "#!/no/such/interpreter"])
def test_a_script_whose_interpreter_is_nowhere_is_an_error_of_the_start(
    pidfd: bool, first: str, tmp_path: Path
) -> None:
    path = str(script(tmp_path / "hook", f"{first}\necho hi\n"))
    assert failure(path, pidfd) == (errno.ENOENT, path)


def test_a_folder_that_is_gone_is_an_error_of_the_start_that_names_the_folder(
    pidfd: bool, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    assert failure("/bin/true", pidfd, cwd=gone) == (errno.ENOENT, str(gone))


def test_an_empty_program_name_is_an_error_of_the_start(pidfd: bool) -> None:
    assert failure("", pidfd) == (errno.ENOENT, "")


def test_a_command_larger_than_the_system_takes_is_an_error_of_the_start(pidfd: bool) -> None:
    assert failure("/bin/true", pidfd, env={"HUGE": "x" * 300_000})[0] == errno.E2BIG


@pytest.mark.parametrize(
    "broken",
    [
        command("/bin/echo", "a\0b"),
        command("/bin/true", env={"A": "b\0c"}),
        command("/bin/true", env={"A=B": "c"}),
        command("/bin/true", env={"A": "\ud800"}),
        command("/bin/true", cwd="/tmp\0"),
    ],
    ids=["argument", "value", "name", "surrogate", "folder"],
)
def test_what_no_system_call_can_carry_is_an_error_of_the_start(pidfd: bool, broken: object) -> None:
    before = Before()
    ended = run(broken, pidfd=pidfd)  # type: ignore[arg-type]
    assert isinstance(ended.start_error, ValueError)
    assert before.holds_again()


def test_a_program_is_looked_up_on_the_path_of_its_own_environment(pidfd: bool, tmp_path: Path) -> None:
    script(tmp_path / "hook-of-mine", "#!/bin/sh\necho found\n")
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert run(command("hook-of-mine", env={"PATH": path}), pidfd=pidfd).stdout == b"found\n"


def test_a_relative_program_is_looked_up_in_the_folder_of_the_command(pidfd: bool, tmp_path: Path) -> None:
    script(tmp_path / "hook", "#!/bin/sh\npwd\n")
    assert run(command("./hook", cwd=tmp_path), pidfd=pidfd).stdout.decode().strip() == os.path.realpath(
        tmp_path
    )


# --- marks


def test_each_run_marks_its_environment_anew_and_keeps_the_marks_of_outer_engines(pidfd: bool) -> None:
    show = shell(f"echo ${MARK_VARIABLE}", env={MARK_VARIABLE: "outer:inner"})
    first, second = (run(show, pidfd=pidfd).stdout.decode().strip() for _ in range(2))
    assert first != second
    assert first.rpartition(":")[0] == second.rpartition(":")[0] == "outer:inner"
    assert len(first.rpartition(":")[2]) >= 24


# --- time


def test_a_command_that_takes_too_long_is_timed_out_with_what_it_had_said(pidfd: bool) -> None:
    ended = run(shell("echo so far; exec sleep 20", timeout=0.2), pidfd=pidfd)
    assert (ended.timed_out, ended.signal, ended.stdout) == (True, signal.SIGTERM, b"so far\n")
    assert 0.2 <= ended.duration < 5


def test_a_command_may_use_its_grace_after_term_to_write_and_end_by_itself(pidfd: bool) -> None:
    ended = run(
        shell("trap 'head -c 200000 /dev/zero; exit 9' TERM; echo; sleep 20 & wait", timeout=0.2), pidfd=pidfd
    )
    assert (ended.timed_out, ended.code, ended.signal) == (True, 9, None)
    assert len(ended.stdout) == 200_001


def test_time_for_feeding_counts(pidfd: bool) -> None:
    ended = run(command("/bin/sleep", "20", stdin=b"x" * 1_000_000, timeout=0.2), pidfd=pidfd)
    assert ended.timed_out


def test_a_deadline_of_no_time_at_all_still_ends_everything(pidfd: bool) -> None:
    before = Before()
    assert run(command("/bin/sleep", "20", timeout=0.0), pidfd=pidfd).timed_out
    assert before.holds_again()


def test_a_deadline_of_years_is_no_special_case(pidfd: bool) -> None:
    assert run(command("/bin/true", timeout=1e12), pidfd=pidfd).code == 0


def test_everything_is_given_back_whatever_happened(pidfd: bool) -> None:
    before = Before()
    for _ in range(20):
        run(command("/bin/true"), pidfd=pidfd)
        run(command("/bin/true", stdin=b"x" * 100_000), pidfd=pidfd)
        run(command("/no/such"), pidfd=pidfd)
        run(shell("kill -9 $$"), pidfd=pidfd)
        run(command("/bin/sleep", "20", timeout=0.01), pidfd=pidfd)
    until(before.holds_again)


def test_the_running_interpreter_can_be_a_command(pidfd: bool) -> None:
    assert run(command(sys.executable, "-c", "print(input())", stdin=b"hi\n"), pidfd=pidfd).stdout == b"hi\n"
