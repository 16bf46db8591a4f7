"""What a scripted model says: turns, the conditions on them, and which turn is next.

A script is played per conversation: which turn comes next follows from the last turn that
stands in the conversation and from what was said since, so a conversation that is resumed
from a checkpoint, in another process too, goes on where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from boathook.terms.problem import BoathookError

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

MAIN = ""
"""The lane of the main agent; a subagent's lane has the subagent's name."""


class ScriptError(BoathookError):
    """A script that cannot be read, or that has no turn for what it is asked."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One tool's answer, as a condition sees it."""

    tool: str
    status: Literal["success", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What the model was told: `results` answer its last tool calls, `input` is all since its last turn."""

    results: tuple[ToolResult, ...] = ()
    input: str = ""
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class TextTest:
    """All of `contains` and none of `lacks` stand in a text, and `matches` is found in it."""

    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    matches: re.Pattern[str] | None = None

    def holds(self, text: str) -> bool:
        """Return whether `text` passes."""
        return (
            all(part in text for part in self.contains)
            and not any(part in text for part in self.lacks)
            and (self.matches is None or self.matches.search(text) is not None)
        )


@dataclass(frozen=True, slots=True)
class ResultTest:
    """One tool result has this name and status and passes this text test."""

    text: TextTest = TextTest()
    tool: str | None = None
    status: str | None = None

    def holds(self, results: tuple[ToolResult, ...]) -> bool:
        """Return whether any of `results` passes all of it."""
        return any(
            self.tool in (None, result.tool)
            and self.status in (None, result.status)
            and self.text.holds(result.text)
            for result in results
        )


@dataclass(frozen=True, slots=True)
class Condition:
    """Everything that must hold; an absent part always does."""

    result: ResultTest | None = None
    input: TextTest | None = None
    conversation: TextTest | None = None

    def holds(self, heard: Heard) -> bool:
        """Return whether all parts hold."""
        return (
            (self.result is None or self.result.holds(heard.results))
            and (self.input is None or self.input.holds(heard.input))
            and (self.conversation is None or self.conversation.holds(heard.conversation))
        )


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `raw` are arguments that are sent as they stand, well-formed or not.

    `id` is None where the model makes one up, and empty for a call that carries none.
    """

    tool: str
    args: Mapping[str, Any]
    raw: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model. `number` counts from 1 in its lane, `line` in the file."""

    number: int
    line: int | None
    text: str = ""
    calls: tuple[Call, ...] = ()
    when: Condition | None = None
    otherwise: bool = False
    until: Condition | None = None
    name: str | None = None
    then: str | None = None
    error: str | None = None
    wait_for: str | None = None
    touch: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A whole file: one lane of turns per agent.

    `chunk` is how many characters a streamed piece has; `limit` how many turns one
    conversation may play before the script counts as a loop.
    """

    source: str
    lanes: Mapping[str, tuple[Turn, ...]]
    chunk: int = 16
    limit: int = 200

    def next_turn(self, lane: str, played: int, heard: Heard) -> Turn:
        """Return the turn that follows turn number `played` of `lane` (0: none was played yet).

        Raises `ScriptError` where the lane is missing or at its end.
        """
        turns = self._lane(lane)
        for turn in turns[_first_candidate(turns, played) :]:
            if _is_due(turn, heard):
                return turn
        raise ScriptError(_exhausted(self.source, lane, turns, heard))

    def _lane(self, lane: str) -> tuple[Turn, ...]:
        turns = self.lanes.get(lane)
        if turns is None:
            header = f"[[agent.{lane}.turn]]" if lane else "[[turn]]"
            raise ScriptError(f"{self.source}: the script has no turns for {_who(lane)}. Add {header}.")
        return turns


def _is_due(turn: Turn, heard: Heard) -> bool:
    if turn.until is not None and turn.until.holds(heard):
        return False
    return turn.when is None or turn.when.holds(heard)


def _first_candidate(turns: tuple[Turn, ...], played: int) -> int:
    if not 0 < played <= len(turns):
        return max(played, 0)
    last = turns[played - 1]
    if last.until is not None:
        return played - 1
    if last.then is not None:
        return next(place for place, turn in enumerate(turns) if turn.name == last.then)
    while played < len(turns) and turns[played].otherwise:
        played += 1
    return played


def _exhausted(source: str, lane: str, turns: tuple[Turn, ...], heard: Heard) -> str:
    last = turns[-1]
    place = source if last.line is None else f"{source}:{last.line}"
    told = " ".join(heard.input.split())[:120]
    return (
        f"{place}: the script has no turn left for {_who(lane)} after turn {last.number}, "
        f"but the model was asked again (it was told: {told!r}). Add a turn."
    )


def _who(lane: str) -> str:
    return f"the agent {lane!r}" if lane else "the main agent"
