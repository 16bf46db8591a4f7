"""The shell and the paths that the bundled agent's tools use."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from boathook.agent.paths import completed
from boathook.agent.shell import ProjectShell


async def appears(path: Path) -> None:
    for _ in range(2000):
        if path.exists() and path.read_text().strip():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"{path} never appeared")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_a_command_runs_in_the_root_and_its_streams_and_status_come_back(tmp_path: Path) -> None:
    ended = ProjectShell(tmp_path).execute("pwd; echo odd >&2; exit 3")
    assert ended.output == f"{tmp_path}\n[stderr] odd"
    assert (ended.exit_code, ended.truncated) == (3, False)


def test_async_and_sync_runs_say_the_same(tmp_path: Path) -> None:
    shell = ProjectShell(tmp_path)
    assert asyncio.run(shell.aexecute("echo $((6 * 7))")) == shell.execute("echo 42")


def test_a_silent_command_says_so_and_stdin_is_empty(tmp_path: Path) -> None:
    assert ProjectShell(tmp_path).execute("cat").output == "<no output>"


def test_a_command_that_takes_too_long_is_stopped_and_says_so(tmp_path: Path) -> None:
    ended = ProjectShell(tmp_path).execute("echo begun; sleep 60", timeout=1)
    assert ended.exit_code == 124
    assert ended.output.startswith("begun\nError: the command did not end in time")


def test_a_killed_command_names_its_signal(tmp_path: Path) -> None:
    ended = ProjectShell(tmp_path).execute("kill -KILL $$")
    assert (ended.exit_code, "signal 9" in ended.output) == (137, True)


def test_output_beyond_the_limit_is_cut_and_said_to_be(tmp_path: Path) -> None:
    ended = ProjectShell(tmp_path).execute("head -c 300000 /dev/zero | tr '\\0' x")
    assert (len(ended.output), ended.truncated) == (100_000, True)


def test_a_missing_folder_is_an_answer_and_no_exception(tmp_path: Path) -> None:
    ended = ProjectShell(tmp_path / "gone").execute("true")
    assert (ended.exit_code, "cannot start the shell" in ended.output) == (1, True)


def test_cancelling_the_call_ends_the_commands_whole_group(tmp_path: Path) -> None:
    async def cancelled() -> list[int]:
        command = f"sleep 60 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/self; wait"
        task = asyncio.create_task(ProjectShell(tmp_path).aexecute(command))
        await appears(tmp_path / "self")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [int((tmp_path / name).read_text()) for name in ("child", "self")]

    assert not any(alive(pid) for pid in asyncio.run(cancelled()))


@pytest.mark.parametrize(
    ("tool", "args", "path"),
    [
        ("read_file", {"file_path": "a.py", "limit": 3}, "/w/a.py"),
        ("read_file", {"file_path": "/etc/hosts"}, "/etc/hosts"),
        ("write_file", {"file_path": "./x/../b"}, "/w/b"),
        ("edit_file", {"file_path": "/w/../w/b"}, "/w/b"),
        ("delete", {"file_path": "../up"}, "/up"),
        ("ls", {"path": "."}, "/w"),
        ("grep", {"pattern": "x", "path": "src"}, "/w/src"),
    ],
)
def test_a_path_becomes_the_absolute_one_that_is_meant(tool: str, args: dict[str, str], path: str) -> None:
    key = "path" if "path" in args else "file_path"
    assert completed(tool, dict(args), Path("/w")) == {**args, key: path}


def test_a_home_path_is_the_homes() -> None:
    args = completed("read_file", {"file_path": "~/a"}, Path("/w"))
    assert args["file_path"] == os.path.expanduser("~/a")


@pytest.mark.parametrize("args", [{}, {"file_path": ""}, {"file_path": 3}, {"command": "ls"}])
def test_arguments_without_a_path_stay_as_they_are(args: dict[str, object]) -> None:
    assert completed("read_file", dict(args), Path("/w")) == args
    assert completed("execute", dict(args), Path("/w")) == args
