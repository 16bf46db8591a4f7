"""Systems with neither pidfd nor waitid nor /proc, such as macOS: the group is all one can see."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from boathook.run import descendants, leader
from boathook.run.process import Command, Exit, run
from run_children import Before, alive, command, quoted, read_pid, shell, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "HAS_WAITID", False)
    monkeypatch.setattr(descendants, "HAS_PROC", False)


def plainly(order: Command) -> Exit:
    before = Before()
    ended = run(order, pidfd=False)
    until(before.holds_again)
    return ended


def test_a_status_a_signal_and_output_come_as_they_are() -> None:
    ended = plainly(shell("cat; echo no >&2; exit 2", stdin=b"x" * 100_000))
    assert (ended.code, len(ended.stdout), ended.stderr) == (2, 100_000, b"no\n")
    assert plainly(shell("kill -9 $$")).signal == signal.SIGKILL
    assert plainly(command("/no/such")).start_error is not None


@pytest.mark.parametrize("trap", ["", "trap '' TERM;"], ids=["sleeper", "ignores TERM"])
@pytest.mark.parametrize(
    "shape", ["sh -c {} & wait", "sh -c {}", "(sh -c {} &); exit 0", "(sh -c {} &); sleep 20"]
)
def test_a_deadline_ends_the_group_and_only_a_deadline_does(trap: str, shape: str, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    inner = f'"{trap} echo \\$\\$ > {quoted(note)}; while :; do sleep 20; done"'
    ended = plainly(shell(shape.format(inner), timeout=0.4))
    child = read_pid(note)
    if "exit 0" in shape:
        assert (ended.timed_out, ended.code) == (False, 0)
        assert alive(child)
        descendants._signal_group(ended_group(child), signal.SIGKILL)
    else:
        assert ended.timed_out
        until(lambda: not alive(child), 5)


def ended_group(pid: int) -> int:
    one = descendants.entry(pid)
    assert one is not None
    return one.group
