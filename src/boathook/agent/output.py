"""A stream that many threads write lines to, and whose reader may leave."""

from __future__ import annotations

import os
import threading
from typing import TextIO


class Output:
    """Writes whole texts, one thread at a time, and flushes each.

    When the reader of a pipe has gone, the rest goes nowhere and the session goes on: an
    agent in the middle of its work is not stopped because nobody looks any more.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write `text` as it stands; what the stream's encoding lacks is shown as an escape."""
        encoding = self._stream.encoding or "utf-8"
        encoded = text.encode(encoding, errors="backslashreplace").decode(encoding)
        with self._lock:
            try:
                self._stream.write(encoded)
                self._stream.flush()
            except BrokenPipeError:
                # The interpreter flushes once more at its end and would complain there.
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)

    def line(self, text: str) -> None:
        """Write `text` and a newline."""
        self.write(f"{text}\n")
