"""The shape of the source: who may import whom, and that no function outgrows a screen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "boathook"

# Room → the rooms it may import, itself aside. A module at the top counts as a room of its own.
MAY_IMPORT: dict[str, set[str]] = {
    "terms": set(),
    "config": {"terms"},
    "snapshot": {"config", "terms"},
    "match": {"snapshot", "config", "dialects", "terms"},
    "moment": {"terms"},
    "dialects": {"config", "terms"},
    "run": {"snapshot", "config", "dialects", "terms"},
    "settle": {"terms"},
    "engine": {"config", "dialects", "snapshot", "match", "moment", "run", "settle", "terms"},
    "loading": {"config", "dialects", "snapshot", "terms"},
    "hooks": {"config", "dialects", "loading", "engine", "snapshot", "moment", "run", "terms"},
    "session": {"engine", "hooks", "run", "terms"},
    "hosts": {"session", "engine", "hooks", "terms"},
    "agent": {"hosts", "session", "engine", "hooks", "loading", "config", "snapshot", "run", "terms"},
}
TOP = {"__init__", "__main__"}


def rooms(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported(path: Path) -> set[str]:
    """Every module of ours that a file imports, TYPE_CHECKING and functions included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if name.partition(".")[0] == "boathook"}


def files() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if "demo/project" not in path.as_posix())


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_room_imports_only_the_rooms_it_may(path: Path) -> None:
    room = rooms(path)
    if room in TOP or room == "cli":
        return
    allowed = MAY_IMPORT[room] | {room}
    seen = {name.split(".")[1] for name in imported(path) if "." in name}
    public = {name for name in seen if not (SOURCE / name).exists() and not (SOURCE / f"{name}.py").exists()}
    assert seen - public <= allowed, f"{room} may not import {sorted(seen - public - allowed)}"


def test_no_two_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {}
    modules = {
        "boathook." + ".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in files()
    }
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    for name, path in modules.items():
        targets = set()
        for target in imported(path):
            while target not in modules and "." in target:
                target = target.rpartition(".")[0]
            if target in modules and target not in {name, "boathook"}:
                targets.add(target)
        graph[name] = targets
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"a circle of imports: {' → '.join((*trail[trail.index(name) :], name))}"
        if name in done:
            return
        for target in sorted(graph[name]):
            visit(target, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_function_is_longer_than_sixty_lines(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


def test_the_core_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = "langchain langchain_core langgraph deepagents textual pydantic regex httpx"
    code = f"import sys, boathook; print([name for name in {heavy.split()!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
