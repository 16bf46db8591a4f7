"""Earlier sessions: what they were about, and the name that the person wants to be called by."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from boathook.agent.conversation import state_folder
from boathook.terms.problem import BoathookError
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

_TITLE: Final = 80
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


@dataclass(frozen=True, slots=True)
class Past:
    """One session that can be resumed. `last` is when it was used last, in seconds since the epoch."""

    session_id: str
    cwd: str
    model: str
    title: str
    last: float

    @property
    def ago(self) -> str:
        """How long ago it was used, in one word and a number."""
        seconds = max(time.time() - self.last, 0)
        unit, length = next((each for each in _UNITS if seconds >= each[1]), ("s", 1))
        return f"{seconds // length:.0f} {unit} ago"


class ArchiveError(BoathookError):
    """The database of conversations cannot be used."""


@contextlib.asynccontextmanager
async def saver() -> AsyncIterator[AsyncSqliteSaver]:
    """Open the database that conversations are kept in. Raises `ArchiveError`."""
    path = state_folder() / "chat.sqlite"
    async with contextlib.AsyncExitStack() as stack:
        try:
            opened = AsyncSqliteSaver.from_conn_string(str(_private(path)))
            result = await stack.enter_async_context(opened)
            await result.setup()
        except (OSError, sqlite3.Error) as error:
            raise ArchiveError(
                f"conversations cannot be kept in {path}: {error}. "
                "Move that file away, or set BOATHOOK_HOME to a folder that can be written to."
            ) from error
        yield result


def _private(path: Path) -> Path:
    """Make a file that its owner alone can read, if there is none."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite gives its journals the mode that the database has.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)
    return path


def note(session_id: str, cwd: str, model: str, prompt: str) -> None:
    """Remember that a session exists and was used now; its first prompt is its title. Raises `OSError`."""
    path = _about(session_id)
    known = _read(path)
    title = known.title if known else excerpt(prompt, _TITLE)
    past = Past(session_id, cwd, model, title, time.time())
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_private(path, json.dumps(asdict(past)))


def earlier(cwd: str | None = None) -> list[Past]:
    """Return the sessions that can be resumed, the latest first; with `cwd`, only those of that folder."""
    found = (_read(path) for path in (state_folder() / "sessions").glob("*/session.json"))
    sessions = [past for past in found if past and cwd in (None, past.cwd)]
    return sorted(sessions, key=lambda past: past.last, reverse=True)


def is_known(session_id: str) -> bool:
    """Whether a session can be resumed."""
    return _about(session_id).exists()


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
    replace_private(path, json.dumps({"name": name}))


def _about(session_id: str) -> Path:
    return state_folder() / "sessions" / session_id / "session.json"


def _profile() -> Path:
    return state_folder() / "profile.json"


def _read(path: Path) -> Past | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return Past(**json.loads(path.read_text(encoding="utf-8")))
    return None


def replace_private(path: Path, text: str) -> None:
    """Write a file that is never seen half written, readable by its owner alone. Raises `OSError`."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
