"""What a hooks document may say, as frozen types: nothing behind this door asks `isinstance`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from boathook.config.matcher import MATCH_ALL, Matcher

if TYPE_CHECKING:
    from boathook.terms.problem import Problem

OnFailure = Literal["allow", "block"]
Scope = Literal["managed", "project", "user", "plugin", "given"]
Why = Literal[
    "untrusted", "changed", "writable", "disabled", "managed-only", "store-damaged", "plugin-disabled"
]
"""Why a handler that stands in a file is not loaded."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One file whose bytes were approved: `named` by a command, leading to `real`, both absolute."""

    named: str
    real: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Handler:
    """One configured command, wherever it stood.

    Exactly one of `command` (for the shell) and `argv` (run directly) is set. `events`
    are the events it is configured for: one for a lifecycle handler, any number of
    notifications for an entry of a list-shaped file. `timeout` is in seconds. `pointer`
    and `line` say where in `source` it stands. `env` is what its plugin adds to the
    environment; `pinned` are the files that must be as they were approved when it runs.

    `dialect` names the agent that it was written for, None for our own form; `said` is what
    its file calls the event, "" where that is our name. `condition` is a permission rule that
    a call must fit. A handler in the `background` is not waited for and decides nothing.
    """

    name: str
    source: str
    scope: Scope
    pointer: str
    line: int
    events: tuple[str, ...]
    command: str | None
    argv: tuple[str, ...] | None
    timeout: float
    matcher: Matcher = MATCH_ALL
    status_message: str | None = None
    on_failure: OnFailure = "allow"
    pass_env: tuple[str, ...] = ()
    enabled: bool = True
    env: tuple[tuple[str, str], ...] = ()
    pinned: tuple[Pin, ...] = ()
    dialect: str | None = None
    said: str = ""
    condition: str | None = None
    background: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """Handlers that are equal in this run once per event (contract section 4)."""
        foreign = (self.dialect, self.said, self.condition, self.background)
        return (self.argv or self.command, self.on_failure, frozenset(self.pass_env), self.env, foreign)

    @property
    def shown(self) -> str:
        """The command as a person would write it."""
        import shlex

        return self.command if self.command is not None else shlex.join(self.argv or ())


@dataclass(frozen=True, slots=True)
class Skipped:
    """A handler that stands in a file and is not loaded; `words` say why, and what to do."""

    handler: Handler
    why: Why
    words: str


@dataclass(frozen=True, slots=True)
class Document:
    """One hooks file after reading: its usable handlers in file order, and its problems.

    `usable` is false where nothing of the file can be relied on. `sha256` is of the bytes
    that were read, "" where there were none. `disable_all` and `managed_only` are the two
    switches as they stand in the file; whether they count depends on the scope. `dialect`
    names the agent whose file it is, None for our own form; `plugins_only` is a switch of
    that agent's operator, which leaves hooks to plugins and to the operator.
    """

    path: str
    scope: Scope
    handlers: tuple[Handler, ...] = ()
    problems: tuple[Problem, ...] = ()
    usable: bool = True
    skipped: tuple[Skipped, ...] = ()
    sha256: str = ""
    disable_all: bool = False
    managed_only: bool = False
    dialect: str | None = None
    plugins_only: bool = False
