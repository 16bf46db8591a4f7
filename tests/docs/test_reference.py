"""The reference says what the tables and the program say, all of it and nothing else."""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from boathook.cli.main import COMMANDS
from boathook.config import entries, read
from boathook.config.schema import Why
from boathook.run import fields
from boathook.terms.events import COMMON_KEYS, EVENTS, KNOWN_KEYS, NOTIFICATIONS
from boathook.terms.problem import CATALOGUE
from boathook.terms.tools import WIRE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
REFERENCE = DOCS["reference.md"]
EVERYTHING = "\n".join(DOCS.values())


def sections(text: str) -> dict[str, str]:
    """Return heading → what stands under it, up to the next heading."""
    parts = re.split(r"^#+ (.+)\n", text, flags=re.MULTILINE)
    return dict(zip((title.strip("`") for title in parts[1::2]), parts[2::2], strict=True))


SECTIONS = sections(REFERENCE)


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_is_described_as_its_row_has_it(name: str) -> None:
    row, text = EVENTS[name], SECTIONS[name]
    cells = dict(re.findall(r"^\| ([a-z ,]+) \| (.*) \|$", text, flags=re.MULTILINE))
    assert tuple(re.findall(r"`([a-z_?]+)`", cells["payload"])) == row.keys
    assert ("compares nothing" in cells["matcher"]) == (row.matched is None)
    if row.matched:
        assert re.findall(r"`([a-z_]+)`", cells["matcher"]) == [row.matched, *row.values]
    assert cells.get("also tells", "`None`").split("`")[1] == str(row.announces)
    assert ("not possible" in cells["refusing"]) == (row.block.value == "report")
    assert ("`additionalContext`" in cells.get("answer", "")) == row.context
    assert ("plain text" in cells.get("answer", "")) == row.text
    for key in row.unapplied:
        assert f"`{key}`" in cells["checked, not applied"]
    assert f"{row.timeout:g} seconds" in (text if row.timeout != 600 else SECTIONS["Lifecycle events"])


def test_no_event_is_described_that_there_is_not() -> None:
    titles = re.findall(r"^### `([A-Z]\w+)`$", REFERENCE, flags=re.MULTILINE)
    assert titles == list(EVENTS)


def test_the_common_keys_are_named() -> None:
    for key in (*COMMON_KEYS, *KNOWN_KEYS):
        assert f"`{key}`" in SECTIONS["Lifecycle events"]


@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_every_notification_is_described_as_its_row_has_it(name: str) -> None:
    row = NOTIFICATIONS[name]
    (line,) = re.findall(rf"^\| `{re.escape(name)}` \|.*$", SECTIONS["Notifications"], flags=re.MULTILINE)
    _, _, keys, how, _ = line.split("|")
    assert (
        tuple(re.findall(r"`([a-z_]+)`", keys.partition(" (`success`")[0])) == row.keys[:4]
        or tuple(key for key in re.findall(r"`([a-z_]+)`", keys) if key not in {"success", "error"})
        == row.keys
    )
    assert how.strip().startswith("awaited") is row.awaited


def test_which_notifications_follow_from_which_event_is_told_for_each() -> None:
    text = SECTIONS["Which follow from a lifecycle event"]
    told = re.findall(r"^\| `(\w+)` \| `([\w.]+)`(.*)\|$", text, flags=re.MULTILINE)
    assert {event: name for event, name, _ in told} == {
        row.derived_from: row.name for row in NOTIFICATIONS.values() if row.derived_from
    }
    assert {name for _, name, rest in told if "unless" in rest} == {
        row.name for row in NOTIFICATIONS.values() if row.after
    }
    needing = {row.name for row in NOTIFICATIONS.values() if row.derived_from is None}
    assert set(re.findall(r"`([\w.]+)`", text.partition("The others")[2])) == needing


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_diagnostic_code_has_its_heading_meaning_and_cure(code: str) -> None:
    severity, words = CATALOGUE[code]
    meaning, cure = SECTIONS[code].strip().split("\n\n")
    assert meaning == f"*{severity}.* {words}"
    assert cure


def test_no_diagnostic_code_is_described_that_there_is_not() -> None:
    titles = re.findall(r"^### `([a-z-]+)`$", REFERENCE.partition("## Diagnostic codes")[2], re.MULTILINE)
    assert titles == list(CATALOGUE)


def first_cells(title: str) -> list[str]:
    rows = re.findall(r"^\| (`.*?) \|", SECTIONS[title], flags=re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_every_field_of_a_file_is_described_and_no_other() -> None:
    assert set(first_cells("Map shape")) == set(entries.HANDLER_KEYS)
    assert set(first_cells("List shape")) == set(entries.ENTRY_KEYS)
    assert set(first_cells("Hooks files")) == set(read._TOP_KEYS)


def test_every_field_of_an_answer_is_described() -> None:
    assert set(first_cells("Answers")) >= set(fields.UNIVERSAL)


def test_every_tool_is_named() -> None:
    told = re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", SECTIONS["Names of tools"], flags=re.MULTILINE)
    assert dict(told) == WIRE_NAMES


def test_every_reason_for_leaving_a_handler_out_is_named() -> None:
    for why in get_args(Why):
        assert f"`{why}`" in SECTIONS["boathook list"]


def options(name: str) -> set[str]:
    parser = argparse.ArgumentParser(add_help=False)
    importlib.import_module(f"boathook.cli.{name}").configure(parser)
    return set(option_strings(parser)) - {"-h"}


def option_strings(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from parser._option_string_actions
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from option_strings(sub)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_its_options_are_documented(command: str) -> None:
    pages = [text for text in DOCS.values() if f"`boathook {command}" in text]
    assert pages, f"no page tells of boathook {command}"
    for option in options(command) - {"--help"}:
        assert any(f"`{option}" in text for text in pages), f"{option} of boathook {command}"


def test_every_option_in_the_docs_is_one() -> None:
    known = {option for command in COMMANDS for option in options(command)} | {"--help", "--version"}
    for line in re.findall(r"^[^\n]*\bboathook [a-z]+[^\n]*$", EVERYTHING, flags=re.MULTILINE):
        for command, rest in re.findall(r"\bboathook ([a-z]+)\b([^`|#]*)", line):
            if command in COMMANDS:
                used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", rest))
                assert used <= options(command) | {"--help"}, line
    table = set(re.findall(r"^\| `(--[a-z-]+)", EVERYTHING, flags=re.MULTILINE))
    assert table <= known


def test_every_command_in_the_docs_is_one() -> None:
    code = re.findall(r"`boathook ([a-z]+)|^\$? ?boathook ([a-z]+)", EVERYTHING, flags=re.MULTILINE)
    assert {first or second for first, second in code} <= {*COMMANDS}


def anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"docs/{name}" for name in DOCS)]
)
def test_every_link_leads_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = path if not name else path.parent / name
        assert there.exists(), f"{page}: {target}"
        if anchor:
            assert anchor in anchors(there.read_text(encoding="utf-8")), f"{page}: {target}"
