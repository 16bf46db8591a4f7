"""What holds for every test."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let the programs under test be interrupted, also where this run was started with signals ignored.

    A shell starts background jobs with SIGINT ignored, and nohup ignores SIGHUP; both are
    inherited, and the programs under test would heed that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
