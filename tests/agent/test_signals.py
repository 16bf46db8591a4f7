"""What signals do to a supervised program, with real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import asyncio, sys
from boathook.agent.signals import supervise

def say(word):
    print(word, flush=True)

async def long(word):
    say(word)
    try:
        await asyncio.Event().wait()
    finally:
        say("after " + word)

async def work():
    if sys.argv[1] in ("short", "finishing"):
        return 7
    if sys.argv[1] == "failing":
        raise RuntimeError("broken")
    await long("work")

async def end():
    say("end")
    if sys.argv[1] == "stuck":
        while True:
            try:
                await long("ending")
            except asyncio.CancelledError:
                pass
    if sys.argv[1] == "slow":
        await long("ending")
    if sys.argv[1] == "finishing":
        say("ending")
        await asyncio.to_thread(sys.stdin.readline)
        say("ended in peace")

sys.exit(asyncio.run(supervise(work, end)))
"""


class Program:
    """A supervised program under test; signals are sent once it has said a word."""

    def __init__(self, how: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.heard: list[str] = []

    def hear(self, word: str) -> None:
        assert self.process.stdout is not None
        while not self.heard or self.heard[-1] != word:
            line = self.process.stdout.readline()
            assert line, (self.heard, self.process.stderr.read() if self.process.stderr else "")
            self.heard.append(line.strip())

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def leave(self) -> tuple[int, list[str], str]:
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, self.heard + out.split("\n")[:-1], err


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_cancels_the_work_and_the_end_still_happens(number: int, status: int) -> None:
    program = Program("plain")
    program.hear("work")
    program.signal(number)
    assert program.leave() == (status, ["work", "after work", "end"], "")


def test_a_second_signal_cancels_the_end() -> None:
    program = Program("slow")
    program.hear("work")
    program.signal(signal.SIGINT)
    program.hear("ending")
    program.signal(signal.SIGTERM)
    assert program.leave() == (130, ["work", "after work", "end", "ending", "after ending"], "")


def test_a_third_signal_forces_out_whatever_still_hangs() -> None:
    program = Program("stuck")
    program.hear("work")
    program.signal(signal.SIGINT)
    program.hear("ending")
    program.signal(signal.SIGINT)
    program.hear("after ending")
    program.signal(signal.SIGINT)
    status, heard, _ = program.leave()
    assert (status, heard.count("end")) == (130, 1)


def test_without_a_signal_the_works_own_status_comes_back() -> None:
    assert Program("short").leave() == (7, ["end"], "")


def test_a_first_signal_that_comes_when_the_work_is_done_leaves_the_end_in_peace() -> None:
    program = Program("finishing")
    program.hear("ending")
    program.signal(signal.SIGTERM)
    assert program.leave() == (7, ["end", "ending", "ended in peace"], "")


def test_the_end_happens_after_an_error_too() -> None:
    status, heard, err = Program("failing").leave()
    assert (status, heard) == (1, ["end"])
    assert "RuntimeError: broken" in err


def test_a_signal_that_was_ignored_from_the_start_stays_ignored(tmp_path: Path) -> None:
    command = f"trap '' INT; exec {sys.executable} -c '{PROGRAM}' plain"
    process = subprocess.Popen(["/bin/sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "work\n"
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (143, "after work\nend\n")
