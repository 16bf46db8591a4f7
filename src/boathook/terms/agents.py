"""The other agents whose hooks can be run, by the names that people give them."""

from __future__ import annotations

from typing import Final

NAMES: Final = ("claude", "codex", "gemini", "cursor", "copilot", "kimi")
"""The agents whose files can be read."""

SPOKEN: Final = (*NAMES, "notifications")
"""What a single handler of a file of our own may have been written for, see its field `dialect`."""
