"""The docs of the bundled agent say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from boathook.agent import script_file
from boathook.agent.script_file import parse_script

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = (DOCS / "scripted-models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", SCRIPTS, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_script_in_the_docs_is_one(block: str) -> None:
    assert parse_script(block, source="docs", variables={"cwd": "/w"}).lanes


@pytest.mark.parametrize(
    "key",
    sorted(
        {
            *script_file._FILE_KEYS,
            *script_file._TURN_KEYS,
            *script_file._CALL_KEYS,
            *script_file._RESULT_KEYS,
            *script_file._CONDITION_KEYS,
        }
        - {"agent"}
    ),
)
def test_every_key_of_a_script_is_documented(key: str) -> None:
    assert f"`{key}`" in SCRIPTS


def test_every_option_of_run_and_demo_is_documented() -> None:
    import argparse

    from boathook.cli import demo, run

    text = (DOCS / "agent.md").read_text(encoding="utf-8")
    for command in (run, demo):
        parser = argparse.ArgumentParser(add_help=False)
        command.configure(parser)
        for option in parser._option_string_actions:
            assert f"`{option}" in text
