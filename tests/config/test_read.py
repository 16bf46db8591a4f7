"""One hooks file, read: contract section 2. What a wrong entry costs is shown by the scenarios of configuration."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook.config.read import SIZE_LIMIT, read_bytes, read_file
from boathook.terms.events import EVENTS, NOTIFICATIONS
from hooking import document, entry, lifecycle

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.config.schema import Document, Handler
    from boathook.terms.problem import Problem


def only(config: object) -> Handler:
    (found,) = document(config).handlers
    return found


def fault(config: object) -> Problem:
    (found,) = document(config).problems
    return found


def codes(read: Document) -> list[str]:
    return [problem.code for problem in read.problems]


@pytest.mark.parametrize("event", EVENTS)
def test_a_handler_has_its_events_deadline_unless_it_names_one(event: str) -> None:
    assert only(lifecycle(event, entry())).timeout == EVENTS[event].timeout
    assert only(lifecycle(event, entry(timeout=1.5))).timeout == 1.5


def test_a_handler_says_where_it_stands() -> None:
    text = b'{"hooks": {\n  "Stop": [\n    {"hooks": [\n      {"type": "command", "command": "a"},\n      {"type": "command", "argv": ["b", "c"]}]}]}}'
    first, second = read_bytes(text, "f.json").handlers
    assert (first.name, first.source, first.pointer, first.line) == (
        "Stop[0].hooks[0]",
        "f.json",
        "/hooks/Stop/0/hooks/0",
        4,
    )
    assert (second.name, second.pointer, second.line) == ("Stop[0].hooks[1]", "/hooks/Stop/0/hooks/1", 5)
    assert (first.command, first.argv, second.command, second.argv) == ("a", None, None, ("b", "c"))


def test_a_handler_carries_what_its_file_says() -> None:
    found = only(
        lifecycle(
            "Stop",
            entry("a", name="N", statusMessage="S", onFailure="block", passEnv=["A", "B"], enabled=False),
        )
    )
    assert (found.name, found.status_message, found.on_failure, found.pass_env, found.enabled) == (
        "N",
        "S",
        "block",
        ("A", "B"),
        False,
    )


def test_defaults_are_those_of_the_contract() -> None:
    found = only(lifecycle("Stop", entry("a")))
    assert (found.on_failure, found.pass_env, found.enabled, found.status_message) == (
        "allow",
        (),
        True,
        None,
    )
    assert found.matcher.everything


def test_texts_that_are_only_shown_are_made_fit_to_be_shown() -> None:
    found = only(lifecycle("Stop", entry("a", name="\x1b[2J\nx", statusMessage="\u202e" + "y" * 9999)))
    assert found.name == "\\x1b[2J x"
    assert found.status_message is not None
    assert found.status_message.startswith("\\u202ey")
    assert len(found.status_message) < 520


def test_an_entry_of_a_list_hears_its_events_or_all() -> None:
    heard = [
        found.events
        for found in document(
            {
                "hooks": [
                    {"command": ["a"]},
                    {"command": ["a"], "events": []},
                    {"command": ["a"], "events": ["tool.use", "tool.use", "session.end"]},
                ]
            }
        ).handlers
    ]
    assert heard == [tuple(NOTIFICATIONS), tuple(NOTIFICATIONS), ("tool.use", "session.end")]


def test_an_entry_of_a_list_has_five_seconds() -> None:
    assert only({"hooks": [{"command": ["a"]}]}).timeout == 5


@pytest.mark.parametrize(
    ("config", "code", "pointer", "place"),
    [
        (b'{"hooks": {\n "PreToolCall": []}}', "event-unknown", "/hooks/PreToolCall", (2, 2)),
        (b'{"hooks": {"Stop": [\n\n  null]}}', "entry-type", "/hooks/Stop/0", (3, 3)),
        (b'{"hooks": {"Stop": [{"hooks": [\n{"type": "command", "command": "a",\n "timeout": "5"}]}]}}', "timeout-invalid", "/hooks/Stop/0/hooks/0/timeout", (3, 13)),
        (b'{"hooks": {"Stop": [{"hooks": [{"type": "prompt"}]}]}}', "handler-kind", "/hooks/Stop/0/hooks/0/type", (1, 41)),
        (b'{"hooks": {"PreToolUse": [{"matcher": "[",\n"hooks": []}]}}', "matcher-invalid", "/hooks/PreToolUse/0/matcher", (1, 39)),
        (b'{"hooks": {"Stop": [],\n"Stop": []}}', "key-duplicate", "/hooks/Stop", (2, 1)),
        (b'{"hooks": [{"command": "x"}]}', "entry-type", "/hooks/0/command", (1, 24)),
        (b'{"hooks": [{"command": ["x"], "events": ["nope"]}]}', "event-unknown", "/hooks/0/events", (1, 41)),
        (b'{"hooks": {}, "a/b~c": 1}', "key-unknown", "/a~1b~0c", (1, 15)),
        ('{"é": 1, "hooks": {}}'.encode(), "key-unknown", "/é", (1, 2)),
        (b'{"hooks": 5}', "file-shape", "/hooks", (1, 11)),
        (b"[]", "file-shape", "", (1, 1)),
        (b'{"hooks": {}} x', "file-syntax", "", (1, 15)),
    ],
)  # fmt: skip
def test_a_fault_is_shown_where_it_is(config: bytes, code: str, pointer: str, place: tuple[int, int]) -> None:
    found = fault(config)
    assert (found.code, found.pointer, found.file) == (code, pointer, "hooks.json")
    assert (found.line, found.column) == place


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("PreToolCall", "PreToolUse"),
        ("pretooluse", "PreToolUse"),
        ("OnStop", "Stop"),
        ("tool.use", "list-shaped"),
        ("Quux", "SessionStart, "),
    ],
)
def test_an_unknown_event_gets_a_hint(name: str, hint: str) -> None:
    assert hint in fault({"hooks": {name: []}}).message


def test_an_unknown_notification_gets_a_hint() -> None:
    assert "'session.start'" in fault({"hooks": [{"command": ["a"], "events": ["session.strt"]}]}).message
    assert "map-shaped" in fault({"hooks": [{"command": ["a"], "events": ["Stop"]}]}).message


@pytest.mark.parametrize("note", ["$schema", "description", "//", "// why", "_x", "_"])
@pytest.mark.parametrize("value", [None, 5, [], {"hooks": 1}])
def test_notes_are_ignored_without_a_word(note: str, value: object) -> None:
    group = {note: value, "hooks": [{**entry("a"), note: value}]}
    read = document({note: value, "hooks": {note: value, "Stop": [group]}})
    assert read.problems == ()
    assert len(read.handlers) == 1


def test_a_key_that_stands_twice_under_hooks_joins_its_lists_in_file_order() -> None:
    first, second = json.dumps([{"hooks": [entry("a")]}]), json.dumps([{"hooks": [entry("b")]}])
    read = document(f'{{"hooks": {{"Stop": {first}, "SessionEnd": [], "Stop": {second}}}}}'.encode())
    assert [found.command for found in read.handlers] == ["a", "b"]
    assert [found.name for found in read.handlers] == ["Stop[0].hooks[0]", "Stop[1].hooks[0]"]
    (found,) = read.problems
    assert (found.code, found.severity) == ("key-duplicate", "error")


def test_both_shapes_may_stand_in_one_file_when_hooks_stands_twice() -> None:
    read = document(
        b'{"hooks": [{"command": ["a"]}], "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}'
    )
    assert [found.shown for found in read.handlers] == ["a", "b"]
    assert codes(read) == ["key-duplicate"]


def test_of_an_unusable_file_nothing_counts() -> None:
    read = document(b'{"hooks": [{"command": ["a"]}], "hooks": null}')
    assert not read.usable
    assert read.handlers == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"// x\n{}", "comments"), (b"{/* x */}", "comments"), (b"# x\n{}", "comments"), (b'{"a": 1,}', "trailing comma"), (b"[1,]", "trailing comma"),
     (b'{"a" 1}', "colon"), (b"{'a': 1}", "double quotes"), (b'{"a": NaN}', "NaN"), (b'{"a": "\t"}', "string"), (b"", "end of the file"), (b"{} {}", "follow")],
)  # fmt: skip
def test_what_is_no_json_is_said_in_words(data: bytes, words: str) -> None:
    read = document(data)
    assert not read.usable
    assert codes(read) == ["file-syntax"]
    assert words in read.problems[0].message


def test_what_is_no_utf_8_is_said() -> None:
    for data in (b"\xff\xfe{\x00}\x00", b'{"a": "\xe9"}'):
        assert codes(document(data)) == ["file-encoding"]


def test_reading_a_file_never_raises(tmp_path: Path) -> None:
    assert codes(read_file(tmp_path / "none")) == ["file-missing"]
    assert codes(read_file(tmp_path)) == ["file-unreadable"]
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert codes(read_file(loop)) == ["file-unreadable"]
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(SIZE_LIMIT + 1)
    assert codes(read_file(big)) == ["file-unreadable"]


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 500_000,
        b'{"a":' * 100_000,
        b'"' + b"\\" * 500_000,
        b"9" * 500_000,
        b" " * 500_000,
        b'{"hooks": ' + b"[" * 500_000,
    ],
)
def test_a_hostile_file_is_refused_in_a_moment(data: bytes) -> None:
    began = time.process_time()
    assert not document(data).usable
    assert time.process_time() - began < 2


# Whatever a file holds: reading never raises, and every handler that comes out can be run.

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)
KEYS = st.sampled_from(
    [
        "hooks",
        "matcher",
        "type",
        "command",
        "argv",
        "timeout",
        "events",
        "passEnv",
        "enabled",
        "name",
        "async",
        "onFailure",
        "x",
        "//",
    ]
)
NAMES = st.sampled_from(["PreToolUse", "Stop", "SessionStart", "tool.use", "Nope"])
WORDS = st.sampled_from(["command", "*", "Bash", "[", "block", "true", "", "\ud800", "\0"])
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)
HANDLERS = st.fixed_dictionaries(
    {"type": st.just("command") | JSON, "command": WORDS | JSON}
) | st.dictionaries(KEYS, JSON, max_size=5)
GROUPS = (
    st.fixed_dictionaries({"hooks": st.lists(HANDLERS, max_size=3)}, optional={"matcher": WORDS | JSON})
    | JSON
)
FILES = st.fixed_dictionaries(
    {
        "hooks": st.dictionaries(NAMES, st.lists(GROUPS, max_size=3) | JSON, max_size=3)
        | st.lists(HANDLERS, max_size=3)
        | JSON
    }
)


@settings(max_examples=80, deadline=None)
@given(FILES | JSON)
def test_no_file_raises_and_every_handler_is_whole(config: Any) -> None:
    read = document(config)
    assert read.usable or read.problems
    for found in read.handlers:
        assert (found.command is None) != (found.argv is None)
        assert 0 < found.timeout < 1e7
        assert set(found.events) <= {*EVENTS, *NOTIFICATIONS}
        assert found.on_failure in {"allow", "block"}
    for problem in read.problems:
        problem.message.encode()


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=80), st.integers(0, 200))
def test_no_bytes_raise(noise: bytes, place: int) -> None:
    document(noise)
    whole = json.dumps(lifecycle("Stop", entry("a", timeout=5), matcher="*")).encode()
    read = document(whole[:place] + noise + whole[place:])
    assert read.usable or read.problems


@settings(max_examples=60, deadline=None)
@given(st.lists(HANDLERS, max_size=4), st.integers(0, 4))
def test_a_good_entry_is_never_lost_among_bad_ones(others: list[Any], place: int) -> None:
    others.insert(place, entry("the good one"))
    read = document({"hooks": {"Stop": [None, {"hooks": others}, 5]}})
    assert "the good one" in [found.command for found in read.handlers]
