"""Text that came from a handler, made fit to be shown to a person or handed to a model."""

from __future__ import annotations

import re
from typing import Final

TEXT_LIMIT: Final = 10_000
"""Characters of one text for the user or the model (S1), the mark at the cut included."""

CUT_MARK: Final = "…[cut]"

TOOL_OUTPUT_LIMIT: Final = 2_000
"""Characters of `tool_output` in a notification (S0), the mark included."""

TOOL_OUTPUT_MARK: Final = "…[output truncated]"

# C0 but tab and newline, DEL and C1, line and paragraph separators that some terminals obey, the
# bidirectional controls that reorder what is read, zero-width (but the joiners of emoji) and tag characters, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe(text: str) -> str:
    r"""Return `text` with control characters and terminal escapes shown, not obeyed.

    Tabs and newlines stay, a carriage return before a newline is dropped, everything
    else that moves a cursor, recolours or reorders text becomes an escape like ``\x1b``.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_shown, text.replace("\r\n", "\n"))


def cut(text: str, limit: int = TEXT_LIMIT, mark: str = CUT_MARK) -> str:
    """Return `text` if it has at most `limit` characters, else its beginning and `mark`."""
    return text if len(text) <= limit else text[: limit - len(mark)] + mark


def excerpt(text: str, limit: int = 80) -> str:
    """Return the first `limit` characters of `text` on one safe line, for a message."""
    line = " ".join(text[: limit * 4].split())
    return safe(line if len(line) <= limit and len(text) <= limit * 4 else line[:limit] + "…")
