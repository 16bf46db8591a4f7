"""What the tests of `boathook.run` share: commands of real children, and waiting that ends."""

from __future__ import annotations

import asyncio
import gc
import os
import shlex
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from boathook.run.process import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
SOURCE = Path(__file__).parent.parent / "src"


def command(
    *argv: str,
    cwd: Path | str = "/",
    stdin: bytes = b"{}\n",
    timeout: float = 30.0,
    env: Mapping[str, str] | None = None,
    stdout_limit: int = 1 << 20,
) -> Command:
    names = {**os.environ, **(env or {})}
    return Command(argv, str(cwd), names, stdin, timeout, stdout_limit)


def shell(script: str, **more: Any) -> Command:
    return command("/bin/sh", "-c", textwrap.dedent(script), **more)


def python(script: str, **more: Any) -> Command:
    """A command that runs Python code, without site-packages, which start slowly."""
    return command(sys.executable, "-I", "-S", "-c", textwrap.dedent(script), **more)


def host(script: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python code as a host of its own, for what would disturb this one."""
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        **options,
    )


def until(true: Callable[[], T], seconds: float = 20.0) -> T:
    """Return what `true` returns as soon as that is true; fail if it never is."""
    end = time.monotonic() + seconds
    while not (result := true()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.002)
    return result


async def until_async(true: Callable[[], T], seconds: float = 20.0) -> T:
    end = time.monotonic() + seconds
    while not (result := true()):
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.002)
    return result


def read_pid(path: Path) -> int:
    """Wait for a child to write its number and a newline into a file."""
    return int(until(lambda: path.exists() and path.read_text().endswith("\n") and path.read_text()))


def alive(pid: int) -> bool:
    """Whether a process exists and is more than the remains of one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] not in (b"Z", b"X")


def quoted(path: Path) -> str:
    return shlex.quote(str(path))


def descriptors() -> set[str]:
    gc.collect()
    return {name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


def children() -> set[int]:
    """Every child of this process, the dead ones that nobody reaped included."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(text[text.rindex(b")") + 2 :].split()[1]) == os.getpid():
            found.add(int(path.parent.name))
    return found


class Before:
    """What the process holds at one time, to see that it comes back to it."""

    def __init__(self) -> None:
        self.descriptors = len(descriptors())
        self.threads = len(os.listdir("/proc/self/task"))
        self.known = threading.active_count()
        self.children = children()

    def holds_again(self) -> bool:
        return (
            len(descriptors()) <= self.descriptors
            and len(os.listdir("/proc/self/task")) <= self.threads
            and threading.active_count() <= self.known
            and children() <= self.children
        )


def in_a_thread(call: Callable[[], T]) -> T:
    """Call in a fresh thread, and return or raise what comes of it here."""
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
