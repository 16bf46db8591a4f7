"""Why a run failed, in words that name the cause and the cure (contract section 6)."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.run import complaints
from boathook.terms.problem import Problem
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boathook.config.schema import Handler
    from boathook.run.process import Command, Exit

_SIGNAL_EXIT: Final = 128


def failure(handler: Handler, command: Command, ended: Exit) -> Problem | None:
    """Say what made a run fail before its answer was read; None for exit 0 and 2."""
    if ended.cancelled:
        return Problem("run-cancelled", "it was stopped because the host cancelled the moment.")
    if ended.start_error is not None:
        return _not_started(handler, command, ended.start_error)
    if ended.timed_out:
        found = f"it did not end within {handler.timeout:g} s, so it was killed with all it had started."
        return Problem("run-timeout", found, 'Make it faster, or raise "timeout" (seconds).')
    if ended.lost:
        found = "its exit status was taken by other code of this process, so its answer is unknown."
        return Problem("run-lost", found, "Let the host not wait for every child, and not ignore SIGCHLD.")
    if ended.signal is not None:
        return Problem("run-signal", f"it was killed by {signal_name(ended.signal)}.{_said(ended)}")
    if ended.code in {0, 2}:
        return None
    return _exited(handler, command, ended)


def unread_script(handler: Handler, command: Command, ended: Exit) -> Problem | None:
    """Say what was wrong when a shell or an interpreter itself ended with exit 2: nobody refused anything."""
    stderr = ended.stderr.decode("utf-8", "replace")
    name = complaints.missing_script(stderr)
    if name is None:
        return _shell_failed(complaints.failed_itself(stderr))
    if Path(command.cwd, name).exists():
        return None
    if (quoting := _unquoted(handler, command)) is not None:
        return quoting
    found = f"the script {excerpt(name, 200)} is not there, so its interpreter ended with exit 2."
    return Problem("run-script-missing", found, "Correct the path in the hooks file.")


def _shell_failed(line: str | None) -> Problem | None:
    if line is None:
        return None
    if "yntax error" in line:
        found = f"the shell cannot parse it, and ended with exit 2: {excerpt(line, 200)}."
        return Problem("command-syntax", found, "Correct the command or its script.")
    found = f"the shell itself failed, and ended with exit 2: {excerpt(line, 200)}."
    return Problem("run-shell", found, "Correct the command or its script.")


def signal_name(number: int) -> str:
    """Return a signal's name, such as ``SIGKILL``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def switch_off(handler: Handler) -> str:
    """Say how to switch a handler off."""
    return f'To switch it off, set "enabled": false at {handler.source}:{handler.line}.'


def _exited(handler: Handler, command: Command, ended: Exit) -> Problem:
    code = ended.code or 0
    if code in {126, 127}:
        problem = _unquoted(handler, command) or _not_there(handler, command, ended)
        if problem is not None:
            return problem
    killed = code - _SIGNAL_EXIT
    by = f" (a command in it was killed by {signal_name(killed)})" if 0 < killed < signal.NSIG else ""
    return Problem(
        "run-exit",
        f"it ended with exit status {code}{by}, which is a failure and decides nothing.{_said(ended)}",
    )


def _not_there(handler: Handler, command: Command, ended: Exit) -> Problem | None:
    blamed = complaints.unstarted(ended.stderr.decode("utf-8", "replace"))
    program = blamed or _program(handler, command)
    if program.endswith(("\r", "\\r")):  # `env` writes it out
        found = f"the `#!` line of a script ends with a carriage return, so its interpreter is not found.{_said(ended)}"
        return Problem("run-shebang", found, "Run: sed -i 's/\\r$//' on that script.")
    problem = _shebang(program, command)
    if problem is not None:
        return problem
    if ended.code == 127 and _located(program, command):
        found = f"exit 127: {excerpt(program, 200)} is there, but something that it should run was not found.{_said(ended)}"
        return Problem("run-not-found", found, "Correct the path, or install what is missing.")
    if ended.code == 127:
        found = f"exit 127: {excerpt(program, 200)} was not found"
        place = "" if "/" in program else f" on PATH={command.env.get('PATH', '')}"
        return Problem(
            "run-not-found", f"{found}{place}.{_said(ended)}", "Install it, or correct the command."
        )
    found = f"exit 126: {excerpt(program, 200)} is not executable.{_said(ended)}"
    return Problem("run-not-executable", found, f"Run: chmod +x {shlex.quote(program)}")


