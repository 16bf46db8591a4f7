"""What a dialect is: tables of names where it can be data, a few functions where it cannot.

Everything that says *ours* is a name of contract sections 2 and 3; *theirs* is a name of the
agent whose files are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from boathook.config.schema import Document, Handler, Scope
    from boathook.terms.events import Event
    from boathook.terms.problem import Problem


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of theirs, and ours that stands for it.

    `ours` is None where there is none; then `why` says so to a person. `guards` says that a
    handler of this event can refuse something, so that losing one is an error. `tools` limits
    the row to calls of some tools (our wire names), for agents that have an event per tool.
    `timeout` is in seconds: what a handler gets that asks for none, None for our own default.
    `longest` caps what it may ask for. `more` are further events of ours that the row stands for,
    where theirs covers several.
    """

    theirs: str
    ours: str | None
    why: str = ""
    guards: bool = False
    tools: tuple[str, ...] = ()
    timeout: float | None = None
    longest: float | None = None
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool: our wire name, theirs, and our argument key → theirs where the two differ.

    `also` are further names that their matchers know it by, in lists of exact names only.
    """

    ours: str
    theirs: str
    keys: Mapping[str, str] = field(default_factory=_nothing)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """One file that may hold hooks. Of several, `pattern` is what their names match in the folder `path`."""

    path: Path
    scope: Scope
    pattern: str = ""

    def files(self) -> tuple[Path, ...]:
        """Return the file, there or not; of a pattern, those that are there, sorted by name."""
        return tuple(sorted(self.path.glob(self.pattern))) if self.pattern else (self.path,)


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one hooks file, called `path`, of the project at `root`."""

    data: bytes
    path: str
    scope: Scope
    root: Path


@dataclass(frozen=True, slots=True)
class Said:
    """How a handler ended and what it said: exit status and both streams, as far as they were kept.

    `problems` are what was noticed while putting it into our words.
    """

    code: int | None
    stdout: bytes
    stderr: bytes
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """One handler at one moment: our row of the event, our payload, and the project's root."""

    dialect: Dialect
    handler: Handler
    row: Event
    payload: Mapping[str, Any]
    root: str

    @property
    def called(self) -> str:
        """What the handler's agent calls the event."""
        row = None if self.handler.said else self.dialect.event_of(self.row.name)
        return self.handler.said or (row.theirs if row else self.row.name)


def _as_it_is(_heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    return theirs


def _said_as_it_is(_heard: Heard, said: Said) -> Said:
    return said


def _always(_heard: Heard) -> bool:
    return True


def _no_fault(_condition: str) -> str | None:
    return None


def _no_variables(_heard: Heard) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One agent's hooks files. What can be a table is one; the functions are for what is left.

    `places` takes (project root, home, environment) and returns the files in order of
    precedence, the last word last. `read` turns a file into a document whose handlers carry
    this dialect's `name` and the event as the file called it. `keys` renames keys of the
    payload (ours → theirs) and `values` the values of the key that an event's matcher is
    compared with. Then `payload` may reshape what the tables made, `answer` puts what a handler
    said into our words, `applies` decides on what a matcher cannot say, `fault` says what is wrong with a condition, and `variables` adds
    to the environment. `mcp` is how an MCP tool is called.
    """

    name: str
    title: str
    events: tuple[EventRow, ...]
    tools: tuple[ToolRow, ...]
    places: Callable[[Path, Path, Mapping[str, str]], tuple[Place, ...]]
    read: Callable[[Dialect, Source], Document]
    keys: Mapping[str, str] = field(default_factory=_nothing)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=_nothing)
    mcp: str = "mcp__{server}__{tool}"
    payload: Callable[[Heard, dict[str, Any]], dict[str, Any]] = _as_it_is
    answer: Callable[[Heard, Said], Said] = _said_as_it_is
    applies: Callable[[Heard], bool] = _always
    variables: Callable[[Heard], Mapping[str, str]] = _no_variables
    fault: Callable[[str], str | None] = _no_fault
    switched: Callable[[tuple[Document, ...]], tuple[Document, ...]] = tuple

    def event(self, theirs: str) -> EventRow | None:
        """Return the row of an event by their name."""
        return next((row for row in self.events if row.theirs == theirs), None)

    def event_of(self, ours: str) -> EventRow | None:
        """Return the row that stands for one of our events, the widest where there are several."""
        rows = [row for row in self.events if ours in (row.ours, *row.more)]
        return min(rows, key=lambda row: len(row.tools), default=None)

    def tool(self, ours: str) -> ToolRow | None:
        """Return the row of a tool by our wire name."""
        return next((row for row in self.tools if row.ours == ours), None)

    def tool_of(self, theirs: str) -> ToolRow | None:
        """Return the row of a tool by their name, or by another that their matchers know."""
        exact = next((row for row in self.tools if row.theirs == theirs), None)
        return exact or next((row for row in self.tools if theirs in row.also), None)

    def tool_name(self, wire: str) -> str:
        """Return what a tool is called there."""
        row = self.tool(wire)
        if row is not None:
            return row.theirs
        prefix, _, rest = wire.partition("mcp__")
        server, separator, tool = rest.partition("__")
        return self.mcp.format(server=server, tool=tool) if separator and not prefix else wire

    def names(self, event: Event, value: str) -> tuple[str, ...]:
        """Return what a matcher of theirs is compared with: the name itself, then others for exact lists."""
        if event.matched == "tool_name":
            row = self.tool(value)
            return (self.tool_name(value), *(row.also if row else ()))
        return (self.values.get(event.name, {}).get(value, value),)
