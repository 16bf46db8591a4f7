"""The one JSON object that a handler printed, for dialects that have to put it into our words."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def printed_object(stdout: bytes) -> dict[str, Any] | None:
    """Return the object that stdout is, and nothing beside it; None where it is anything else.

    An object with a key that stands twice, or with what is no JSON, is left to the reader of
    answers, which says what is wrong with it.
    """
    text = stdout.decode("utf-8", "replace").strip().removeprefix("\ufeff").strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def as_stdout(reply: dict[str, Any]) -> bytes:
    """Write an answer as a handler would print it."""
    return json.dumps(reply).encode("ascii") + b"\n"


def text_of(value: object) -> str:
    """Return a text, "" for anything else."""
    return value if isinstance(value, str) else ""


def object_of(value: object) -> dict[str, Any]:
    """Return an object that may be changed, an empty one for anything else."""
    return dict(value) if isinstance(value, dict) else {}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
