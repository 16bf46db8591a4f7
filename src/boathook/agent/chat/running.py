"""Handlers that run right now, once they take long enough to be noticed."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widgets import Static

from boathook.agent.words import lasting
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from boathook.terms.report import HandlerStarted

NOTICED: Final = 0.3
"""Seconds after which a running handler is shown."""

TICK: Final = 0.1


class Running(Static):
    """A line for each handler that runs for longer than `NOTICED`: its message and the time so far."""

    def __init__(self) -> None:
        super().__init__("", id="running", markup=False)
        self._started: dict[int, tuple[float, HandlerStarted]] = {}

    def on_mount(self) -> None:
        """Follow the time."""
        self.display = False
        self.set_interval(TICK, self._tick)

    def add(self, started: HandlerStarted) -> None:
        """A handler starts."""
        self._started[started.key] = monotonic(), started

    def drop(self, key: int) -> None:
        """It ended."""
        if self._started.pop(key, None):
            self._tick()

    def _tick(self) -> None:
        now = monotonic()
        lines = [
            f"◌ {started.event}  {excerpt(started.status_message or started.name, 100)}  {lasting((now - since) * 1000)}"
            for since, started in self._started.values()
            if now - since >= NOTICED
        ]
        self.display = bool(lines)
        if lines:
            self.update(Content("\n".join(lines)))
