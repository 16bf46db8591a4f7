"""Which plugins are enabled, and the hooks that they bring (contract section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.config.schema import Document


@dataclass(frozen=True, slots=True)
class Enabled:
    """The documents of the enabled plugins, and all places that decide which they are."""

    documents: tuple[Document, ...] = ()
    places: tuple[str, ...] = ()


def read_enabled(root: Path) -> Enabled:
    """Read the hooks of every enabled plugin, for a session in `root`."""
    return Enabled()