def _not_started(handler: Handler, command: Command, error: Exception) -> Problem:
    program = _program(handler, command)
    number = getattr(error, "errno", None)
    problem = _shebang(program, command)
    if number == errno.ENOENT:
        found = f"{excerpt(program, 200)} was not found"
        place = "" if "/" in program else f" on PATH={command.env.get('PATH', '')}"
        home = "Without a shell `~` is no home folder: write the whole path." if program[:1] == "~" else ""
        advice = home or "Install it, or correct the command."
        return problem or Problem("run-not-found", f"{found}{place}.", advice)
    if number in {errno.EACCES, errno.EPERM}:
        found = f"{excerpt(program, 200)} is not executable."
        return Problem("run-not-executable", found, f"Run: chmod +x {shlex.quote(program)}")
    if number == errno.ENOEXEC:
        found = f"{excerpt(program, 200)} has no `#!` line, so it cannot be run directly."
        return Problem("run-start", found, "Begin it with a line such as #!/bin/sh.")
    return Problem("run-start", f"it could not be started: {getattr(error, 'strerror', None) or error}.")


def _shebang(program: str, command: Command) -> Problem | None:
    """Look whether the program is a script whose interpreter line is at fault."""
    path = _located(program, command)
    first = first_line(path) if path else None
    if first is None or not first.startswith(b"#!"):
        return None
    if first.endswith(b"\r"):
        found = f"the `#!` line of {path} ends with a carriage return, so its interpreter is not found."
        return Problem("run-shebang", found, f"Run: sed -i 's/\\r$//' {shlex.quote(str(path))}")
    words = first[2:].split()
    interpreter = os.fsdecode(words[0]) if words else ""
    if interpreter and not Path(interpreter).exists():
        found = f"{path} wants the interpreter {interpreter}, which is not there."
        return Problem("run-not-found", found, "Install it, or correct the `#!` line.")
    return None


def first_line(path: Path) -> bytes | None:
    """Return the first line of a file without its newline; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.readline(512).removesuffix(b"\n")
    except OSError:
        return None


def _unquoted(handler: Handler, command: Command) -> Problem | None:
    """Look whether a path with a space was taken apart by the shell."""
    if handler.command is None:
        return None
    for path in _spaced(expand(handler.command, command.env)):
        if _located(path, command):
            found = f"the path {excerpt(path, 200)} contains a space and stands outside quotes, so the shell took it apart."
            return Problem("run-quoting", found, f'Write it in double quotes, or use "argv": ["{path}"].')
    return None


def _spaced(command: str) -> Iterator[str]:
    """Yield what may be a path with spaces: words in a row, of which the first looks like a path."""
    words = command.split(" ")[:40]
    for start, word in enumerate(words):
        if "/" in word and word[0] not in "\"'":
            for end in range(start + 2, len(words) + 1):
                yield " ".join(words[start:end])


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def expand(text: str, env: Mapping[str, str]) -> str:
    """Put variables and a leading ``~`` into a command's text, for looking at it only."""
    text = _VARIABLE.sub(lambda found: env.get(found.group(1) or found.group(2), ""), text)
    return os.path.expanduser(text)  # noqa: PTH111 - a shell's text, not yet a path


def _program(handler: Handler, command: Command) -> str:
    if handler.argv:
        return handler.argv[0]
    text = expand(handler.command or "", command.env)
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return next((word for word in words if "=" not in word.split("/")[0]), text)


def _located(program: str, command: Command) -> Path | None:
    if "/" not in program:
        found = shutil.which(program, path=command.env.get("PATH"))
        return Path(found) if found else None
    path = Path(command.cwd, program)
    return path if path.is_file() else None


def _said(ended: Exit) -> str:
    words = excerpt(ended.stderr.decode("utf-8", "replace"), 200)
    return f" It said: {words}" if words else ""
