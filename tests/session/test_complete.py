from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook.session.complete import NotJSON, Scanner

texts = st.text(st.characters(codec="utf-8"), max_size=12) | st.text('{}[]"\\,:', max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
containers = st.dictionaries(texts, values, max_size=4) | st.lists(values, max_size=4) | texts


def split(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def filled(*pieces: str) -> Scanner:
    scanner = Scanner()
    for piece in pieces:
        scanner.add(piece)
    return scanner


@settings(max_examples=200, deadline=None)
@given(containers, st.lists(st.integers(0, 500), max_size=12), st.booleans(), st.sampled_from([None, 2]))
def test_a_value_is_complete_with_its_last_character_and_not_before_wherever_it_is_split(
    value: object, cuts: list[int], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert not filled(*split(text[:-1], cuts)).complete
    whole = filled(*split(" \n" + text, cuts))
    assert whole.complete
    assert whole.value() == value


@settings(max_examples=200, deadline=None)
@given(st.text('{}[]"\\: ,1a\n', max_size=25), st.lists(st.integers(0, 50), max_size=10))
def test_the_verdict_on_any_text_does_not_depend_on_where_it_is_split(text: str, cuts: list[int]) -> None:
    assert verdict(text) == verdict(*split(text, cuts))


@settings(max_examples=100, deadline=None)
@given(st.text('{}[]"\\: ,1a\n', max_size=25))
def test_a_text_that_is_json_as_a_whole_is_always_found_complete(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        return
    assert filled(text).value() == value


def verdict(*pieces: str) -> object:
    scanner = filled(*pieces)
    try:
        return scanner.complete, scanner.value()
    except NotJSON:
        return scanner.complete, NotJSON


def test_a_number_could_always_go_on_so_it_is_not_complete_by_itself() -> None:
    scanner = filled("12")
    assert not scanner.complete
    scanner.add("3")
    assert scanner.value() == 123


def test_what_follows_a_complete_value_is_dropped() -> None:
    assert filled('{"a": 1}', '{"b": 2}').value() == {"a": 1}
    assert filled('{"a": 1}{"b": 2}').value() == {"a": 1}


def test_no_text_at_all_means_no_arguments() -> None:
    assert filled("", " \n").value() == {}


@pytest.mark.parametrize(
    "text",
    ["NaN", '{"a": Infinity}', '{"a": 1e999}', "[" * 100_000 + "]" * 100_000, "{]", "tru", "9" * 5000],
)
def test_what_cannot_be_sent_on_as_json_never_parses(text: str) -> None:
    with pytest.raises(NotJSON):
        filled(text).value()
