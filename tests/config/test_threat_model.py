"""The threat model names its tests, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/threat-model.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def covered() -> list[str]:
    part = PAGE.split("\n## Covered\n")[1].split("\n## Not covered\n")[0]
    return [line for line in part.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("line", covered())
def test_every_covered_line_names_a_test(line: str) -> None:
    assert NAMED.search(line)


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED.findall(PAGE))))
def test_every_named_test_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
