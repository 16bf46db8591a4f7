"""The environment and the folder that a handler starts in (contract section 5)."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEPTH_VARIABLE: Final = "BOATHOOK_DEPTH"
DEPTH_LIMIT: Final = 3
"""An engine that finds itself this deep inside handlers runs none."""

_SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PASSCODE|CREDENTIAL|COOKIE|BEARER"
    r"|(?:^|_)(?:PASS|AUTH|AUTHORIZATION|JWT|PAT|CREDS?)(?:_?B64)?$|_PWD$|^PGPASS",
    re.IGNORECASE,
)
_SESSION_ID_LIMIT: Final = 4096  # Linux refuses to start a process with a variable of 128 KiB


@lru_cache(maxsize=4096)
def looks_secret(name: str) -> bool:
    """Whether a variable's name says that its value is nobody's business."""
    return _SECRET.search(name) is not None


def depth(environ: Mapping[str, str] = os.environ) -> int:
    """How many handlers this process is inside of; 0 outside of any."""
    word = environ.get(DEPTH_VARIABLE, "0")
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0


def base_environment(root: str, event: str, session_id: str) -> dict[str, str]:
    """Return the host's environment without secrets, with what every handler of an event is told."""
    names = _host_environment()
    names["DEEPAGENTS_PROJECT_DIR"] = names["CLAUDE_PROJECT_DIR"] = root
    names["BOATHOOK_EVENT"] = event
    # A NUL cannot stand in an environment; a session id is the host's, and may hold anything.
    told = session_id[:_SESSION_ID_LIMIT].replace("\0", "")
    encoding = sys.getfilesystemencoding()
    names["BOATHOOK_SESSION_ID"] = told.encode(encoding, "replace").decode(encoding)
    names[DEPTH_VARIABLE] = str(depth(names) + 1)
    return names


_seen: tuple[dict[bytes, bytes], dict[str, str]] = ({}, {})


def _host_environment() -> dict[str, str]:
    """Return a copy of the host's environment without secrets.

    Decoding and sifting it costs more than all else that is done before a process starts,
    so it is done again only when something changed. Only the mapping behind `os.environ`
    can be compared at no cost; without it, the work is done each time.
    """
    global _seen  # noqa: PLW0603 - one assignment, of a pair that is never changed
    raw = getattr(os.environ, "_data", None)
    known, sifted = _seen
    if raw is None or raw != known:
        sifted = {name: value for name, value in os.environ.items() if not looks_secret(name)}
        _seen = (dict(raw or {}), sifted)
    return dict(sifted)


def with_passed(base: Mapping[str, str], names: Iterable[str]) -> Mapping[str, str]:
    """Return `base` and the variables that pass although they look secret.

    What the engine itself says stays as it is: no handler may ask for another depth.
    """
    wanted = frozenset(names)
    return {**{name: value for name, value in os.environ.items() if name in wanted}, **base}


def existing_folder(root: str) -> str:
    """Return `root`, or its nearest parent that still exists."""
    if os.path.isdir(root):  # noqa: PTH112 - on the way of every event, and three times as fast
        return root
    return next((str(parent) for parent in Path(root).parents if parent.is_dir()), "/")
