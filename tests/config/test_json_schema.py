"""The JSON Schema says of a hooks file what the reader says of it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

import test_scenarios
from boathook.config.entries import ENTRY_KEYS, HANDLER_KEYS
from boathook.config.groups import GROUP_KEYS
from boathook.config.json_schema import BLOCKS, MOMENTS, hooks_schema
from boathook.config.read import read_bytes
from boathook.terms.events import EVENTS, NOTIFICATIONS, Block
from boathook.terms.problem import CATALOGUE, Problem

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = hooks_schema()
VALIDATOR = Draft7Validator(SCHEMA)

BEYOND_A_SCHEMA = {
    "key-duplicate",  # JSON parsers keep one
    "timeout-large",  # a doubt, and the handler runs
    "key-scope",  # a schema does not know whose file it is
}
"""What the reader says of a file that the schema accepts."""


def is_said_by_the_schema(problem: Problem) -> bool:
    return problem.code not in BEYOND_A_SCHEMA and not (
        problem.code.startswith("matcher-")
        and (
            "not a regular expression" in problem.found or problem.severity == "warning"
        )  # a doubt about a name
    )


def assert_agreement(text: str) -> None:
    said = read_bytes(text.encode(), "hooks.json").problems
    if any(problem.code == "file-syntax" for problem in said):
        return  # there is nothing to be checked
    faults = [problem for problem in said if is_said_by_the_schema(problem)]
    if not faults and any(problem.code == "key-duplicate" for problem in said):
        return  # only the reader sees the value that stands in the other's place
    errors = [error.message for error in VALIDATOR.iter_errors(json.loads(text.removeprefix("\ufeff")))]
    assert bool(errors) == bool(faults), (text, errors, [problem.message for problem in said])


def test_the_schema_is_one() -> None:
    Draft7Validator.check_schema(SCHEMA)


def test_the_command_prints_it() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "boathook.cli.main", "schema"], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == SCHEMA


def test_it_agrees_with_the_reader_about_every_scenario(tmp_path: Path) -> None:
    for param in test_scenarios.scenarios():
        (scenario,) = param.values
        assert_agreement(test_scenarios.config_of(scenario, scenario.get("event", "PreToolUse"), tmp_path))


HANDLER = {"type": "command", "command": "true"}

ODD: list[Any] = [None, 0, -1, 5, 1e308, 10**400, True, False, "", " ", "x", "command", "block", "\0"]
LISTS: list[Any] = [[], ["x"], ["x", 5], {}, ["a\0"]]
MATCHERS: list[Any] = [
    "",
    "*",
    "Bash",
    "Bash|Edit",
    " ",
    "|",
    ",|",
    "a b",
    None,
    5,
    [],
    "^x",
    "startup",
    "|x",
]
GROUPS_SEEN: list[Any] = [
    *[None, 5, [], {}, HANDLER, {"matcher": "x"}, {"hooks": HANDLER}, {"hooks": [None]}, {"hooks": [[]]}],
    *[{"hooks": [{"type": "command", "argv": ["x"], "command": 5}]}, {"hooks": [{"command": "true"}]}],
    {"hooks": [], "extra": 1},
]
ENTRIES_SEEN: list[Any] = [None, {}, [], {"events": []}, {"command": ["x"], "timeout": 5}]
EVENTS_SEEN: list[Any] = [[], None, "tool.use", {}]

CASES: list[Any] = [
    *[None, 5, "x", [], {}, {"hooks": None}, {"hooks": 5}, {"hooks": "x"}, {"hooks": []}, {"hooks": {}}],
    *[{"hook": {}}, {"Hooks": {}}, {"hooks": {}, "extra": 1}, {"hooks": {}, "_extra": 1, "// x": 1}],
    *[{"disableAllHooks": True}, {"disableAllHooks": "yes"}, {"$schema": "./x.json", "hooks": {}}],
    *[{"description": "only"}, {"hooks": {"description": 5, "Stop": []}}],
    *[{"hooks": {name: [{"hooks": [HANDLER]}]}} for name in (*EVENTS, "Stopp", "stop", "", "tool.use")],
    *[{"hooks": [{"command": ["x"], "events": [name]}]} for name in (*NOTIFICATIONS, "tool", "Stop", "")],
    *[{"hooks": [{"command": command}]} for command in ("x", [], [""], ["x", ""], [5], None, ["x\0"])],
    *[{"hooks": [entry]} for entry in ENTRIES_SEEN],
    *[{"hooks": [{"command": ["x"], "events": events}]} for events in EVENTS_SEEN],
]


def with_handler(**more: object) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"hooks": [{**HANDLER, **more}]}]}}


def with_matcher(event: str, matcher: object) -> dict[str, Any]:
    return {"hooks": {event: [{"matcher": matcher, "hooks": [HANDLER]}]}}


CASES += [
    with_handler(**{key: value})
    for key in (*HANDLER_KEYS, "Timeout", "_note", "// note", "description", "args", "if")
    for value in ODD
] + [with_handler(**{key: value}) for key in HANDLER_KEYS for value in LISTS]
CASES += [with_matcher(event, matcher) for event in EVENTS for matcher in MATCHERS]
CASES += [{"hooks": {"PreToolUse": [group]}} for group in GROUPS_SEEN]


def test_it_agrees_with_the_reader_about_every_key_and_type() -> None:
    assert len(CASES) > 500
    for case in CASES:
        assert_agreement(json.dumps(case))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


def mostly(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy with, now and then, something else in its place."""
    return st.integers(0, 9).flatmap(lambda number: strategy if number else VALUES)


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys(["_", "other"], VALUES) | fields)


