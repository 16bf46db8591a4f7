"""Permission rules, as conditions of hooks use them: `Bash(git commit:*)`, `Edit(src/**)`, `mcp__server`.

A rule names a tool and, in brackets, which of its calls are meant. The form is Claude Code's; tool
names and argument keys are Claude's too, so a call has to be translated before it is judged.

A condition decides whether a handler runs, and the handler may be a guard. So what cannot be seen
counts as a match: a command line that cannot be read, a word that is known only when the line runs,
an argument that is missing. `Rule.judge` tells such a case from a sure one, `Rule.matches` does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from boathook.dialects.commands import commands_of
from boathook.dialects.path_pattern import PathPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Judgement = Literal["yes", "no", "unsure"]

_EDITORS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_READERS: Final = frozenset({"Read", "NotebookRead", "Grep", "Glob", "LS"})
_SEARCHERS: Final = frozenset({"Grep", "Glob", "LS"})
_SHARED: Final[dict[str, frozenset[str]]] = {
    # Rule's tool → the tools that it speaks of: a rule for reading covers whatever reads files.
    "Edit": _EDITORS,
    "Read": _READERS,
    "Agent": frozenset({"Agent", "Task"}),
    "Task": frozenset({"Agent", "Task"}),
}
_PATH_KEYS: Final = ("file_path", "notebook_path", "path")
_NAMED: Final[dict[str, str]] = {
    # Tools whose specifier is compared with one argument.
    "Agent": "subagent_type",
    "Task": "subagent_type",
    "Skill": "skill",
    "SlashCommand": "command",
    "WebSearch": "query",
}
_TOOL = re.compile(r"[A-Za-z*][\w*.:@/-]*")
_POWERSHELL_BREAK = re.compile(r"\|\||&&|[;|&\n]")
_OPERATOR = re.compile(r"[;&|\n]")


class RuleError(ValueError):
    """A text is not a permission rule. `at` is the 0-based character where reading stopped."""

    def __init__(self, rule: str, at: int, what: str) -> None:
        super().__init__(f"{rule!r} is not a permission rule: {what} (at character {at + 1})")
        self.rule = rule
        self.at = at
        self.what = what


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to be judged, and the places that paths in a rule start from."""

    tool: str
    arguments: Mapping[str, object]
    cwd: Path
    home: Path
    project: Path

    def text(self, key: str) -> str | None:
        """Return an argument that is text, None if it is missing or something else."""
        value = self.arguments.get(key)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `specifier` is what stands in the brackets, None if every call of the tool is meant."""

    text: str
    tool: str
    specifier: str | None = None
    test: Callable[[Call], Judgement] | None = field(default=None, repr=False, compare=False)

    def names(self, tool_name: str) -> bool:
        """Whether the rule speaks of this tool at all."""
        if tool_name in _SHARED.get(self.tool, ()):
            return True
        server = self.tool.startswith("mcp__") and "__" not in self.tool[5:]
        if server and tool_name.startswith(f"{self.tool}__"):
            return True
        return wildcard(self.tool, tool_name)

    def judge(
        self, tool_name: str, tool_input: Mapping[str, object], *, cwd: Path, home: Path, project: Path
    ) -> Judgement:
        """Say whether a call is meant: `yes`, `no`, or `unsure` where that cannot be seen beforehand."""
        if not self.names(tool_name):
            return "no"
        if self.test is None:
            return "yes"
        try:
            return self.test(Call(tool_name, tool_input, cwd, home, project))
        except (OSError, ValueError, RecursionError):
            return "unsure"  # a path or address that nothing can be made of

    def matches(
        self, tool_name: str, tool_input: Mapping[str, object], *, cwd: Path, home: Path, project: Path
    ) -> bool:
        """Whether a handler with this condition has to run: on `yes`, and on `unsure` too."""
        return self.judge(tool_name, tool_input, cwd=cwd, home=home, project=project) != "no"


def parse(rule: str) -> Rule:
    """Read a rule, or raise `RuleError` that says where it went wrong and what was expected."""
    text = rule.strip()
    named = _TOOL.match(text)
    if named is None:
        raise RuleError(rule, 0, "it begins with the name of a tool, as in Bash(git push:*)")
    tool, rest = named.group(), text[named.end() :]
    at = rule.index(text) + named.end()
    if not rest:
        return Rule(text, tool)
    end = _closing(rest) if rest.startswith("(") else 0
    if end < 0:
        raise RuleError(rule, rule.index(text) + len(text), "a ( is open: the rule ends with )")
    if rest[end:]:
        raise RuleError(
            rule, at + end, "here the rule has to end: it is one rule only, no list, no && and no ||"
        )
    specifier = re.sub(r"\\([()\\])", r"\1", rest[1:-1])
    if not specifier.strip():
        raise RuleError(rule, at + 1, f"the brackets are empty: write {tool} for all its calls")
    try:
        return Rule(text, tool, specifier, _test(tool, specifier))
    except ValueError as error:
        raise RuleError(rule, at + 1, str(error)) from None


def _closing(text: str) -> int:
    """Return the place after the ) that closes the ( at the beginning, -1 if none does."""
    level = index = 0
    while index < len(text):
        level += (text[index] == "(") - (text[index] == ")")
        index += 2 if text[index] == "\\" else 1
        if level == 0:
            return index
    return -1


def wildcard(pattern: str, text: str) -> bool:
    """Whether a pattern in which only `*` is special, any text at all, fits the whole text.

    Takes the pieces in turn and never goes back, so that no text, however long, makes it slow.
    """
    first, *others = pattern.split("*")
    if not others:
        return pattern == text
    last = others.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in others:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _test(tool: str, specifier: str) -> Callable[[Call], Judgement] | None:
    if tool.startswith("mcp__"):
        raise ValueError("a rule for a tool server takes no brackets: write mcp__server or mcp__server__tool")
    if specifier == "*":
        return None
    if tool in {"Bash", "PowerShell"}:
        return partial(_bash if tool == "Bash" else _powershell, _command_pattern(specifier))
    if tool in _EDITORS | _READERS:
        return partial(_path, PathPattern.parse(specifier))
    if tool == "WebFetch":
        return partial(_domain, _host_pattern(specifier))
    if tool in _NAMED:
        return partial(_named, _NAMED[tool], _ended(specifier))
    return _unknown


def _command_pattern(specifier: str) -> str:
    """Write the older ending `:*` as the newer one, ` *`."""
    prefix = specifier.removesuffix(":*")
    if not prefix.strip():
        raise ValueError("before :* stands what the command begins with")
    if ":*" in prefix:
        raise ValueError(":* stands only at the end; elsewhere write *")
    return specifier if prefix == specifier else f"{prefix} *"


def _ended(specifier: str) -> str:
    return f"{specifier[:-2]} *" if specifier.endswith(":*") else specifier


def _fits(pattern: str, text: str) -> bool:
    """Whether a command fits. A ` *` at the end wants a word boundary, and is content with no more words."""
    return wildcard(pattern, text) or (pattern.endswith(" *") and wildcard(pattern[:-2], text))


def _names_program_only(pattern: str) -> bool:
    return len(pattern.removesuffix("*").split()) < 2 and "*" not in pattern.removesuffix("*")


def _bash(pattern: str, call: Call) -> Judgement:
    line = call.text("command")
    if line is None:
        return "unsure"
    found = commands_of(line, home=call.home)
    forms = found.forms | {line.strip()} if _OPERATOR.search(pattern) else found.forms
    if any(_fits(each, form) for each in {pattern, " ".join(pattern.split())} for form in forms):
        return "yes"
    if found.hidden is not None or (found.varies and not _names_program_only(pattern)):
        return "unsure"
    return "no"


def _powershell(pattern: str, call: Call) -> Judgement:
    line = call.text("command")
    if line is None:
        return "unsure"
    parts = [" ".join(part.split()) for part in (line, *_POWERSHELL_BREAK.split(line))]
    if any(_fits(pattern.casefold(), part.casefold()) for part in parts):
        return "yes"
    # Its grammar is not read here: whatever may hold another command counts as one that does.
    return "unsure" if any(mark in line for mark in "$({`&'\"") else "no"


def _path(pattern: PathPattern, call: Call) -> Judgement:
    places = {"cwd": call.cwd, "home": call.home, "project": call.project}
    searches = call.tool in _SEARCHERS
    given = next((call.arguments[key] for key in _PATH_KEYS if key in call.arguments), None)
    if given is None and searches:
        given = "."
    if not isinstance(given, str) or not given:
        return "unsure"
    path = call.home / given[2:] if given.startswith("~/") else Path(given)
    if pattern.matches(path, **places):
        return "yes"
    return "unsure" if searches and pattern.may_lie_in(path, **places) else "no"


def _host_pattern(specifier: str) -> str:
    kind, sign, host = specifier.partition(":")
    if kind != "domain" or not sign or not host or not re.fullmatch(r"[\w*.-]+", host):
        raise ValueError("WebFetch takes a host, as in WebFetch(domain:example.com)")
    return host.lower().rstrip(".")


def _domain(pattern: str, call: Call) -> Judgement:
    url = call.text("url")
    if url is None or "\\" in url or any(char.isspace() for char in url.strip()):
        return "unsure"
    host = urlsplit(url if "://" in url else f"//{url}").hostname
    if host is None:
        return "unsure"
    return "yes" if wildcard(pattern, host.rstrip(".")) else "no"


def _named(key: str, pattern: str, call: Call) -> Judgement:
    text = call.text(key)
    if text is None:
        return "unsure"
    arguments = call.text("args") if key == "skill" else None
    full = " ".join(filter(None, (text.removeprefix("/"), arguments)))
    named = pattern.removeprefix("/")
    return "yes" if _fits(named, full) or named == text.removeprefix("/") else "no"


def _unknown(_call: Call) -> Judgement:
    """Say that nothing is known of the specifiers that this tool takes."""
    return "unsure"
