"""The record under many processes, and under sudden death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from boathook import Hooks
from boathook.config import records, trust
from homestead import Homestead, commands, on

if TYPE_CHECKING:
    from collections.abc import Callable

GRANT = """
import sys
from boathook.config import trust
sys.stdin.readline()
for root in sys.argv[1:]:
    trust.grant(trust.review(root), always=True)
"""

DIE = """
import os, signal, sys
from boathook.config import records, trust
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
{patch}
trust.grant(trust.review(sys.argv[1]), always=True)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    return Homestead(tmp_path, monkeypatch)


def project(here: Homestead, name: str) -> Path:
    root: Path = here.base / name
    file = root / ".deepagents/hooks.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"hooks": on("Stop", f"echo {name}")}))
    return root


def python(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdin=subprocess.PIPE,
        text=True,
        stderr=subprocess.PIPE,
    )


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_processes_that_approve_at_once_lose_nothing_of_each_other(here: Homestead) -> None:
    roots = [project(here, f"p{number}") for number in range(12)]
    children = [python(GRANT, *roots[start::4]) for start in range(4)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=40)
        assert child.returncode == 0, errors
    assert trust.approved_roots() == tuple(sorted(map(str, roots)))
    for root in roots:
        assert commands(Hooks.load(project=root)) == [f"echo {root.name}"]


@pytest.mark.parametrize(
    "patch",
    [
        "os.fsync = die  # the new file is written, and not yet in place",
        "records.RecordFile._sweep = die  # before anything is written",
        "records._sync = die  # it is in place",
        "records.keep_copies = die  # under the lock, before the copies",
        "import pathlib; pathlib.Path.replace = die",
    ],
)
def test_a_kill_in_the_middle_of_writing_leaves_the_record_whole(here: Homestead, patch: str) -> None:
    first, second = project(here, "first"), project(here, "second")
    trust.grant(trust.review(first), always=True)
    child = python(DIE.format(patch=patch), second)
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGKILL
    assert commands(Hooks.load(project=first)) == ["echo first"]
    # Neither the lock nor what was left lying about keeps the next one from its work.
    trust.grant(trust.review(second), always=True)
    assert commands(Hooks.load(project=second)) == ["echo second"]
    assert commands(Hooks.load(project=first)) == ["echo first"]
    assert list((here.home / ".boathook").glob(".trust.json.*")) == []


def test_kills_at_any_moment_leave_the_record_whole(here: Homestead) -> None:
    roots = [project(here, f"p{number}") for number in range(3)]
    trust.grant(trust.review(roots[0]), always=True)
    record = here.home / ".boathook/trust.json"
    code = GRANT.replace("for root", "while True:\n  for root").replace(
        "    trust.grant", "      trust.grant"
    )
    for _ in range(3):
        before = record.stat().st_ino
        child = python(code, *roots)
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        until(lambda before=before: record.stat().st_ino != before)  # type: ignore[misc]
        child.kill()
        child.communicate(timeout=20)
        assert commands(Hooks.load(project=roots[0])) == ["echo p0"]
        assert json.loads(record.read_text())["version"] == 1


def test_a_writer_waits_for_the_one_before(here: Homestead) -> None:
    root = project(here, "one")
    lock = here.home / ".boathook/trust.lock"
    lock.parent.mkdir()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl,sys; f=open(sys.argv[1],'w'); fcntl.flock(f, 2); print('held', flush=True); sys.stdin.readline()",
            str(lock),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    child = python(GRANT, root)
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()
    wchan = Path(f"/proc/{child.pid}/wchan")
    if os.access(wchan, os.R_OK):
        until(lambda: "lock" in wchan.read_text() or child.poll() is not None or wchan.read_text() == "0")
    assert child.poll() is None
    assert trust.approved_roots() == ()
    holder.communicate("done\n", timeout=20)
    child.communicate(timeout=20)
    assert trust.approved_roots() == (str(root),)


def test_a_folder_that_cannot_be_written_is_said_and_nothing_was_recorded(here: Homestead) -> None:
    root = project(here, "one")
    (here.home / ".boathook").write_text("a file in the folder's place")
    with pytest.raises(records.RecordError, match="Nothing was recorded"):
        trust.grant(trust.review(root), always=True)
