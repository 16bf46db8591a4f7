"""A handler's stdout, read: contract section 6."""

from __future__ import annotations

import json
import time

import pytest

from boathook.run.reply import DIGITS_LIMIT, NESTING_LIMIT, Printed, read_reply
from boathook.terms.problem import Problem


def code_of(data: bytes) -> str:
    reply = read_reply(data)
    assert isinstance(reply, Problem), reply
    return reply.code


@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b" \xef\xbb\xbf \n", "\u00a0\u2003".encode()]
)
def test_white_space_and_byte_order_marks_are_no_content(data: bytes) -> None:
    assert read_reply(data) is None


@pytest.mark.parametrize("around", [b"", b" \r\n", b"\xef\xbb\xbf", b"\n\xef\xbb\xbf\n"])
def test_an_object_alone_is_read(around: bytes) -> None:
    assert read_reply(around + b'{"a": [1, 2.5, true, null, "\\u00e9"]}\n') == Printed(
        {"a": [1, 2.5, True, None, "é"]}
    )


def test_text_is_returned_without_the_space_around_it() -> None:
    assert read_reply(b"\n  two\n words \n") == "two\n words"


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    assert read_reply(b"caf\xe9") == "caf\ufffd"


@pytest.mark.parametrize(
    "text", ["{", "{x}", "{'a': 1}", '{"a": 1', '{"a" 1}', '{"a": 1,}', '{"a": tru}', "{]"]
)
def test_what_begins_like_an_object_and_is_none_is_a_failure(text: str) -> None:
    assert code_of(text.encode()) == "answer-json"


@pytest.mark.parametrize(
    "text", ['{"a":1}{"b":2}', '{"a":1}\nbye', 'hi\n{"a":1}', '[{"a":1}]', '{"a":1},', '"x" {"a":1} y']
)
def test_an_object_beside_anything_else_is_a_failure(text: str) -> None:
    assert code_of(text.encode()) == "answer-mixed"


@pytest.mark.parametrize(
    "text", ["null", "42", '"{}"', "[1]", "use {this} or {}", 'say {"a"', '{{"a": 1}}'[:1] + " x"]
)
def test_other_text_is_text(text: str) -> None:
    reply = read_reply(text.encode())
    assert reply == text or (isinstance(reply, Problem) and text.startswith("{"))


def test_a_failure_shows_what_was_read() -> None:
    reply = read_reply(b'loading the profile\n{"decision": "block"}')
    assert isinstance(reply, Problem)
    assert 'loading the profile {"decision": "block"}' in reply.message


@pytest.mark.parametrize(
    "word", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * (DIGITS_LIMIT + 1), "1." + "0" * 2000]
)
def test_numbers_that_are_none_are_failures(word: str) -> None:
    assert code_of(f'{{"a": {word}}}'.encode()) == "answer-json"


def test_nesting_is_counted_outside_of_strings() -> None:
    deep = "[" * (NESTING_LIMIT - 1) + "]" * (NESTING_LIMIT - 1)
    assert isinstance(read_reply(f'{{"a": {deep}}}'.encode()), Printed)
    assert code_of(f'{{"a": [{deep}]}}'.encode()) == "answer-json"
    brackets = json.dumps({"a": '\\"' + "[{" * 5000})
    assert isinstance(read_reply(brackets.encode()), Printed)


def test_keys_that_stand_twice_are_named_wherever_they_stand() -> None:
    reply = read_reply(b'{"a": 1, "b": {"c": 1, "c": 2}, "a": 3, "d": [{"c": 0, "c": 0}]}')
    assert isinstance(reply, Printed)
    assert set(reply.repeated) == {"a", "c"}
    assert reply.value["a"] == 3


@pytest.mark.parametrize(
    "data",
    [b"[" * 1_000_000, b'{"a":' * 200_000, b"{" * 1_000_000, b"{ " * 400_000, b'{"' + b'\\"' * 400_000, b'[[{"' * 200_000,
     b"{" * 300 + b'"' + b'\\"' * 400_000 + b"\\", b'x {"a": ' * 100_000, b"{" + b" " * 900_000 + b"x", b'"' * 900_000,
     b"{" * 300 + b"\\" * 900_000, b"\xff" * 1_000_000, b"x" + b'{"' * 400_000, b"{" * 300 + b'"\\' * 400_000],
    ids=range(14),
)  # fmt: skip
def test_a_megabyte_of_malice_is_read_in_a_moment(data: bytes) -> None:
    began = time.process_time()
    assert read_reply(data) is not None
    assert time.process_time() - began < 2
