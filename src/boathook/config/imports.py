"""Which modules beside it a Python script imports, read from its text. Nothing is imported."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILE_LIMIT: Final = 500
SIZE_LIMIT: Final = 1024 * 1024


def imported(script: Path, folders: Sequence[Path]) -> list[Path]:
    """Return the files that a script imports from `folders`, and that those import, sorted.

    Only `import` statements count, wherever they stand; of a package its `__init__` counts, too.
    """
    found: dict[Path, None] = {}
    waiting = [script]
    while waiting and len(found) < FILE_LIMIT:
        path = waiting.pop()
        for each in _files(path, folders):
            if each != script and each not in found:
                found[each] = None
                waiting.append(each)
    return sorted(found)


def is_python(path: Path) -> bool:
    """Whether a file is a Python script, by its name or its first line."""
    if path.suffix in {".py", ".pyw"}:
        return True
    try:
        with path.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def _files(path: Path, folders: Sequence[Path]) -> Iterator[Path]:
    for level, parts in dict.fromkeys(_names(path)):
        # One dot is the folder of the file itself, each further one its parent.
        start = folders if level == 0 else [path.parents[level - 1]] if level <= len(path.parents) else []
        for folder in start:
            yield from _along(folder, parts)


def _names(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (dots, names) of everything that a file imports."""
    try:
        with path.open("rb") as file:
            text = file.read(SIZE_LIMIT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's odd escapes are not the reader's affair
            tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, tuple(alias.name.split("."))) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            yield from ((node.level, (*base, alias.name)) for alias in node.names)


def _along(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield the files on the way of a dotted name, as far as there are any."""
    for part in parts:
        module = folder / f"{part}.py"
        if module.is_file():
            yield module
        folder = folder / part
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"
        elif not folder.is_dir():
            return
