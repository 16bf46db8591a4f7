"""A driver of the terminal that outlives the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from textual.app import App


class Steady:
    """A stream that takes what nobody can read any more."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or forget."""
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Flush, or forget."""
        try:
            self._stream.flush()
        except OSError:
            return

    def fileno(self) -> int:
        """Return the number of the stream below."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Whether the stream below is a terminal."""
        return self._stream.isatty()


class SteadyDriver(LinuxDriver):
    """Textual's driver, for a session that is ended in order although its terminal was closed.

    Textual writes on a thread of its own. Where that dies of the terminal that is gone, the
    application waits for it at the next drawing, forever.
    """

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        """Take over what Textual hands to its driver."""
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        if self._file is not None:
            self._file = cast("Any", Steady(self._file))