HANDLERS = objects(
    type=mostly(st.just("command")),
    command=mostly(st.just("true")),
    argv=mostly(st.just(["true", ""])),
    timeout=mostly(st.floats(0.1, 10)),
    onFailure=mostly(st.just("block")),
    passEnv=mostly(st.just(["A"])),
    enabled=mostly(st.booleans()),
    name=mostly(st.text()),
)
GROUPS = objects(
    matcher=mostly(st.sampled_from(["", "*", "x", "|"])), hooks=mostly(st.lists(HANDLERS, max_size=2))
)
ENTRIES = objects(
    command=mostly(st.just(["x"])), events=mostly(st.lists(st.sampled_from([*NOTIFICATIONS]), max_size=2))
)
EVENT_LISTS = {name: mostly(st.lists(mostly(GROUPS), max_size=2)) for name in ("Stop", "SessionStart", "x")}
DOCUMENTS = objects(
    hooks=mostly(st.fixed_dictionaries({}, optional=EVENT_LISTS) | st.lists(mostly(ENTRIES), max_size=2)),
    disableAllHooks=mostly(st.booleans()),
)


@settings(max_examples=400, deadline=None)
@given(DOCUMENTS)
def test_it_agrees_with_the_reader_about_any_document(document: dict[str, Any]) -> None:
    assert_agreement(json.dumps(document))


def test_it_knows_the_keys_that_the_reader_knows() -> None:
    notes = {"$schema", "description"}
    assert set(SCHEMA["definitions"]["handler"]["properties"]) == set(HANDLER_KEYS)
    assert set(SCHEMA["definitions"]["entry"]["properties"]) == set(ENTRY_KEYS)
    hooks = SCHEMA["properties"]["hooks"]["properties"]
    assert all(set(event["items"]["properties"]) == set(GROUP_KEYS) for event in hooks.values())
    assert set(SCHEMA["properties"]) - notes == {"hooks", "disableAllHooks", "allowManagedHooksOnly"}


def test_every_event_and_every_key_is_described() -> None:
    assert list(MOMENTS) == list(EVENTS)
    assert set(BLOCKS) == set(Block)
    for name, event in SCHEMA["properties"]["hooks"]["properties"].items():
        assert event["description"].startswith(MOMENTS[name])
        assert all(key.removesuffix("?") in event["description"] for key in EVENTS[name].keys)
    for name in ("handler", "entry"):
        fields = SCHEMA["definitions"][name]["properties"]
        assert all("description" in field for key, field in fields.items() if key != "type")


def test_codes_that_a_schema_cannot_say_are_codes() -> None:
    assert set(CATALOGUE) >= BEYOND_A_SCHEMA
