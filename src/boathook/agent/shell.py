"""Files and a shell on this machine for deepagents' tools; a cancelled command's children die with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import ExecuteResponse, SandboxBackendProtocol

from boathook.run.fanout import start
from boathook.run.pool import Pool
from boathook.run.process import Command, Exit, run

if TYPE_CHECKING:
    from pathlib import Path

COMMAND_TIMEOUT: Final = 120
"""Seconds a command may take unless the call says otherwise."""

OUTPUT_LIMIT: Final = 100_000
"""Bytes of each output stream that are kept."""

_TIMED_OUT: Final = 124  # what timeout(1) exits with, and what deepagents reports


class ProjectShell(FilesystemBackend, SandboxBackendProtocol):
    """deepagents' file tools on real paths, and its shell tool run in `root` by the engine's own runner.

    deepagents' local shell leaves a running command behind when its call is cancelled.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root_dir=root, virtual_mode=False)
        self._pool = Pool(64)

    @property
    def id(self) -> str:
        """The backend's name in deepagents' records."""
        return f"boathook-{self.cwd}"

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Run a shell command to its end."""
        return _response(run(self._command(command, timeout)))

    async def aexecute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:  # noqa: ASYNC109
        """Run a shell command; when the caller is cancelled, its whole process group is ended first."""
        order = self._command(command, timeout)
        [ended] = await start(self._pool, [lambda cancel, _waited: run(order, cancel)]).gather()
        if isinstance(ended, Exception):
            raise ended
        return _response(ended)

    def _command(self, command: str, timeout: int | None) -> Command:
        return Command(
            argv=("/bin/sh", "-c", command),
            cwd=str(self.cwd),
            env=dict(os.environ),
            stdin=b"",
            timeout=float(timeout or COMMAND_TIMEOUT),
            stdout_limit=OUTPUT_LIMIT,
            stderr_limit=OUTPUT_LIMIT,
        )


def _response(ended: Exit) -> ExecuteResponse:
    if ended.start_error is not None:
        return ExecuteResponse(output=f"Error: cannot start the shell: {ended.start_error}", exit_code=1)
    parts = [ended.stdout.decode(errors="replace")]
    parts += [f"[stderr] {line}" for line in ended.stderr.decode(errors="replace").splitlines()]
    if ended.timed_out:
        parts.append(
            "Error: the command did not end in time and was stopped. Pass a larger `timeout` if it needs one."
        )
    elif ended.signal is not None:
        parts.append(f"Error: the command was killed by signal {ended.signal}.")
    output = "\n".join(part.rstrip("\n") for part in parts if part) or "<no output>"
    return ExecuteResponse(
        output=output, exit_code=_code(ended), truncated=ended.stdout_cut or ended.stderr_cut
    )


def _code(ended: Exit) -> int:
    if ended.timed_out:
        return _TIMED_OUT
    if ended.code is not None:
        return ended.code
    return 128 + ended.signal if ended.signal is not None else 1
