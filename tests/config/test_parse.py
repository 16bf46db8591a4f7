"""JSON that remembers where everything stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boathook.config.parse import DEPTH_LIMIT, Lines, ParseError, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_it_reads_what_the_standard_library_writes(value: Any, indent: Any, ascii_only: bool) -> None:
    assert parse(json.dumps(value, indent=indent, ensure_ascii=ascii_only)).plain() == value


@given(st.text(max_size=30) | st.text('[]{}",:0123456789.eE+-truefalsn\\/ \n', max_size=30))
def test_it_refuses_what_the_standard_library_refuses(text: str) -> None:
    def standard() -> object:
        return json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))

    try:
        wanted = standard()
    except ValueError:
        with pytest.raises(ParseError):
            parse(text)
    else:
        assert parse(text).plain() == wanted


def test_every_node_knows_its_place() -> None:
    text = '{"a": [1,\n  {"b": true}]}'
    root = parse(text)
    ((_, key_at, array),) = [(member.key, member.offset, member.node) for member in root.members]
    assert text[key_at:].startswith('"a"')
    assert [text[node.offset] for node in array.items] == ["1", "{"]
    assert Lines(text).at(array.items[1].offset) == (2, 3)


def test_keys_that_stand_twice_are_all_there() -> None:
    assert [(member.key, member.node.value) for member in parse('{"a": 1, "b": 2, "a": 3}').members] == [
        ("a", 1),
        ("b", 2),
        ("a", 3),
    ]


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400, "-" + "9" * 400])
def test_a_number_too_large_is_infinite(number: str) -> None:
    assert abs(float(str(parse(number).value))) == float("inf")


def test_nesting_has_a_limit() -> None:
    parse("[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT)
    with pytest.raises(ParseError, match="nested"):
        parse("[" * 100_000)
