"""Ending a command with all that came from it: at its deadline, or because someone cancelled."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from boathook.run.process import MARK_VARIABLE, Cancel, Command, Exit, run
from run_children import Before, alive, command, python, quoted, read_pid, shell, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ways = pytest.mark.parametrize("pidfd", [True, False], ids=["pidfd", "looking"])


def writes_its_pid(path: Path, more: str = "") -> str:
    """Shell code for a process that says who it is and then sleeps."""
    return f"sh -c '{more} echo $$ > {quoted(path)}; while :; do sleep 20; done'"


class Later:
    """One run in a thread of its own, and the cancel that reaches it."""

    def __init__(self, order: Command, *, pidfd: bool = True) -> None:
        self.cancel = Cancel()
        self.results: list[Exit] = []
        self._thread = threading.Thread(
            target=lambda: self.results.append(run(order, self.cancel, pidfd=pidfd))
        )
        self._thread.start()

    def result(self) -> Exit:
        self._thread.join(20)
        return self.results[0]


def by_deadline(order: Command, ready: Callable[[], object], *, pidfd: bool) -> Exit:
    return run(order, pidfd=pidfd)


def by_cancel(order: Command, ready: Callable[[], object], *, pidfd: bool) -> Exit:
    later = Later(order, pidfd=pidfd)
    ready()
    later.cancel.cancel()
    return later.result()


@pytest.mark.parametrize(
    ("end", "pidfd"), [(by_deadline, True), (by_cancel, False)], ids=["deadline", "cancel"]
)
@pytest.mark.parametrize(
    "family",
    [
        "{sleeper} & wait",
        "{stubborn} & wait",
        "({sleeper} &); sleep 20",
        "setsid {sleeper} & wait",
        "setsid {stubborn} & wait",
        "(setsid {sleeper} &); sleep 20",
        "nohup setsid {stubborn} > /dev/null 2>&1 < /dev/null & sleep 20",
        "env -i PATH=$PATH setsid {sleeper} & wait",
        "trap '' TERM; {sleeper}",
    ],
    ids=[
        "child",
        "ignores TERM",
        "double fork",
        "own session",
        "own session, ignores TERM",
        "own session, double fork",
        "daemon",
        "own session, no mark",
        "leader ignores TERM",
    ],
)
def test_nothing_of_a_command_is_left(
    pidfd: bool, end: Callable[..., Exit], family: str, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    before = Before()
    parts = {"sleeper": writes_its_pid(note), "stubborn": writes_its_pid(note, 'trap "" TERM;')}
    order = shell(family.format(**parts), timeout=0.4 if end is by_deadline else 60)
    ended = end(order, lambda: read_pid(note), pidfd=pidfd)
    assert (ended.timed_out, ended.cancelled) == (end is by_deadline, end is by_cancel)
    assert not alive(read_pid(note))
    until(before.holds_again)


def test_what_ends_at_term_is_not_made_to_wait_for_the_kill() -> None:
    ended = run(shell("sleep 20 & sleep 20 & wait", timeout=0.1))
    assert ended.duration < 0.9


def test_what_ignores_term_is_killed_a_second_later() -> None:
    ended = run(shell("trap '' TERM; while :; do sleep 20; done", timeout=0.1))
    assert ended.signal == signal.SIGKILL
    assert 1.1 <= ended.duration < 5


def test_a_stopped_command_is_killed_too() -> None:
    ended = run(shell("kill -STOP $$", timeout=0.1))
    assert (ended.timed_out, ended.signal) == (True, signal.SIGKILL)


def test_a_command_that_forks_all_the_time_is_hunted_down(tmp_path: Path) -> None:
    mark = tmp_path / "beat"
    script = """
        import os, sys, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for turn in range(300):
            if os.fork():
                os._exit(0)
            os.setsid()
            open(sys.argv[1], "a").close()
            os.utime(sys.argv[1])
            time.sleep(0.03)
        """
    runner = python(script, timeout=0.3)
    # The parent of all stays, so that the deadline comes while the child hops from process to process.
    hopping = Command((*runner.argv, str(mark)), "/", runner.env, b"", 0.3)
    outer = shell('"$@" & exec sleep 20', timeout=0.3)
    order = Command((*outer.argv, "sh", *hopping.argv), "/", outer.env, b"", 0.3)
    assert run(order).timed_out
    last = mark.stat().st_mtime_ns
    time.sleep(0.1)
    assert mark.stat().st_mtime_ns == last


def test_an_outer_deadline_reaches_what_an_inner_engine_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    inner = f"""
        import os
        from boathook.run.process import Command, run
        run(Command(("setsid", "sh", "-c", "echo $$ > {note}; exec sleep 20"), "/", os.environ, b"", 60))
        """
    import sys

    path = os.pathsep.join(sys.path)
    plain = python(inner)
    order = Command((sys.executable, "-c", plain.argv[-1]), "/", {**plain.env, "PYTHONPATH": path}, b"", 60)
    later = Later(order)
    left = read_pid(note)
    later.cancel.cancel()
    assert later.result().cancelled
    assert not alive(left)


def test_another_commands_processes_are_left_alone(tmp_path: Path) -> None:
    neighbour = Later(shell(writes_its_pid(tmp_path / "pid"), env={MARK_VARIABLE: "the-same-outer-mark"}))
    pid = read_pid(tmp_path / "pid")
    assert run(shell("sleep 20", timeout=0.05, env={MARK_VARIABLE: "the-same-outer-mark"})).timed_out
    assert alive(pid)
    neighbour.cancel.cancel()
    assert neighbour.result().cancelled


# --- cancelling, in every phase


@ways
def test_a_cancel_before_the_start_keeps_the_command_from_starting(pidfd: bool, tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.cancel()
    ended = run(shell(f"touch {quoted(tmp_path / 'ran')}"), cancel, pidfd=pidfd)
    assert (ended.cancelled, ended.code, ended.signal, ended.timed_out) == (True, None, None, False)
    assert not (tmp_path / "ran").exists()


@ways
def test_a_cancel_while_stdin_is_being_fed_ends_the_command(pidfd: bool, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    later = Later(shell(writes_its_pid(note), stdin=b"x" * 8_000_000), pidfd=pidfd)
    read_pid(note)
    later.cancel.cancel()
    assert (later.result().cancelled, later.result().timed_out) == (True, False)


@ways
def test_a_cancel_after_the_exit_stops_the_waiting_for_output_and_kills_nobody(
    pidfd: bool, tmp_path: Path
) -> None:
    note, own = tmp_path / "pid", tmp_path / "own"
    ready = f"while ! test -s {quoted(note)}; do :; done"
    later = Later(shell(f"{writes_its_pid(note)} & {ready}; echo $$ > {quoted(own)}; exit 2"), pidfd=pidfd)
    leader = read_pid(own)
    until(lambda: not alive(leader))
    later.cancel.cancel()
    try:
        assert later.result().code == 2
        assert alive(read_pid(note))
    finally:
        os.kill(read_pid(note), signal.SIGKILL)


@ways
def test_a_cancel_in_the_grace_after_term_changes_nothing_but_what_it_is_called(
    pidfd: bool, tmp_path: Path
) -> None:
    note = tmp_path / "asked"
    order = shell(f"trap 'echo $$ > {quoted(note)}' TERM; while :; do sleep 0.01; done", timeout=0.1)
    later = Later(order, pidfd=pidfd)
    pid = read_pid(note)
    later.cancel.cancel()
    ended = later.result()
    assert (ended.timed_out, ended.cancelled, ended.signal) == (True, True, signal.SIGKILL)
    assert not alive(pid)


def test_one_cancel_reaches_many_children_from_many_threads_any_number_of_times(tmp_path: Path) -> None:
    before = Before()
    cancel = Cancel()
    ended: list[Exit] = []
    notes = [tmp_path / str(number) for number in range(8)]
    orders = [shell(writes_its_pid(note)) for note in notes]
    runs = [threading.Thread(target=lambda order=order: ended.append(run(order, cancel))) for order in orders]
    for thread in runs:
        thread.start()
    pids = [read_pid(note) for note in notes]
    cancels = [threading.Thread(target=cancel.cancel) for _ in range(8)]
    for thread in cancels:
        thread.start()
    for thread in [*cancels, *runs]:
        thread.join(20)
    assert [one.cancelled for one in ended] == [True] * 8
    assert not any(alive(pid) for pid in pids)
    until(before.holds_again)


def test_a_cancel_at_any_moment_of_a_short_life_leaves_nothing_and_is_told_apart_from_success() -> None:
    before = Before()
    for turn in range(120):
        later = Later(command("/bin/true"))
        pause = time.perf_counter() + turn * 20e-6
        while time.perf_counter() < pause:
            pass
        later.cancel.cancel()
        ended = later.result()
        assert ended.cancelled or ended.code == 0
        assert not ended.timed_out
        assert ended.start_error is None
    until(before.holds_again)
