"""What happens in a session, brought from any thread to the screen's own, in order."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from boathook.terms.report import HandlerEnded, HandlerStarted

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from boathook.agent.surface import Moment
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome
    from boathook.terms.report import Report

REMEMBERED: Final = 500
"""Handlers whose last run is remembered."""


class Screen(Protocol):
    """Shows what the feed brings; called in the event loop's thread alone."""

    def show_moment(self, moment: Moment) -> None:
        """A moment is about to be dispatched, or a notification was sent on its way."""

    def show_decision(self, moment: Moment, decision: Decision) -> None:
        """A moment was settled."""

    def show_outcome(self, event: str, outcome: Outcome) -> None:
        """A handler of a notification ended."""

    def show_words(self, piece: str) -> None:
        """The agent said a further piece."""

    def show_words_end(self) -> None:
        """The agent's message is complete."""

    def show_warning(self, words: str) -> None:
        """Something that the person should know."""

    def show_running(self, started: HandlerStarted) -> None:
        """A handler starts."""

    def show_ran(self, key: int) -> None:
        """A handler that was shown as started has ended."""


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a handler ran in this chat, and what came of the last time."""

    count: int
    last: Outcome


class Feed:
    """A `Surface` and an observer, for one event loop's `screen`.

    Everything goes through the loop's queue, so that what two threads say keeps the order
    in which they said it. Once the
    screen or the loop is closed, what comes is dropped.
    """

    def __init__(self, loop: AbstractEventLoop, screen: Screen) -> None:
        self._loop, self._screen = loop, screen
        self._lock = threading.Lock()
        self._runs: OrderedDict[tuple[str, str, str], Runs] = OrderedDict()
        self._is_leaving = self._is_closed = False
        self._last_words: list[str] = []

    def leave(self) -> None:
        """From now on, keep what the person should know: the screen will be gone before it is read."""
        self._is_leaving = True

    @property
    def last_words(self) -> list[str]:
        """What the person should know and had no time to read."""
        with self._lock:
            return list(self._last_words)

    def close(self) -> None:
        """Show nothing any more; called in the loop's thread."""
        self._is_closed = True

    def opened(self, moment: Moment) -> None:
        """See `Surface.opened`."""
        self._later(lambda: self._screen.show_moment(moment))

    def decided(self, moment: Moment, decision: Decision, duration_ms: float) -> None:  # noqa: ARG002
        """See `Surface.decided`."""
        if self._is_leaving:
            self._keep(*decision.notices)
        self._later(lambda: self._screen.show_decision(moment, decision))

    def heard(self, event: str, outcome: Outcome) -> None:
        """See `Surface.heard`."""
        self._later(lambda: self._screen.show_outcome(event, outcome))

    def said(self, piece: str) -> None:
        """See `Surface.said`."""
        self._later(lambda: self._screen.show_words(piece))

    def said_all(self) -> None:
        """See `Surface.said_all`."""
        self._later(self._screen.show_words_end)

    def warned(self, words: str) -> None:
        """See `Surface.warned`."""
        if self._is_leaving:
            self._keep(words)
        self._later(lambda: self._screen.show_warning(words))

    def observe(self, report: Report) -> None:
        """Follow the handlers as they run."""
        if isinstance(report, HandlerStarted):
            self._later(lambda: self._screen.show_running(report))
        elif isinstance(report, HandlerEnded):
            self._remember(report)
            self._later(lambda: self._screen.show_ran(report.key))

    def runs_of(self, event: str, name: str, source: str) -> Runs | None:
        """Return how a handler did so far, None where it never ran."""
        with self._lock:
            return self._runs.get((event, name, source))

    def _keep(self, *words: str) -> None:
        with self._lock:
            self._last_words.extend(words)

    def _remember(self, ended: HandlerEnded) -> None:
        key = (ended.event, ended.outcome.name, ended.outcome.source)
        with self._lock:
            before = self._runs.pop(key, None)
            self._runs[key] = Runs(1 + (before.count if before else 0), ended.outcome)
            if len(self._runs) > REMEMBERED:
                self._runs.popitem(last=False)

    def _later(self, show: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._show, show)
        except RuntimeError:
            return  # the loop is closed: nobody looks any more

    def _show(self, show: Callable[[], None]) -> None:
        if not self._is_closed:
            show()
