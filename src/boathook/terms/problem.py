"""Problems are values: what was found, where, and what to do; and the tree of exceptions.

Every code stands once in `CATALOGUE`; `docs/reference.md` has a heading for each, and a
test holds both together. A problem never stops the work it is about: whoever finds one
returns it, and goes on with what is usable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from boathook.terms.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Severity = Literal["info", "warning", "error"]

CATALOGUE: Final[Mapping[str, tuple[Severity, str]]] = {
    # files
    "file-missing": ("error", "A hooks file that was asked for is not there."),
    "file-unreadable": ("error", "A hooks file is there but cannot be read."),
    "file-encoding": ("error", "A hooks file is not UTF-8."),
    "file-syntax": ("error", "A hooks file is not JSON; nothing in it is used."),
    "file-shape": ("error", "The file or its `hooks` key has the wrong type; nothing in it is used."),
    "file-empty": ("warning", "The file has no `hooks` key, so nothing in it runs."),
    "key-duplicate": ("error", "A key stands twice in one object; lists of hooks are joined."),
    "key-unknown": ("warning", "A key that means nothing here, often a misspelling."),
    "key-scope": ("warning", "A switch in a file of a scope that may not set it; it does not count."),
    # entries
    "event-unknown": ("error", "No event has this name; its handlers never run."),
    "entry-type": ("error", "An entry or one of its fields has the wrong type; the entry is off."),
    "entry-flat": ("error", "A group without its inner `hooks` list; the group is off."),
    "handler-kind": ("error", "A handler kind that is not built; the handler is off."),
    "handler-command": ("error", "A handler without a usable command; the handler is off."),
    "handler-async": ("error", "`async: true` is not supported; the handler is off."),
    "timeout-invalid": ("error", "`timeout` is not a positive, finite number; the handler is off."),
    "timeout-large": ("warning", "`timeout` is more than an hour; perhaps milliseconds were meant."),
    # entries of other agents' files
    "dialect-guard": ("error", "A guard written for another agent cannot be carried over, and never runs."),
    "dialect-entry": ("warning", "A handler written for another agent has no counterpart, and never runs."),
    "dialect-field": (
        "warning",
        "A field of another agent's file cannot be carried over, and changes nothing.",
    ),
    "dialect-weaker": (
        "warning",
        "A handler that can refuse something in its own agent runs, and can refuse nothing here.",
    ),
    "dialect-note": ("info", "Something that its own agent ignores, too."),
    "migrate-left": ("warning", "A handler, or a part of one, that a migration does not carry over."),
    "condition-invalid": (
        "error",
        "An `if` is no permission rule; its handler runs on every call, and allows none.",
    ),
    "condition-unused": ("error", "An `if` on an event that is not about a tool; its handler never runs."),
    # matchers
    "matcher-invalid": ("error", "A matcher does not compile or names nothing; its group is off."),
    "matcher-unused": ("error", "A matcher on an event that compares nothing; its group is off."),
    "matcher-rule": (
        "warning",
        "A matcher that looks like a permission rule; it is compared with names only.",
    ),
    "matcher-server": ("warning", "A matcher that names an MCP server without a tool; it matches no tool."),
    "matcher-case": ("warning", "A matcher that differs from a known name only in case."),
    "matcher-value": ("warning", "A matcher names a value that this event never has."),
    "matcher-slow": ("warning", "A matcher could not be decided in time; the handler runs."),
    # found by `check` before anything runs
    "script-missing": ("error", "A script that a command names is not there."),
    "script-mode": ("error", "A script that is run directly has no execute bit."),
    "script-shebang": ("error", "A script's `#!` line is missing, or ends with a carriage return."),
    "script-writable": ("warning", "Others may write to a file that runs with your permissions."),
    "command-missing": ("error", "The program that a command starts is not on PATH."),
    "command-quoting": ("error", "A placeholder or path with spaces stands outside quotes."),
    "command-syntax": ("error", "The shell cannot parse the command."),
    "argv-unexpanded": ("error", "A `~` or `$NAME` in a list of arguments; only a shell would expand it."),
    # scopes
    "project-untrusted": ("warning", "Project hooks are present and were not loaded."),
    "file-writable": ("error", "Others may write to a hooks file, a script or its folder; it is refused."),
    "trust-store": ("error", "The record of what was approved is damaged; nothing counts as approved."),
    "plugin-unusable": ("error", "An enabled plugin, or a file of it, cannot be used."),
    "plugin-path": ("error", "A plugin names a hooks file outside of its folder; that file is not read."),
    "hooks-disabled": ("info", "Hooks are switched off, all but the managed ones."),
    "config-changed": ("warning", "A hooks file changed on disk; this session goes on with what it read."),
    "depth-limit": ("warning", "An engine inside a handler inside a handler inside a handler runs nothing."),
    "root-missing": ("warning", "The project root is gone; handlers run in its nearest existing parent."),
    # payloads
    "payload-event": ("warning", "The payload names another event than the one that was fired."),
    "payload-key": ("warning", "The payload lacks the key that matchers are compared with."),
    # runs
    "run-start": ("warning", "The command could not be started."),
    "run-not-found": ("warning", "The command or its interpreter was not found (127)."),
    "run-not-executable": ("warning", "The command is not executable (126)."),
    "run-shebang": ("warning", "The script's `#!` line ends with a carriage return."),
    "run-quoting": ("warning", "A path with a space was taken apart by the shell."),
    "run-script-missing": ("warning", "The interpreter ran, but the script is not there."),
    "run-shell": ("warning", "The shell itself failed and ended with 2, which refuses nothing by intent."),
    "run-exit": ("warning", "The command ended with an exit status other than 0 or 2."),
    "run-signal": ("warning", "The command was killed by a signal."),
    "run-timeout": ("warning", "The command did not end in time and was killed."),
    "run-lost": ("warning", "The exit status was taken by other code of the host process."),
    "run-waited": ("info", "The command had to wait for a free place before it started."),
    "run-changed": ("warning", "A file that the command names is not what was approved, so it was not run."),
    "run-cancelled": ("info", "The command was killed because the host cancelled the moment."),
    "internal": ("error", "A fault of Boathook itself; please report it."),
    # answers
    "answer-cut": ("warning", "More output than is kept; a cut answer is never read."),
    "answer-json": ("warning", "Output that begins like a JSON object and is not one."),
    "answer-mixed": ("warning", "A JSON object beside other output; nothing is taken from it."),
    "answer-text": ("warning", "Plain text on an event where only a JSON object says something."),
    "answer-decision": ("warning", "A decision whose value or place is not known; it does not count."),
    "answer-field": ("warning", "A field of the answer has the wrong type and is ignored."),
    "answer-unknown": ("info", "A field of the answer that means nothing on this event."),
    "answer-event-missing": ("info", "`hookSpecificOutput` does not name its event."),
    "answer-event-other": ("warning", "`hookSpecificOutput` names another event and is ignored."),
    "answer-old-spelling": ("info", "The old spelling of a decision was understood."),
    "answer-unapplied": ("warning", "A field that is recognized and checked, but not applied."),
    "answer-void": ("warning", "An allow or ask that came with a changed input is void."),
    "answer-cannot-block": ("warning", "This event cannot block; the agent goes on."),
    "answer-subagent-stop": ("info", "A finished subagent is not resumed; the reason is context."),
}
"""Code → (severity, one sentence). The codes are public; they are never renamed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing found wrong or worth saying.

    `found` says what was seen, `advice` what to do next ("" where nothing is to be done).
    `pointer` is an RFC 6901 JSON pointer into `file`; `line` and `column` count from 1,
    in characters. `handler` is the handler's name where a run is meant.
    """

    code: str
    found: str
    advice: str = ""
    file: str | None = None
    pointer: str | None = None
    line: int | None = None
    column: int | None = None
    handler: str | None = None

    def __post_init__(self) -> None:
        if self.code not in CATALOGUE:
            raise ValueError(f"problem code {self.code!r} is not in the catalogue")

    @property
    def severity(self) -> Severity:
        """How bad it is: `info`, `warning` or `error`."""
        return CATALOGUE[self.code][0]

    @property
    def message(self) -> str:
        """What was found and what to do, as one text that is safe to print."""
        return safe(f"{self.found} {self.advice}".rstrip())

    def of(self, handler: str) -> Problem:
        """Return this problem as one of the named handler's."""
        return replace(self, handler=handler)

    def as_dict(self) -> dict[str, object]:
        """Return the public JSON form (contract section 12)."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "handler": self.handler,
            "file": self.file,
            "pointer": self.pointer,
            "line": self.line,
            "column": self.column,
        }


class BoathookError(Exception):
    """The root of every exception that Boathook raises on purpose."""


class UnknownEventError(BoathookError, ValueError):
    """An event name that stands in neither table."""


class PayloadError(BoathookError, ValueError):
    """A payload that is not an object, or that cannot be written as JSON."""


class ConfigError(BoathookError):
    """A hooks file that cannot be used at all; `problems` says where and why."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(located(problem) for problem in self.problems))


def located(problem: Problem) -> str:
    """Return the problem as one line that is safe to print: ``file:line:column: message [code]``."""
    place = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
    who = f"{problem.handler}: " if problem.handler else ""
    words = f"{who}{problem.message} [{problem.code}]"
    return safe(f"{place}: {words}" if place else words)
