"""A home and a project of their own, for tests of whose hooks run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boathook import Hooks

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class Homestead:
    """A home folder and a project, both under a temporary folder, and the hooks in them."""

    def __init__(self, base: Path, patch: pytest.MonkeyPatch) -> None:
        self.base = base
        self.home = base / "home"
        self.root = base / "project"
        self.patch = patch
        for folder in (self.home, self.root / ".git"):
            folder.mkdir(parents=True)
        patch.setenv("HOME", str(self.home))
        for name in ("BOATHOOK_HOME", "BOATHOOK_DISABLE", "BOATHOOK_ALLOW_WRITABLE"):
            patch.delenv(name, raising=False)

    def project(self, hooks: object, **more: object) -> Path:
        return write(self.root / ".deepagents/hooks.json", hooks, **more)

    def user(self, hooks: object, **more: object) -> Path:
        return write(self.home / ".deepagents/hooks.json", hooks, **more)

    def managed(self, hooks: object, **more: object) -> Path:
        return write(self.base / "managed.json", hooks, **more)

    def script(self, name: str = "guard.sh", text: str = "#!/bin/sh\nexit 0\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def load(self, **options: Any) -> Hooks:
        return Hooks.load(project=self.root, **options)


def write(path: Path, hooks: object, **more: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": hooks, **more}))
    return path


def on(event: str, *commands: str, matcher: str | None = None, **fields: object) -> dict[str, Any]:
    """Return the `hooks` of a file with one group."""
    group: dict[str, Any] = {
        "hooks": [{"type": "command", "command": command, **fields} for command in commands]
    }
    return {event: [group if matcher is None else {"matcher": matcher, **group}]}


def commands(hooks: Hooks) -> list[str]:
    return [handler.shown for handler in hooks.snapshot.handlers]


def codes(hooks: Hooks) -> list[str]:
    return [problem.code for problem in hooks.problems]
