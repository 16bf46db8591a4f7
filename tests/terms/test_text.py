"""Text from a handler, made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boathook.terms.text import CUT_MARK, cut, excerpt, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"), ("tab\tand\nnewline", "tab\tand\nnewline"), ("größe 写 🎣 👩‍💻", "größe 写 🎣 👩‍💻"), ("a\r\nb", "a\nb"), ("a\rb", r"a\x0db"),
        ("\x1b[31m", r"\x1b[31m"), ("\x9b31m", r"\x9b31m"), ("\x07\x08\x7f\0", r"\x07\x08\x7f\x00"), ("a\u202eb", r"a\u202eb"), ("\u2066\u2069", r"\u2066\u2069"),
        ("\u2028", r"\u2028"), ("\ufeff", r"\ufeff"), ("\u200b", r"\u200b"), ("\ud800", r"\ud800"), ("\udcff", r"\udcff"), ("\U000e0041", r"\U000e0041"),
    ],
)  # fmt: skip
def test_what_moves_recolours_or_reorders_is_shown(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text(st.characters()))
def test_safe_text_is_printable_encodable_and_stays_as_it_is(text: str) -> None:
    shown = safe(text)
    assert not any(ord(char) < 32 and char not in "\t\n" for char in shown)
    assert not any(0x7F <= ord(char) < 0xA0 for char in shown)
    shown.encode()
    assert safe(shown) == shown


@given(st.text(), st.integers(20, 60))
def test_a_cut_text_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    result = cut(text, limit)
    assert len(result) <= limit
    assert result == text or result.endswith(CUT_MARK)


def test_an_excerpt_is_one_line_of_at_most_its_limit_and_a_mark() -> None:
    assert excerpt("  a\n b\t c ") == "a b c"
    assert excerpt("x" * 80) == "x" * 80
    assert excerpt("x" * 81) == "x" * 80 + "…"
    assert excerpt("x " * 10_000).endswith("…")
