"""What a session needs of the thing that runs hooks: `boathook.Hooks`, or a fake of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.terms.decision import Decision


class HooksLike(Protocol):
    """Dispatches moments. `Hooks` and `Session` both do, so a host can be handed either."""

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Run the handlers of a moment and return what they came to."""
        ...

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Do the same, blocking the calling thread."""
        ...

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        """Fire and forget."""
        ...

    async def drain(self) -> None:
        """Wait for what was fired and forgotten."""
        ...

    def drain_sync(self, timeout: float | None = None) -> bool:
        """Do the same, blocking for at most `timeout` seconds."""
        ...
