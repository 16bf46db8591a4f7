"""The conversation as a file that hooks can read: a JSON object a line, flushed before each runs."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.messages import BaseMessage


class Transcript:
    """An append-only JSONL file, readable by its owner alone.

    Each line has the shape that `Stop` hooks written for other agents read: `type` and
    `message.role` are ``user``, ``assistant`` or ``system``, `message.content` is a list of
    blocks (``text``, ``tool_use``, ``tool_result``), and a tool's result is a user's message.
    A file that is there already is continued.
    """

    def __init__(self, path: str | Path, *, session_id: str, cwd: str) -> None:
        self._path = Path(path).absolute()
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._common = {"sessionId": session_id, "cwd": cwd}
        self._seen = _written(self._path)
        self._lock = threading.Lock()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)

    @property
    def path(self) -> str:
        """The file, as handlers get it in `transcript_path`."""
        return str(self._path)

    def sync(self, messages: Sequence[BaseMessage]) -> None:
        """Append the messages that are not in the file yet. Thread-safe; raises `OSError`.

        Messages are told apart by their id, so that two threads of one conversation may
        hand over overlapping lists; those without one by what they say and where they stand.
        """
        with self._lock:
            lines = []
            for place, message in enumerate(messages):
                key = message.id or f"{place}:{message.type}:{message.text}"
                if key not in self._seen:
                    self._seen.add(key)
                    lines.append(json.dumps({**entry(message, key), **self._common, "timestamp": _now()}))
            if lines:
                _write_all(self._fd, ("\n".join(lines) + "\n").encode())

    def close(self) -> None:
        """Close the file. Later calls of `sync` raise `OSError`."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1


def entry(message: BaseMessage, key: str) -> dict[str, Any]:
    """Return the JSON form of one message, without the session's part."""
    role = {"ai": "assistant", "system": "system"}.get(message.type, "user")
    return {
        "type": role,
        "uuid": key,
        "message": {"role": role, "content": _blocks(message)},
    }


def _written(path: Path) -> set[str]:
    """Return the keys of what an earlier run of the same session wrote, a torn last line left out."""
    if not path.exists():
        return set()
    keys = set()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            keys.add(json.loads(line)["uuid"])
    return keys


def _blocks(message: BaseMessage) -> list[dict[str, Any]]:
    if message.type == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": getattr(message, "tool_call_id", None),
            "content": message.text,
            "is_error": getattr(message, "status", "success") == "error",
        }
        return [result]
    text = [{"type": "text", "text": message.text}] if message.text else []
    return text + [_tool_use(call) for call in getattr(message, "tool_calls", ())]


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
