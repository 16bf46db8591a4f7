"""The tables of events and tools: the same in the docs, and the same there and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from boathook.dialects import NAMES, UnknownDialectError, carry, named
from boathook.terms.events import EVENTS

PAGE = (Path(__file__).parents[2] / "docs" / "dialects.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", PAGE.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table whose head begins with `heading`."""
    table = text.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_events_in_the_docs_is_the_one_in_the_code(name: str) -> None:
    agent = named(name)
    told = {words(row[0])[0]: words(row[1]) for row in rows(section(agent.title), "event")}
    assert told == {row.theirs: [row.ours, *row.more] if row.ours else [] for row in agent.events}


@pytest.mark.parametrize("name", NAMES)
def test_why_an_event_is_lost_and_that_it_is_an_error_is_told_for_each(name: str) -> None:
    agent = named(name)
    told = {words(row[0])[0]: row[2] for row in rows(section(agent.title), "event")}
    for row in agent.events:
        if row.ours is None:
            assert row.why
            assert row.why in told[row.theirs]
            assert ("an error" in told[row.theirs]) == row.guards


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_tools_in_the_docs_is_the_one_in_the_code(name: str) -> None:
    agent = named(name)
    told = {
        words(row[0])[0]: (words(row[1]), re.findall(r"`(\w+)` → `(\w+)`", row[2]))
        for row in rows(section(agent.title), "tool here")
    }
    assert told == {row.ours: ([row.theirs, *row.also], [*row.keys.items()]) for row in agent.tools}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_an_event_goes_there_and_back(name: str) -> None:
    agent = named(name)
    assert len({row.theirs for row in agent.events}) == len(agent.events)
    for row in agent.events:
        assert agent.event(row.theirs) is row
        if row.ours is not None:
            assert row.ours in EVENTS
            back = agent.event_of(row.ours)
            assert back is not None
            assert back.ours == row.ours


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_tool_goes_there_and_back(name: str) -> None:
    agent = named(name)
    assert len({row.ours for row in agent.tools}) == len(agent.tools)
    for row in agent.tools:
        assert agent.tool_name(row.ours) == row.theirs
        back = agent.tool_of(row.theirs)
        assert back is not None
        assert agent.tool_name(back.ours) == row.theirs


@pytest.mark.parametrize("name", NAMES)
def test_arguments_go_there_and_back_as_they_were(name: str) -> None:
    for row in named(name).tools:
        ours = {**dict.fromkeys(row.keys, 1), "another": [2]}
        theirs = carry.arguments(row, ours)
        assert set(theirs) == {*row.keys.values(), "another"}
        assert carry.arguments_back(row, theirs) == ours


def test_the_page_names_every_agent() -> None:
    assert [row[0].strip("`") for row in rows(PAGE, "name")] == list(NAMES)


def test_an_agent_that_is_not_known_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(UnknownDialectError, match="claude"):
        named("clippy")
