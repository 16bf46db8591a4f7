"""Earlier sessions: what they were about, and the name that the person wants to be called by."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from boathook.agent.conversation import state_folder
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from pathlib import Path

_TITLE: Final = 80


@dataclass(frozen=True, slots=True)
class Past:
    """One session that can be resumed. `last` is when it was used last, in seconds since the epoch."""

    session_id: str
    cwd: str
    model: str
    title: str
    last: float


def checkpoints() -> Path:
    """Return the database that conversations are kept in."""
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / "chat.sqlite"


def note(session_id: str, cwd: str, model: str, prompt: str) -> None:
    """Remember that a session exists and was used now; its first prompt is its title. Raises `OSError`."""
    path = state_folder() / "sessions" / session_id / "session.json"
    known = _read(path)
    title = known.title if known else excerpt(prompt, _TITLE)
    past = Past(session_id, cwd, model, title, time.time())
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _replace(path, json.dumps(asdict(past)))


def earlier(cwd: str | None = None) -> list[Past]:
    """Return the sessions that can be resumed, the latest first; with `cwd`, only those of that folder."""
    found = (_read(path) for path in (state_folder() / "sessions").glob("*/session.json"))
    sessions = [past for past in found if past and cwd in (None, past.cwd)]
    return sorted(sessions, key=lambda past: past.last, reverse=True)


def preferred_name() -> str | None:
    """Return the name that was given, ``""`` where the question was passed over, None where it was never asked."""
    try:
        name = json.loads(_profile().read_text(encoding="utf-8"))["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return name if isinstance(name, str) else None


def keep_name(name: str) -> None:
    """Remember the answer, so that the question is asked once. Raises `OSError`."""
    path = _profile()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _replace(path, json.dumps({"name": name}))


def _profile() -> Path:
    return state_folder() / "profile.json"


def _read(path: Path) -> Past | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return Past(**json.loads(path.read_text(encoding="utf-8")))
    return None


def _replace(path: Path, text: str) -> None:
    """Write a file that is never seen half written, readable by its owner alone."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
