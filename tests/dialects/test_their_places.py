"""Where five other agents' files are looked for, that a project's need approval, and what turns them off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from boathook.config import trust
from boathook.config.trust_words import describe
from boathook.dialects import named
from boathook.loading import project_documents
from homestead import Homestead

if TYPE_CHECKING:
    from pathlib import Path


class Places(Homestead):
    def put(self, place: str, text: str) -> Path:
        path = self.base / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    for name in ("CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"):
        monkeypatch.delenv(name, raising=False)
    return Places(tmp_path, monkeypatch)


NESTED = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}})
AFTER = NESTED.replace("Stop", "AfterAgent")
FLAT = json.dumps({"version": 1, "hooks": {"stop": [{"command": "true"}]}})
BASH = json.dumps({"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "true"}]}})
TABLE = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
LIST = '[[hooks]]\nevent = "Stop"\ncommand = "true"\n'

USER = [
    ("codex", "home/.codex/hooks.json", NESTED),
    ("codex", "home/.codex/config.toml", TABLE),
    ("gemini", "home/.gemini/settings.json", AFTER),
    ("cursor", "home/.cursor/hooks.json", FLAT),
    ("copilot", "home/.copilot/hooks/any.json", BASH),
    ("kimi", "home/.kimi/config.toml", LIST),
]
PROJECT = [
    ("codex", "project/.codex/hooks.json", NESTED),
    ("codex", "project/.codex/config.toml", TABLE),
    ("gemini", "project/.gemini/settings.json", AFTER),
    ("cursor", "project/.cursor/hooks.json", FLAT),
    ("copilot", "project/.github/hooks/any.json", BASH),
]


@pytest.mark.parametrize(("agent", "place", "text"), USER)
def test_a_users_file_is_read_from_its_agents_place(
    places: Places, agent: str, place: str, text: str
) -> None:
    path = places.put(place, text)
    (handler,) = places.load(compat=[agent]).snapshot.handlers
    assert (handler.source, handler.scope, handler.events, handler.dialect) == (
        str(path),
        "user",
        ("Stop",),
        agent,
    )


@pytest.mark.parametrize(("agent", "place", "text"), PROJECT)
def test_a_projects_file_is_read_only_after_it_was_approved(
    places: Places, agent: str, place: str, text: str
) -> None:
    places.put(place, text)
    assert places.load(compat=[agent]).snapshot.handlers == ()
    (handler,) = places.load(compat=[agent], trust_project=True).snapshot.handlers
    assert handler.scope == "project"


@pytest.mark.parametrize(("agent", "place", "text"), PROJECT)
def test_an_approval_covers_the_script_that_such_a_file_names(
    places: Places, agent: str, place: str, text: str
) -> None:
    guard = places.script()
    path = places.put(place, text.replace('"true"', '"sh guard.sh"'))
    trust.grant(trust.review(places.root, project_documents(places.root, [agent])), always=True)
    (handler,) = places.load(compat=[agent]).snapshot.handlers
    assert handler.source == str(path)
    guard.write_text("#!/bin/sh\nexit 2\n")
    assert places.load(compat=[agent]).snapshot.handlers == ()


def test_who_is_asked_to_approve_sees_the_variables_that_a_handler_sets(places: Places) -> None:
    places.put(
        "project/.github/hooks/any.json", BASH.replace('"bash"', '"env": {"LD_PRELOAD": "./odd.so"}, "bash"')
    )
    shown = describe(trust.review(places.root, project_documents(places.root, ["copilot"])))
    assert "sets         LD_PRELOAD=./odd.so" in shown
    assert "not covered  what the variables that it sets lead to" in shown


@pytest.mark.parametrize(
    ("variable", "agent", "name", "text"),
    [("CODEX_HOME", "codex", "hooks.json", NESTED), ("COPILOT_HOME", "copilot", "hooks/any.json", BASH)],
)
def test_a_variable_moves_a_users_files(
    places: Places, variable: str, agent: str, name: str, text: str
) -> None:
    places.put(f"elsewhere/{name}", text)
    places.patch.setenv(variable, str(places.base / "elsewhere"))
    assert len(places.load(compat=[agent]).snapshot.handlers) == 1


def test_files_of_several_agents_are_read_side_by_side(places: Places) -> None:
    for _, place, text in USER:
        places.put(place, text)
    agents = ["codex", "gemini", "cursor", "copilot", "kimi"]
    handlers = places.load(compat=agents).snapshot.handlers
    assert sorted(handler.dialect or "" for handler in handlers) == sorted([*agents, "codex"])


@pytest.mark.parametrize(
    ("agent", "user", "project", "off"),
    [
        ("codex", USER[1], PROJECT[0], "[features]\nhooks = false\n"),
        ("gemini", USER[2], PROJECT[2], {"hooksConfig": {"enabled": False}}),
        ("copilot", USER[4], PROJECT[4], {"disableAllHooks": True}),
    ],
)
def test_a_switch_of_the_user_turns_off_all_and_one_of_the_project_only_its_own(
    places: Places, agent: str, user: tuple[str, str, str], project: tuple[str, str, str], off: object
) -> None:
    def switched(text: str) -> str:
        return text + off if isinstance(off, str) else json.dumps({**json.loads(text), **dict(off)})  # type: ignore[call-overload]

    def running() -> list[str]:
        return [each.scope for each in places.load(compat=[agent], trust_project=True).snapshot.handlers]

    places.put(*user[1:])
    places.put(*project[1:])
    assert sorted(running()) == ["project", "user"]
    places.put(user[1], switched(user[2]))
    assert running() == []
    places.put(*user[1:])
    if isinstance(off, str):
        places.put("project/.codex/config.toml", off)  # beside the file that has the hooks
    else:
        places.put(project[1], switched(project[2]))
    assert running() == ["user"]


@pytest.mark.parametrize("agent", ["codex", "gemini", "cursor", "copilot", "kimi"])
def test_the_places_of_an_agent_are_under_the_home_and_the_project_or_the_systems(
    tmp_path: Path, agent: str
) -> None:
    found = named(agent).places(tmp_path / "root", tmp_path / "home", {})
    for place in found:
        folder = {"user": tmp_path / "home", "project": tmp_path / "root"}.get(place.scope)
        assert place.path.is_relative_to(folder or "/etc")
