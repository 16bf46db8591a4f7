"""Programs that run another program, and where on their command line that one begins."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

WRAPPERS: Final[dict[str, frozenset[str]]] = {
    # Program → its options that take the word after them.
    "env": frozenset({"-u", "--unset", "-C", "--chdir"}),
    "exec": frozenset({"-a"}),
    "command": frozenset(),
    "builtin": frozenset(),
    "nohup": frozenset(),
    "setsid": frozenset(),
    "sudo": frozenset({"-u", "-g", "-C", "-h", "-p", "-D"}),
    "doas": frozenset({"-u", "-C"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "time": frozenset({"-f", "--format", "-o", "--output"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d", "-a", "-s"}),
    "flock": frozenset({"-w", "-E"}),
}
SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})

_OWN_WORDS: Final = {"timeout": 1, "flock": 1}
"""Words of its own that such a program wants before the command."""
_SETTING: Final = frozenset({"env", "sudo"})
"""Those that take assignments before the command."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_COMMAND_OPTION = re.compile(r"-\w*c")


def command_begins(words: Sequence[str | None]) -> int:
    """Return where the command begins that the wrapper `words[0]` runs, the number of words if it has none."""
    name = PurePath(words[0] or "").name
    valued, own = WRAPPERS[name], _OWN_WORDS.get(name, 0)
    index = 1
    while index < len(words):
        word = words[index]
        if word is not None and word.startswith("-") and len(word) > 1:
            index += 2 if word in valued else 1
        elif sets_variable(words, index):
            index += 1
        elif own:
            own -= 1
            index += 1
        else:
            break
    return min(index, len(words))


def sets_variable(words: Sequence[str | None], index: int) -> bool:
    """Whether a word before the command is an assignment that the wrapper makes for it."""
    return PurePath(words[0] or "").name in _SETTING and _ASSIGNMENT.match(words[index] or "") is not None


def shell_argument(words: Sequence[str | None]) -> tuple[int, bool] | None:
    """Return where a shell's script or command text stands, and whether it is text (after `-c`).

    None when the shell is given neither: it reads commands from its input.
    """
    for index in range(1, len(words)):
        word = words[index]
        if word is not None and _COMMAND_OPTION.fullmatch(word):
            return index + 1, True
        if word is None or not word.startswith(("-", "+")):
            return index, False
    return None
