"""The names that a plugin's commands use for folders, in both forms of a command.

In a list of arguments a placeholder is replaced by text: no shell ever reads it. In a shell
command nothing is put in. The shell itself expands the variable from its environment; all
that is added are the quotes that keep a path with spaces in one piece.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES: Final = (
    "CLAUDE_PLUGIN_ROOT",
    "PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "PLUGIN_DATA",
    "CLAUDE_PROJECT_DIR",
)

_BRACED = re.compile(rf"\$\{{({'|'.join(NAMES)})\}}")
_VARIABLE = re.compile(rf"\$(?:\{{(?:{'|'.join(NAMES)})\}}|(?:{'|'.join(NAMES)})(?!\w))")


def in_argument(text: str, values: Mapping[str, str]) -> str:
    """Return one argument with its placeholders replaced, each once: a value is not looked through again."""
    return _BRACED.sub(lambda found: values.get(found.group(1), found.group()), text)


def in_shell(command: str) -> str:
    """Return a shell command with quotes around every placeholder that stands outside of quotes.

    Inside double quotes it needs none, and inside single quotes the shell expands nothing: what
    stands there is often the program of another shell, which finds the variable itself.
    From the first here-document on, the text stays as it is.
    """
    return "".join(_Quoter(command).pieces())


class _Quoter:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.inside: list[str] = []

    def pieces(self) -> list[str]:
        found = []
        while self.at < len(self.text):
            start = self.at
            added = self._step()
            piece = self.text[start : self.at]
            found.append(f'"{piece}"' if added else piece)
        return found

    def _step(self) -> bool:
        """Go on by one thing; true for a placeholder that wants quotes."""
        text, at = self.text, self.at
        quoted = self.inside[-1:] == ['"']
        placeholder = _VARIABLE.match(text, at)
        if placeholder is not None:
            self.at = placeholder.end()
            return not quoted
        if text[at] == "\\":
            self.at += 2
        elif not quoted and text[at] == "'":
            self._to("'")
        elif not quoted and text[at] == "#" and (at == 0 or text[at - 1] in " \t\n;&|("):
            self._to("\n")
        elif not quoted and text.startswith("<<", at) and not text.startswith("<<<", at):
            self.at = len(text)
        else:
            self._nest(text[at], text[max(0, at - 1) : at], quoted=quoted)
        return False

    def _to(self, char: str) -> None:
        end = self.text.find(char, self.at + 1)
        self.at = len(self.text) if end < 0 else end + 1

    def _nest(self, char: str, before: str, *, quoted: bool) -> None:
        """Follow what opens and closes: quotes, command substitutions, brackets within them."""
        innermost = self.inside[-1] if self.inside else ""
        self.at += 1
        if char in {'"', "`"}:
            if innermost == char:
                self.inside.pop()
            else:
                self.inside.append(char)
        elif char == "(" and (before == "$" or not quoted):
            self.inside.append("(")
        elif char == ")" and innermost == "(":
            self.inside.pop()
