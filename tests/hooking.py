"""What the tests of the engine share: hooks from Python values, handlers that are plain functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boathook import Hooks
from boathook.config.read import read_bytes
from boathook.run.process import Command, Exit
from boathook.snapshot import take

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boathook.config.schema import Document, Handler
    from boathook.run.process import Cancel
    from boathook.snapshot import Snapshot
    from boathook.terms.report import Observer


def entry(command: str = "true", **more: object) -> dict[str, object]:
    """One handler as a hooks file writes it."""
    return {"type": "command", "command": command, **more}


def lifecycle(event: str, *entries: dict[str, object], matcher: str | None = None) -> dict[str, object]:
    """A map-shaped file with one group."""
    group: dict[str, object] = {"hooks": list(entries)}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}}


def document(config: object, path: str = "hooks.json") -> Document:
    data = config if isinstance(config, bytes) else json.dumps(config).encode()
    return read_bytes(data, path)


def snapshot(*configs: object) -> Snapshot:
    return take([document(config, f"{index}.json") for index, config in enumerate(configs)])


def handler(event: str = "PreToolUse", command: str = "guard", **more: object) -> Handler:
    """One handler, read from a file as all are."""
    (found,) = document(lifecycle(event, entry(command, **more))).handlers
    return found


def said(stdout: str | bytes = b"", stderr: str | bytes = b"", code: int | None = 0, **more: Any) -> Exit:
    """How a command ended that printed this."""
    out = stdout.encode() if isinstance(stdout, str) else stdout
    err = stderr.encode() if isinstance(stderr, str) else stderr
    return Exit(code=code, stdout=out, stderr=err, **more)


def pretended(
    answer: Callable[[Command], Exit],
    *configs: object,
    root: str | Path = "/",
    observe: Observer | None = None,
) -> Hooks:
    """Hooks whose commands are not started: `answer` says how each of them ended."""

    def start(command: Command, _cancel: Cancel | None) -> Exit:
        return answer(command)

    return Hooks(snapshot(*configs), root, start=start, observe=observe)
