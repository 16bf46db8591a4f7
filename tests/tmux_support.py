"""A real program in a real terminal: tmux, and what stands on its screen."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

needs_tmux = pytest.mark.skipif(
    shutil.which("tmux") is None and not os.environ.get("BOATHOOK_REQUIRE_TOOLS"),
    reason="tmux is not installed",
)

PATIENCE = 45.0


class Terminal:
    """One terminal of its own, with one program in it. The shell that started it says ``status N`` when it left."""

    def __init__(
        self,
        command: list[str],
        folder: Path,
        environment: dict[str, str],
        size: tuple[int, int] = (80, 24),
    ) -> None:
        self._socket = folder / "tmux"
        # Where these are set, they are believed and not the terminal.
        kept = {key: value for key, value in environment.items() if key not in ("COLUMNS", "LINES")}
        self._environment = {**kept, "TERM": "xterm-256color"}
        width, height = size
        line = f"{shlex.join(command)}; echo status $?; exec sleep 1000"
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", str(width), "-y", str(height)),
            *("-c", str(folder), "sh", "-c", line),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    @property
    def screen(self) -> str:
        """What stands on the screen."""
        return self._tmux("capture-pane", "-p", "-t", "t")

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._tmux("send-keys", "-t", "t", *keys)

    def types(self, text: str) -> None:
        """Type a text, and Enter."""
        self._tmux("send-keys", "-t", "t", "-l", text)
        self.keys("Enter")

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        self._tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def pid_of_program(self) -> int:
        """Return the number of the program's process, the first child of the terminal's shell."""
        shell = self._tmux("display-message", "-p", "-t", "t", "#{pane_pid}").strip()
        return int(
            subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()[
                0
            ]
        )

    def sees(self, *words: str) -> str:
        """Wait until all these words stand on the screen at once, and return that screen.

        A screen is drawn piece by piece: words that belong together are waited for together.
        """
        seen = ""

        def there() -> bool:
            nonlocal seen
            seen = self.screen
            return all(each in seen for each in words)

        self.until(there)
        return seen

    def loses(self, words: str) -> None:
        """Wait until some words stand on the screen no more."""
        self.until(lambda: words not in self.screen)

    def until(self, true: Callable[[], object]) -> None:
        """Wait until something is true."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, self._tmux("capture-pane", "-p", "-t", "t", check=False)
            time.sleep(0.03)

    def _tmux(self, *args: str, check: bool = True) -> str:
        run = subprocess.run(
            ["tmux", "-S", str(self._socket), *args],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0 or not check, run.stderr
        return run.stdout
