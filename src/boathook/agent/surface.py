"""What whoever shows a session gets to know: every moment as it opens and as it is settled."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from boathook.terms.events import NOTIFICATIONS
from boathook.terms.report import HandlerEnded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boathook.hooks import Hooks
    from boathook.snapshot import Snapshot
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome
    from boathook.terms.report import Observer, Report


@dataclass(frozen=True, slots=True)
class Moment:
    """One event of the session. `number` counts from 1 and pairs what belongs together."""

    number: int
    event: str
    payload: Mapping[str, Any]


class Surface(Protocol):
    """Shows a session. Every method may be called from any thread."""

    def opened(self, moment: Moment) -> None:
        """A moment is about to be dispatched, or a notification was sent on its way."""

    def decided(self, moment: Moment, decision: Decision, duration_ms: float) -> None:
        """A moment was settled."""

    def heard(self, event: str, outcome: Outcome) -> None:
        """A handler of a notification ended."""

    def said(self, piece: str) -> None:
        """The main agent said a further piece of its message."""

    def said_all(self) -> None:
        """The main agent's message is complete."""

    def warned(self, words: str) -> None:
        """Something that the person should know and that no handler said."""


class Logged(logging.Handler):
    """Shows what Boathook's own log says, but for what the surface was told of anyway."""

    def __init__(self, surface: Surface) -> None:
        super().__init__(logging.WARNING)
        self._surface = surface

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record on one line."""
        if record.module == "engine" and record.levelno < logging.ERROR:
            return  # a handler's failure, which came as its outcome, too
        error = record.exc_info[1] if record.exc_info else None
        cause = f" ({type(error).__name__}: {error})" if error else ""
        self._surface.warned(record.getMessage() + cause)


@contextlib.contextmanager
def logging_to(surface: Surface) -> Iterator[None]:
    """Show Boathook's own log on a surface inside the block, and nowhere else."""
    log, handler = logging.getLogger("boathook"), Logged(surface)
    propagate, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagate


class Watched:
    """`Hooks`, with each moment shown. What a host is handed in their place.

    Hand `observe` to `Hooks.load`, and its result to `hooks`. `also` is told of every
    report, too.
    """

    hooks: Hooks

    def __init__(self, surface: Surface, also: Observer | None = None) -> None:
        self._surface = surface
        self._also = also
        self._numbers = itertools.count(1)
        self._derived: dict[int, Outcome] = {}

    @property
    def snapshot(self) -> Snapshot:
        """What this session runs."""
        return self.hooks.snapshot

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Dispatch, see `Hooks.dispatch`."""
        moment, began = self._open(event, payload), time.monotonic()
        return self._decided(moment, await self.hooks.dispatch(event, payload), began)

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Dispatch, blocking, see `Hooks.dispatch_sync`."""
        moment, began = self._open(event, payload), time.monotonic()
        return self._decided(moment, self.hooks.dispatch_sync(event, payload), began)

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        """Notify, see `Hooks.notify`."""
        self._open(event, payload)
        self.hooks.notify(event, payload)

    async def drain(self) -> None:
        """Wait for what is in flight, see `Hooks.drain`."""
        await self.hooks.drain()

    def drain_sync(self, timeout: float | None = None) -> bool:
        """Wait for what is in flight, blocking, see `Hooks.drain_sync`."""
        return self.hooks.drain_sync(timeout)

    def observe(self, report: Report) -> None:
        """Show the end of a notification's handler, which no decision tells of its own."""
        if self._also is not None:
            self._also(report)
        if isinstance(report, HandlerEnded) and (row := NOTIFICATIONS.get(report.event)):
            if row.derived_from:
                self._derived[id(report.outcome)] = report.outcome
            self._surface.heard(report.event, report.outcome)

    def _open(self, event: str, payload: Mapping[str, Any] | None) -> Moment:
        moment = Moment(next(self._numbers), event, payload or {})
        self._surface.opened(moment)
        return moment

    def _decided(self, moment: Moment, decision: Decision, began: float) -> Decision:
        # The handlers of the notification that came along stand at the end, and were shown as they ended.
        own = tuple(each for each in decision.handlers if self._derived.pop(id(each), None) is None)
        shown = replace(decision, handlers=() if moment.event in NOTIFICATIONS else own)
        self._surface.decided(moment, shown, (time.monotonic() - began) * 1000)
        return decision
