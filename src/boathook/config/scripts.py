"""Files that a command starts, looked at before it does: are they there, can they be run, by what."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HEAD: Final = 4096
"""Bytes of a script that are looked at."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True)
class Fault:
    """What would fail at run time: a problem's code, what was found, and what to do."""

    code: str
    found: str
    advice: str


def on_path(program: str, path: str | None) -> bool:
    """Whether a program without a slash in its name would be found."""
    return shutil.which(program, path=path) is not None


def missing_program(program: str) -> Fault:
    """Return the fault of a program that is on no folder of PATH."""
    return Fault(
        "command-missing", f"the program {program!r} is not on PATH.", "Install it, or write its whole path."
    )


def missing_script(path: Path) -> Fault:
    """Return the fault of a script that is not there."""
    what = "is a folder" if path.is_dir() else "is not there"
    return Fault("script-missing", f"{path} {what}.", "Correct the path, or put the script there.")


def started(path: Path, search: str | None, *, by_shell: bool) -> Fault | None:
    """Return what keeps a file from being started by its path, or None.

    A shell runs a script without `#!` line itself; the system refuses it.
    """
    if not path.exists() or path.is_dir():
        return missing_script(path)
    if not os.access(path, os.X_OK):
        return Fault("script-mode", f"{path} is not executable.", f"Run: chmod +x {shlex.quote(str(path))}")
    head = _head(path)
    if head is None:
        return None
    if head.startswith(b"#!"):
        return _shebang(path, head.partition(b"\n")[0], search)
    if by_shell or b"\0" in head:
        return None
    return Fault(
        "script-shebang",
        f"{path} has no `#!` line, so it cannot be run directly.",
        "Begin it with a line such as #!/bin/sh.",
    )


def read_by_shell(path: Path) -> Fault | None:
    """Return what makes a shell misread a script that is handed to it, or None."""
    head = _head(path)
    if head is None or b"\0" in head or head.count(b"\r\n") < 2:
        return None
    return _carriage_return(path, "the lines")


def _head(path: Path) -> bytes | None:
    if not path.is_file():
        return None  # whoever opens a pipe waits for its other end
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return None


def _carriage_return(path: Path, what: str) -> Fault:
    verb = "end" if what.endswith("s") else "ends"
    return Fault(
        "script-shebang",
        f"{what} of {path} {verb} with a carriage return.",
        f"Run: sed -i 's/\\r$//' {shlex.quote(str(path))}",
    )


def _shebang(path: Path, line: bytes, search: str | None) -> Fault | None:
    if line.endswith(b"\r"):
        return _carriage_return(path, "the `#!` line")
    words = os.fsdecode(line[2:]).split()
    if not words:
        return Fault("script-shebang", f"the `#!` line of {path} names nothing.", "Write #!/bin/sh.")
    found = f"{path} wants the interpreter {{}}, which is not there."
    advice = "Install it, or correct the `#!` line."
    if not Path(words[0]).is_absolute():
        return None  # taken from the working folder of the moment
    if not Path(words[0]).exists():
        return Fault("command-missing", found.format(words[0]), advice)
    if Path(words[0]).name != "env":
        return None
    rest = [word for word in words[1:] if word != "-S" and not _ASSIGNMENT.match(word)]
    if not rest or rest[0].startswith("-") or "/" in rest[0] or on_path(rest[0], search):
        return None
    return Fault("command-missing", found.format(rest[0]), advice)
