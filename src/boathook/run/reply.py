"""A handler's stdout → one JSON object, plain text, or what is wrong with it (contract section 6)."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from boathook.terms.problem import Problem
from boathook.terms.text import excerpt

NESTING_LIMIT: Final = 200
DIGITS_LIMIT: Final = 1_000

# A string that never ends is one token too, or looking for its end would begin anew at every quote.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OBJECT = re.compile(r'\{\s*"')
_LOOKS: Final = 50  # places of a text at which an object is looked for


@dataclass(frozen=True, slots=True)
class Printed:
    """The one JSON object that a handler printed, and the keys that stand twice somewhere in it."""

    value: dict[str, Any]
    repeated: tuple[str, ...] = ()


Reply = Printed | str | Problem | None


def read_reply(data: bytes) -> Reply:
    """Read what a handler printed; None where that was nothing.

    Text is returned without the white space and byte order mark around it. A `Problem`
    means that nothing may be taken from it: a failure of the handler.
    """
    text = data.decode("utf-8", "replace").strip().removeprefix("\ufeff").strip()
    if not text:
        return None
    if data.lstrip().startswith(_UTF_16):
        return _problem("answer-json", "its output is UTF-16 and not UTF-8", text)
    if _too_deep(text):
        return _problem("answer-json", f"its output is nested deeper than {NESTING_LIMIT} levels", text)
    if text.startswith("{"):
        return _read_object(text)
    if _holds_object(text):
        return _problem("answer-mixed", "it printed other text beside a JSON object", text)
    return text


def _read_object(text: str) -> Printed | Problem:
    repeated: list[str] = []
    try:
        value, end = _decoder(repeated).raw_decode(text)
    except (ValueError, RecursionError) as error:
        words = error.msg.lower() if isinstance(error, json.JSONDecodeError) else str(error)
        return _problem("answer-json", f"its output begins like JSON and is not ({words})", text)
    if text[end:].strip():
        what = (
            "more than one JSON object"
            if text[end:].lstrip().startswith("{")
            else "other text after a JSON object"
        )
        return _problem("answer-mixed", f"it printed {what}", text)
    return Printed(value, tuple(dict.fromkeys(repeated)))


def _holds_object(text: str) -> bool:
    """Whether a JSON object with at least one key can be seen somewhere in `text`.

    Looking is more forgiving than reading: an object with a NaN in it, or one that was
    printed in colour, was meant to say something too.
    """
    text = _COLOURS.sub("", text)
    for count, match in enumerate(_OBJECT.finditer(text)):
        if count == _LOOKS:
            return True  # nobody writes so many by accident
        try:
            json.JSONDecoder(parse_int=float).raw_decode(text, match.start())
        except RecursionError:
            return True
        except ValueError:
            continue
        return True
    return False


def _too_deep(text: str) -> bool:
    if not text.startswith(("{", "[")) or text.count("{") + text.count("[") <= NESTING_LIMIT:
        return False
    level = 0
    for token in _TOKENS.finditer(text):
        if token.group() in "{[":
            level += 1
            if level > NESTING_LIMIT:
                return True
        elif token.group() in "]}":
            level -= 1
    return False


def _decoder(repeated: list[str]) -> json.JSONDecoder:
    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.extend(key for key, count in counts.items() if count > 1)
        return value

    return json.JSONDecoder(
        object_pairs_hook=object_of,
        parse_constant=_no_constant,
        parse_int=_integer,
        parse_float=_float,
    )


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > DIGITS_LIMIT:
        raise ValueError(f"a number of more than {DIGITS_LIMIT} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if len(digits) > DIGITS_LIMIT or not math.isfinite(value):
        raise ValueError("a number that is too large or too long")
    return value


def _problem(code: str, what: str, text: str) -> Problem:
    return Problem(
        code,
        f"{what}, so nothing was taken from it. It read: {excerpt(text)!s}",
        "Print one JSON object and nothing else; other words belong on stderr.",
    )
