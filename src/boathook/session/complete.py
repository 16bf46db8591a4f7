"""When is a JSON value that arrives in pieces complete? Each character is looked at once."""

from __future__ import annotations

import json
import math
import re
from typing import Final, Never

_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_INSIDE: Final = re.compile(r'["\\]')
_OPENING: Final = frozenset("{[")


class NotJSON(ValueError):  # noqa: N818
    """The text is complete and is no JSON value that can be sent on."""


class Scanner:
    """Collects the pieces of one JSON text and says when an object, array or string is complete.

    It tracks depth and strings only; whether the text is JSON at all is decided once, at
    the end, so that the whole costs as much as its length. A bare number or word has no
    end of its own: only `value` ends it.
    """

    __slots__ = ("_bare", "_depth", "_escaped", "_in_string", "_pieces", "complete")

    def __init__(self) -> None:
        """Begin with no text."""
        self._pieces: list[str] = []
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._bare = False
        self.complete = False

    @property
    def empty(self) -> bool:
        """Whether nothing but white space came so far."""
        return not self._pieces

    def add(self, piece: str) -> bool:
        """Take the next piece; whether the value is complete. What follows the value is dropped."""
        if self.empty:
            piece = piece.lstrip(" \t\r\n")
            self._bare = bool(piece) and piece[0] not in '"{['
        if self.complete or not piece:
            return self.complete
        end = -1 if self._bare else self._end_in(piece)
        self.complete = end >= 0
        self._pieces.append(piece[:end] if self.complete else piece)
        return self.complete

    def value(self) -> object:
        """Return the value of the text as it stands, or raise `NotJSON`. Nothing at all is ``{}``."""
        text = "".join(self._pieces)
        try:
            decoded: object = _DECODER.decode(text) if text else {}
        except (ValueError, RecursionError) as error:
            raise NotJSON(str(error)) from None
        return decoded

    def _end_in(self, piece: str) -> int:
        """Return the offset behind the value's last character, or -1 if it is not in this piece."""
        at = 0
        if self._escaped:
            self._escaped = False
            at = 1
        while match := (_INSIDE if self._in_string else _OUTSIDE).search(piece, at):
            at = match.end()
            if self._in_string and match.group() == "\\":
                if at == len(piece):
                    self._escaped = True
                    return -1
                at += 1
            elif self._step(match.group()):
                return at
        return -1

    def _step(self, sign: str) -> bool:
        if sign == '"':
            self._in_string = not self._in_string
        else:
            self._depth += 1 if sign in _OPENING else -1
        return self._depth <= 0 and not self._in_string


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotJSON(f"{text} is too large a number")
    return number


def _refuse(word: str) -> Never:
    raise NotJSON(f"{word} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
