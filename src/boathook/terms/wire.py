"""A payload as handlers read it on stdin."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boathook.terms.problem import PayloadError

if TYPE_CHECKING:
    from collections.abc import Mapping


def encode(payload: Mapping[str, Any]) -> bytes:
    """Write a payload as one line of ASCII-only JSON and a newline, or raise `PayloadError`."""
    try:
        return json.dumps(payload, allow_nan=False).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError(f"this payload cannot be written as JSON: {error}") from None
