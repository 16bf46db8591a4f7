"""A fake of `Hooks` that writes down what it is asked, and hooks files whose real handlers do the same."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from boathook import Hooks
from boathook.terms.decision import Decision
from boathook.terms.events import EVENTS, NOTIFICATIONS

if TYPE_CHECKING:
    from pathlib import Path

Answer = Callable[[str, Mapping[str, Any]], Decision]


def silent(event: str, payload: Mapping[str, Any]) -> Decision:
    return Decision(event, "recorded")


def blocking(*events: str) -> Answer:
    return lambda event, payload: Decision(event, "recorded", block=event in events, reason="not yet")


class Recording:
    """Each dispatch is logged when it begins, and when it ends or is cancelled.

    `hold` names events whose handlers run until `release` is called for them.
    """

    def __init__(self, answer: Answer = silent, hold: tuple[str, ...] = ()) -> None:
        self.answer = answer
        self.log: list[tuple[str, str]] = []
        self.payloads: list[tuple[str, dict[str, Any]]] = []
        self.threads: list[tuple[str, str]] = []
        self.gates = {event: threading.Event() for event in hold}
        self.reached = {event: threading.Event() for event in (*EVENTS, *NOTIFICATIONS)}
        self.drained = 0

    def events(self, what: str = "begin") -> list[str]:
        return [event for kind, event in self.log if kind == what]

    def payload(self, event: str) -> dict[str, Any]:
        (found,) = [payload for name, payload in self.payloads if name == event]
        return found

    def release(self, event: str) -> None:
        self.gates[event].set()

    def _begin(self, event: str, payload: Mapping[str, Any] | None) -> None:
        self.log.append(("begin", event))
        self.payloads.append((event, dict(payload or {})))
        self.threads.append((event, threading.current_thread().name))
        self.reached[event].set()

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        self._begin(event, payload)
        try:
            while event in self.gates and not self.gates[event].is_set():
                await asyncio.sleep(0.001)
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.log.append(("cancelled", event))
            raise
        self.log.append(("end", event))
        return self.answer(event, payload or {})

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        self._begin(event, payload)
        if event in self.gates:
            self.gates[event].wait(30)
        self.log.append(("end", event))
        return self.answer(event, payload or {})

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        self._begin(event, payload)

    async def drain(self) -> None:
        self.drained += 1

    def drain_sync(self, timeout: float | None = None) -> bool:
        self.drained += 1
        return True


def read_log(log: Path) -> list[dict[str, Any]]:
    """Return the payloads that real handlers wrote, in the order of writing."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def name_of(payload: Mapping[str, Any]) -> str:
    return str(payload.get("event") or payload["hook_event_name"])


def listening(tmp_path: Path, *events: str) -> tuple[Hooks, Path]:
    """Load a list-shaped file with one handler that appends each payload of `events` to a log."""
    log = tmp_path / "log"
    return load(tmp_path, notifications=[(append_to(log), list(events))]), log


def append_to(log: Path) -> list[str]:
    # One write per payload: `cat` reads a whole pipe buffer and appends it at once.
    return ["/bin/sh", "-c", 'cat >> "$0"', str(log)]


def load(
    folder: Path,
    *,
    notifications: list[tuple[list[str], list[str]]] | None = None,
    lifecycle: Mapping[str, dict[str, Any]] | None = None,
) -> Hooks:
    """Write hooks files into `folder` and load them, with `folder` as the project."""
    files = []
    if notifications is not None:
        entries = [{"command": command, "events": events} for command, events in notifications]
        files.append(_write(folder / "notifications.json", entries))
    if lifecycle is not None:
        groups = {event: [{"hooks": [{"type": "command", **row}]}] for event, row in lifecycle.items()}
        files.append(_write(folder / "lifecycle.json", groups))
    return Hooks.load(files=files, project=folder)


def _write(path: Path, hooks: object) -> Path:
    path.write_text(json.dumps({"hooks": hooks}))
    return path


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait until it holds; a host that never gets there fails the test."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.005)


async def until_async(condition: Callable[[], object], seconds: float = 30) -> int:
    """Do the same on an event loop; return how often the loop came round."""
    deadline = time.monotonic() + seconds
    rounds = 0
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        await asyncio.sleep(0.005)
        rounds += 1
    return rounds


class Gate:
    """Holds real handlers, as many as come, until it is opened."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "gate"
        os.mkfifo(self.path)
        self._held: int | None = os.open(self.path, os.O_RDWR)

    def handler(self, log: Path) -> list[str]:
        """Return a command that appends its payload to `log` and then waits for the gate."""
        return ["/bin/sh", "-c", 'cat >> "$0"; cat "$1"', str(log), str(self.path)]

    def open(self) -> None:
        """Let everybody through, now and later."""
        if self._held is not None:
            free = self.path.with_name("free")
            free.touch()
            free.replace(self.path)
            os.close(self._held)
            self._held = None
