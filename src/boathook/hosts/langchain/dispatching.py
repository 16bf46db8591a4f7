"""Moments asked for by plain generators, and dispatched from blocking and async code alike."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from boathook.terms.decision import Decision

if TYPE_CHECKING:
    from boathook.terms.problem import Problem

log = logging.getLogger("boathook")

T = TypeVar("T")


class HooksLike(Protocol):
    """Dispatches moments: `boathook.Hooks` or `boathook.session.Session`."""

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Run the handlers of a moment and return what they came to."""
        ...

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Do the same, blocking the calling thread."""
        ...

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        """Fire and forget."""
        ...


@dataclass(frozen=True, slots=True)
class Moment:
    """One event to dispatch."""

    event: str
    payload: Mapping[str, Any]


Way = Generator[Sequence[Moment], list[Decision], T]
"""Yields moments that may run at the same time, is sent their decisions, returns what they led to."""


class Dispatcher:
    """Drives ways. Whatever goes wrong in the engine, a way gets a decision for each moment.

    A tool call whose guard could not be asked is refused; everything else goes on.
    """

    def __init__(self, hooks: HooksLike, on_decision: Callable[[Decision], None] | None) -> None:
        self._hooks = hooks
        self._on_decision = on_decision or _logged

    def run(self, way: Way[T]) -> T:
        """Drive a way, blocking the calling thread."""
        try:
            moments = next(way)
            while True:
                moments = way.send(self._decide_all(moments))
        except StopIteration as end:
            result: T = end.value
            return result

    async def arun(self, way: Way[T]) -> T:
        """Drive a way in an event loop."""
        try:
            moments = next(way)
            while True:
                moments = way.send(list(await asyncio.gather(*map(self._adecide, moments))))
        except StopIteration as end:
            result: T = end.value
            return result

    def run_outside(self, moment: Moment) -> Decision:
        """Dispatch from a callback that must block although an event loop runs in this thread.

        A session's order could wait for a moment that this very loop is to finish, so
        the engine under it is asked directly.
        """
        return self._decide(moment, getattr(self._hooks, "hooks", self._hooks))

    def notify(self, event: str, payload: Mapping[str, Any]) -> None:
        """Announce a notification; nothing that goes wrong reaches the agent."""
        try:
            self._hooks.notify(event, plain(payload))
        except Exception:
            log.exception("%s could not be announced", event)

    def _decide_all(self, moments: Sequence[Moment]) -> list[Decision]:
        if len(moments) == 1:
            return [self._decide(moments[0], self._hooks)]
        with ThreadPoolExecutor(len(moments) or 1, "boathook-moment") as threads:
            return list(threads.map(lambda moment: self._decide(moment, self._hooks), moments))

    def _decide(self, moment: Moment, hooks: HooksLike) -> Decision:
        try:
            decision = hooks.dispatch_sync(moment.event, plain(moment.payload))
        except Exception as error:
            decision = _for_lack_of_one(moment, error)
        return self._told(decision)

    async def _adecide(self, moment: Moment) -> Decision:
        try:
            decision = await self._hooks.dispatch(moment.event, plain(moment.payload))
        except Exception as error:
            decision = _for_lack_of_one(moment, error)
        return self._told(decision)

    def _told(self, decision: Decision) -> Decision:
        try:
            self._on_decision(decision)
        except Exception:
            log.exception("whoever is told of decisions failed")
        return decision


def plain(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a payload that can be written as JSON: what cannot be is written as its text."""
    try:
        json.dumps(payload, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(payload, default=str, skipkeys=True)
        fixed: Mapping[str, Any] = json.loads(text, parse_constant=str)
        return fixed
    return payload


def _for_lack_of_one(moment: Moment, error: Exception) -> Decision:
    log.error("%s could not be dispatched", moment.event)
    if moment.event != "PreToolUse":
        return Decision(moment.event, "")
    reason = f"The hooks could not be asked, so this call is refused ({type(error).__name__}: {error})."
    return Decision(moment.event, "", permission="deny", block=True, reason=reason)


def _logged(decision: Decision) -> None:
    for notice in decision.notices:
        log.info("%s: %s", decision.event, notice)
    for problem in decision.diagnostics:
        log.info("%s: %s", decision.event, _words(problem))


def _words(problem: Problem) -> str:
    return f"{problem.message} [{problem.code}]"
