"""The page about this host: every example runs, and every keyword is there."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.tools import tool

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import Script, calls, says

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "hosts-langchain.md").read_text()


def test_the_examples_run_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 7

    @tool
    def tidy(what: str) -> str:
        """Tidy."""
        return f"{what} is tidy"

    turns = [calls(("write_file", {"file_path": "/note", "content": "x"})), says(), says()]
    names: dict[str, Any] = {"tools": [tidy]}
    for example in examples:
        names["model"] = Script(*turns)
        exec(compile(example, "hosts-langchain.md", "exec"), names)
        assert not names["state"].get("__interrupt__")
        assert names["state"]["messages"][-1].text == "done"
    assert os.getcwd() == str(tmp_path)


def test_every_keyword_of_the_middleware_is_explained() -> None:
    for name in inspect.signature(HooksMiddleware).parameters:
        assert f"{name}=" in PAGE or f"`{name}`" in PAGE or name == "hooks", name
