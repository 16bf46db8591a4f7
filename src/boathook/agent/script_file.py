"""A script's file: TOML → `Script`, with every fault told by file, line and turn."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from boathook.agent.script import MAIN, Call, Condition, ResultTest, Script, ScriptError, TextTest, Turn
from boathook.terms.events import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE_KEYS: Final = ("turn", "agent", "chunk", "limit", "description")
_TURN_KEYS: Final = (
    "text",
    "calls",
    "when",
    "otherwise",
    "until",
    "name",
    "then",
    "error",
    "wait_for",
    "touch",
)
_CALL_KEYS: Final = ("tool", "args", "raw_args", "id")
_TEXT_KEYS: Final = ("contains", "lacks", "matches")
_RESULT_KEYS: Final = (*_TEXT_KEYS, "tool", "status")
_CONDITION_KEYS: Final = ("result", "input", "conversation")

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_HEADER = re.compile(r"""\s*\[\[\s*(?:agent\s*\.\s*(?P<agent>"[^"]*"|'[^']*'|[\w-]+)\s*\.\s*)?turn\s*\]\]""")
_MULTILINE = re.compile(r'"""|\'\'\'')


def load_script(path: str | Path, variables: Mapping[str, str] | None = None) -> Script:
    """Read a script; `{{name}}` in its strings is replaced from `variables`.

    Raises `ScriptError` for a file that cannot be read or that says something unknown.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: cannot read the script: {error}") from error
    return parse_script(text, source=str(path), variables=variables)


def parse_script(text: str, *, source: str, variables: Mapping[str, str] | None = None) -> Script:
    """Return the script that `text` says; `source` is how errors call it."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"{source}: not TOML: {error}") from error
    reader = _Place(source, dict(variables or {}))
    reader.known(document, _FILE_KEYS)
    lines = _header_lines(text)
    agents = reader.table(document, "agent")
    tables = {MAIN: reader.tables(document, "turn")} if "turn" in document else {}
    for name in agents:
        lane = reader.inside(f"agent.{name}")
        agent = lane.table(agents, name)
        lane.known(agent, ("turn",))
        tables[name] = lane.tables(agent, "turn")
    if not tables:
        reader.fail('the script has no turns. Begin with [[turn]] and a line text = "…".')
    return Script(
        source=source,
        lanes={lane: _turns(reader, lane, rows, lines.get(lane, [])) for lane, rows in tables.items()},
        chunk=reader.count(document, "chunk", 16),
        limit=reader.count(document, "limit", 200),
    )


def _turns(file: _Place, lane: str, rows: list[dict[str, Any]], lines: list[int]) -> tuple[Turn, ...]:
    # Line numbers are only trusted when every header was found: inline tables have none.
    known = lines if len(lines) == len(rows) else [None] * len(rows)
    turns: list[Turn] = []
    for number, (row, line) in enumerate(zip(rows, known, strict=True), 1):
        who = f"agent {lane}, turn {number}" if lane else f"turn {number}"
        place = file.inside(who, line)
        turn = _turn(place, row, number, line)
        if turn.otherwise and not (turns and (turns[-1].when or turns[-1].otherwise)):
            place.fail("`otherwise` needs a turn with `when` directly before it.")
        turns.append(turn)
    _check_jumps(file, turns)
    return tuple(turns)


def _turn(place: _Place, row: dict[str, Any], number: int, line: int | None) -> Turn:
    place.known(row, _TURN_KEYS)
    turn = Turn(
        number=number,
        line=line,
        text=place.text(row, "text") or "",
        calls=tuple(
            _call(place.inside(f"call {n}"), call) for n, call in enumerate(place.tables(row, "calls"), 1)
        ),
        when=_condition(place.inside("when"), row["when"]) if "when" in row else None,
        until=_condition(place.inside("until"), row["until"]) if "until" in row else None,
        otherwise=place.flag(row, "otherwise"),
        name=place.text(row, "name"),
        then=place.text(row, "then"),
        error=place.text(row, "error"),
        wait_for=place.text(row, "wait_for"),
        touch=place.text(row, "touch"),
    )
    if not (turn.text or turn.calls or turn.error):
        place.fail("says nothing: give it `text`, `calls` or `error`.")
    return turn


def _call(place: _Place, row: dict[str, Any]) -> Call:
    place.known(row, _CALL_KEYS)
    tool = place.text(row, "tool")
    if not tool:
        place.fail("`tool` is missing: the name of the tool to call.")
    args = place.filled(place.table(row, "args"))
    try:
        json.dumps(args)
    except TypeError as error:
        place.fail(f"`args` must be what JSON can say: {error}.")
    return Call(tool=tool, args=args, raw=place.text(row, "raw_args"), id=place.text(row, "id"))


def _condition(place: _Place, row: object) -> Condition:
    if not isinstance(row, dict) or not row:
        place.fail(f"must say something about {', '.join(_CONDITION_KEYS)}.")
    place.known(row, _CONDITION_KEYS)
    texts = {
        key: _text_test(place.inside(key), place.table(row, key), _TEXT_KEYS) if key in row else None
        for key in ("input", "conversation")
    }
    return Condition(result=_result_test(place.inside("result"), row) if "result" in row else None, **texts)


def _result_test(place: _Place, row: dict[str, Any]) -> ResultTest:
    table = place.table(row, "result")
    text = _text_test(place, table, _RESULT_KEYS)
    status = place.text(table, "status")
    if status not in (None, "success", "error"):
        place.fail(f'`status` is {status!r}; it can be "success" or "error".')
    return ResultTest(text=text, tool=place.text(table, "tool"), status=status)


def _text_test(place: _Place, table: dict[str, Any], keys: tuple[str, ...]) -> TextTest:
    place.known(table, keys)
    pattern = place.text(table, "matches")
    try:
        matches = re.compile(pattern) if pattern is not None else None
    except re.error as error:
        place.fail(f"`matches` is not a regular expression: {error}.")
    return TextTest(place.texts(table, "contains"), place.texts(table, "lacks"), matches)


def _check_jumps(file: _Place, turns: list[Turn]) -> None:
    names = [turn.name for turn in turns if turn.name]
    for turn in turns:
        place = file.inside(f"turn {turn.number}", turn.line)
        if turn.name and names.count(turn.name) > 1:
            place.fail(f"`name` {turn.name!r} stands more than once.")
        if turn.then and turn.then not in names:
            place.fail(f"`then` names no turn: {turn.then!r}{_hint(turn.then, names)}.")
        if turn.then and turn.until:
            place.fail("`then` and `until` both say what comes next; keep one.")


class _Place:
    """Where the reader is, so that every complaint can say it."""

    def __init__(
        self, source: str, variables: dict[str, str], where: tuple[str, ...] = (), line: int | None = None
    ) -> None:
        self._source, self._variables, self._where, self._line = source, variables, where, line

    def inside(self, part: str, line: int | None = None) -> _Place:
        return _Place(self._source, self._variables, (*self._where, part), line or self._line)

    def fail(self, what: str) -> NoReturn:
        file = self._source if self._line is None else f"{self._source}:{self._line}"
        raise ScriptError(": ".join((file, *self._where, what)))

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        for key in table:
            if key not in keys:
                self.fail(f"unknown key {key!r}{_hint(key, keys)}. Known: {', '.join(keys)}.")

    def filled(self, value: Any) -> Any:  # noqa: ANN401 - whatever TOML can say
        """Return `value` with the placeholders in all its strings replaced."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(self._variable, value)
        if isinstance(value, list):
            return [self.filled(part) for part in value]
        if isinstance(value, dict):
            return {key: self.filled(part) for key, part in value.items()}
        return value

    def _variable(self, match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in self._variables:
            self.fail(f"nothing is known as {match.group()}. Known: {', '.join(self._variables) or 'none'}.")
        return self._variables[name]

    def text(self, table: Mapping[str, Any], key: str) -> str | None:
        value = table.get(key)
        if value is not None and not isinstance(value, str):
            self.fail(f"`{key}` must be a string, not {value!r}.")
        return None if value is None else str(self.filled(value))

    def texts(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str) for part in values):
            self.fail(f"`{key}` must be a string or a list of strings, not {value!r}.")
        return tuple(str(self.filled(part)) for part in values)

    def flag(self, table: Mapping[str, Any], key: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.fail(f"`{key}` must be true or false, not {value!r}.")
        return value

    def count(self, table: Mapping[str, Any], key: str, default: int) -> int:
        value = table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.fail(f"`{key}` must be a whole number from 1 on, not {value!r}.")
        return value

    def table(self, table: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            self.fail(f"`{key}` must be a table, not {value!r}.")
        return value

    def tables(self, table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            self.fail(f"`{key}` must be a list of tables, not {value!r}.")
        return value


def _hint(word: str, known: tuple[str, ...] | list[str]) -> str:
    near = nearest(word, known)
    return f" (did you mean {near!r}?)" if near else ""


def _header_lines(text: str) -> dict[str, list[int]]:
    """Return the line of each turn's header per lane, skipping what only looks like one in a long string."""
    found: dict[str, list[int]] = {}
    open_quote = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not open_quote and (match := _HEADER.match(line)):
            found.setdefault((match["agent"] or MAIN).strip("\"'"), []).append(number)
        for quote in _MULTILINE.findall(line):
            open_quote = quote if not open_quote else ("" if quote == open_quote else open_quote)
    return found
