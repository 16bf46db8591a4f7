"""What an engine tells whoever watches it: for progress lines, records and logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome


@dataclass(frozen=True, slots=True)
class MomentOpened:
    """An event has handlers that apply; `handlers` of them are about to run."""

    event: str
    payload: Mapping[str, Any]
    handlers: int


@dataclass(frozen=True, slots=True)
class HandlerStarted:
    """One handler has its place and starts now. `key` pairs it with its `HandlerEnded`."""

    event: str
    name: str
    source: str
    status_message: str | None
    key: int


@dataclass(frozen=True, slots=True)
class HandlerEnded:
    """One handler ended, in the order of ending and not of configuration."""

    event: str
    outcome: Outcome
    key: int


@dataclass(frozen=True, slots=True)
class MomentDecided:
    """An event was settled. `duration_ms` covers the whole of it, waits included."""

    event: str
    decision: Decision
    duration_ms: float


Report = MomentOpened | HandlerStarted | HandlerEnded | MomentDecided
Observer = Callable[[Report], None]
"""Called from any thread; what it raises is logged and swallowed."""
