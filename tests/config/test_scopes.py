"""Whose hooks run: the scopes, their switches, the snapshot and its renewal."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING

import pytest

from boathook import Hooks
from boathook.config import watch
from boathook.config.scopes import Places, project_root
from boathook.terms.problem import ConfigError
from homestead import Homestead, codes, commands, on, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    return Homestead(tmp_path, monkeypatch)


def test_the_order_is_managed_then_project_then_user_then_plugin(here: Homestead) -> None:
    from boathook.config import plugins

    plugin = here.base / "plugin"
    write(plugin / "hooks/hooks.json", on("Stop", "echo plugin"))
    plugins.add(plugin)
    plugins.enable(plugin, on=True)
    here.user(on("Stop", "echo user"))
    here.project(on("Stop", "echo project"))
    managed = here.managed(on("Stop", "echo managed"))
    hooks = here.load(managed=managed, trust_project=True)
    assert commands(hooks) == ["echo managed", "echo project", "echo user", "echo plugin"]
    assert [handler.scope for handler in hooks.snapshot.handlers] == ["managed", "project", "user", "plugin"]


def test_with_given_files_no_other_scope_is_read(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    here.project(on("Stop", "echo project"))
    given = write(here.base / "given.json", on("Stop", "echo given"))
    assert commands(Hooks.load(files=[given], project=here.root, trust_project=True)) == ["echo given"]


def test_identical_handlers_of_several_files_run_once_and_every_place_is_known(here: Homestead) -> None:
    line = 'echo x >> "$CLAUDE_PROJECT_DIR/log"'
    user, project = here.user(on("Stop", line)), here.project(on("Stop", line, line))
    hooks = here.load(trust_project=True)
    decision = hooks.dispatch_sync("Stop")
    assert len(decision.handlers) == 1
    assert (here.root / "log").read_text() == "x\n"
    places = hooks.snapshot.places(hooks.snapshot.handlers[0])
    assert [place.source for place in places] == [str(project), str(project), str(user)]


def test_identical_listeners_of_a_notification_run_once_too(here: Homestead) -> None:
    entry = {"command": ["sh", "-c", "echo x >> log"], "events": ["context.offload"]}
    here.user([entry, entry])
    here.load().dispatch_sync("context.offload")
    assert (here.root / "log").read_text() == "x\n"


def test_the_home_folder_as_project_does_not_read_its_file_twice(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    assert commands(Hooks.load(project=here.home, trust_project=True)) == ["echo user"]


def test_a_managed_file_that_was_asked_for_may_not_be_missing(here: Homestead) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        here.load(managed=here.base / "nowhere.json")


def test_an_unusable_user_file_is_said_loudly(here: Homestead) -> None:
    here.user({}).write_text("{")
    with pytest.raises(ConfigError, match=r"hooks\.json:1:"):
        here.load()


def test_an_unusable_file_of_an_untrusted_project_keeps_no_session_from_starting(here: Homestead) -> None:
    here.project({}).write_text("{")
    hooks = here.load()
    assert codes(hooks) == ["project-untrusted"]
    assert "cannot be used" in hooks.problems[0].message


# ---------------------------------------------------------------- switches


def test_a_managed_file_can_allow_no_others(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    here.project(on("Stop", "echo project"))
    managed = here.managed(on("Stop", "echo managed"), allowManagedHooksOnly=True)
    hooks = here.load(managed=managed, trust_project=True)
    assert commands(hooks) == ["echo managed"]
    assert [(each.handler.shown, each.why) for each in hooks.snapshot.skipped] == [
        ("echo project", "managed-only"),
        ("echo user", "managed-only"),
    ]
    assert "allowManagedHooksOnly" in hooks.snapshot.skipped[0].words


def test_a_restriction_that_cannot_be_read_restricts(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    hooks = here.load(managed=here.managed({}, allowManagedHooksOnly="yes"))
    assert commands(hooks) == []
    assert "entry-type" in codes(hooks)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_nobody_but_the_operator_can_allow_managed_hooks_only(here: Homestead, scope: str) -> None:
    getattr(here, scope)(on("Stop", "echo own"), allowManagedHooksOnly=True)
    hooks = here.load(trust_project=True)
    assert commands(hooks) == ["echo own"]
    assert codes(hooks) == ["key-scope"]


def test_the_users_switch_silences_all_but_managed_hooks(here: Homestead) -> None:
    here.user(on("Stop", "echo user"), disableAllHooks=True)
    here.project(on("Stop", "echo project"))
    hooks = here.load(managed=here.managed(on("Stop", "echo managed")), trust_project=True)
    assert commands(hooks) == ["echo managed"]
    assert {each.why for each in hooks.snapshot.skipped} == {"disabled"}
    assert codes(hooks) == ["hooks-disabled", "hooks-disabled"]


def test_a_file_with_nothing_but_the_switch_is_a_good_file(here: Homestead) -> None:
    (here.user({})).write_text('{"disableAllHooks": true}')
    assert codes(here.load()) == []


def test_a_project_cannot_switch_off_the_users_hooks(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    here.project(on("Stop", "echo project"), disableAllHooks=True)
    hooks = here.load(trust_project=True)
    assert commands(hooks) == ["echo project", "echo user"]
    assert codes(hooks) == ["key-scope"]


def test_the_environments_switch_silences_all_but_managed_hooks(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    here.patch.setenv("BOATHOOK_DISABLE", "1")
    hooks = here.load(managed=here.managed(on("Stop", "echo managed")))
    assert commands(hooks) == ["echo managed"]
    assert "BOATHOOK_DISABLE" in hooks.snapshot.skipped[0].words


def test_zero_in_the_environments_switch_silences_nothing(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    here.patch.setenv("BOATHOOK_DISABLE", "0")
    assert commands(here.load()) == ["echo user"]


def test_given_files_are_silenced_by_the_environment_as_well(here: Homestead) -> None:
    here.patch.setenv("BOATHOOK_DISABLE", "1")
    assert commands(Hooks.load(files=[write(here.base / "g.json", on("Stop", "echo given"))])) == []


# ---------------------------------------------------------------- snapshot


def test_a_snapshot_is_immutable(here: Homestead) -> None:
    here.user(on("Stop", "echo user"))
    snapshot = here.load().snapshot
    with pytest.raises(FrozenInstanceError):
        snapshot.id = "0"  # type: ignore[misc]
    with pytest.raises(TypeError):
        snapshot.by_event["Stop"] = ()  # type: ignore[index]


def test_the_same_configuration_has_the_same_id_and_another_has_another(here: Homestead) -> None:
    file = here.user(on("Stop", "echo user"))
    first = here.load().snapshot.id
    assert here.load().snapshot.id == first
    file.write_text(file.read_text().replace(",", " ,\n "))
    assert here.load().snapshot.id == first, "white space is no change"
    here.user(on("Stop", "echo user", timeout=5))
    assert here.load().snapshot.id != first


def test_every_place_of_identical_handlers_counts_for_the_id(here: Homestead) -> None:
    here.user(on("Stop", "echo same"))
    alone = here.load(trust_project=True).snapshot.id
    here.project(on("Stop", "echo same"))
    assert here.load(trust_project=True).snapshot.id != alone


def test_the_options_of_loading_count_for_the_id(here: Homestead) -> None:
    here.user(on("Stop", "echo same"))
    assert here.load().snapshot.id != here.load(trust_project=True).snapshot.id


def test_a_changed_file_does_not_touch_a_running_session(here: Homestead) -> None:
    here.user(on("Stop", "echo refused >&2; exit 2"))
    hooks = here.load()
    here.user({})
    assert hooks.dispatch_sync("Stop").block


# ---------------------------------------------------------------- reload, and the notice


def test_reload_takes_what_is_on_disk_now(here: Homestead) -> None:
    here.user(on("Stop", "exit 0"))
    hooks = here.load()
    before = hooks.snapshot
    here.user(on("Stop", "exit 2"))
    assert hooks.reload() == ()
    assert hooks.snapshot.id != before.id
    assert hooks.dispatch_sync("Stop").block


def test_reload_keeps_what_it_has_when_the_new_is_unusable_and_says_what_is_wrong(here: Homestead) -> None:
    file = here.user(on("Stop", "exit 2"))
    hooks = here.load()
    before = hooks.snapshot
    file.write_text("{")
    (fault,) = hooks.reload()
    assert (fault.code, fault.file) == ("file-syntax", str(file))
    assert hooks.snapshot is before
    assert hooks.dispatch_sync("Stop").block


def test_hooks_that_were_not_loaded_from_files_have_nothing_to_reload(here: Homestead) -> None:
    hooks = Hooks(here.load().snapshot, here.root)
    before = hooks.snapshot
    assert hooks.reload() == ()
    assert hooks.snapshot is before


def noticed(hooks: Hooks) -> list[str]:
    return [problem.code for problem in hooks.dispatch_sync("Stop").diagnostics]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "INTERVAL", 0.0)


@pytest.mark.usefixtures("soon")
def test_one_notice_says_that_a_file_changed_under_a_running_session(here: Homestead) -> None:
    here.user(on("Stop", "exit 0"))
    hooks = here.load()
    assert noticed(hooks) == []
    file = here.user(on("Stop", "exit 2"))
    decision = hooks.dispatch_sync("Stop")
    (notice,) = decision.diagnostics
    assert (notice.code, notice.file) == ("config-changed", str(file))
    assert noticed(hooks) == []


@pytest.mark.usefixtures("soon")
def test_a_file_that_was_only_touched_is_no_change(here: Homestead) -> None:
    file = here.user(on("Stop", "exit 0"))
    hooks = here.load()
    file.write_text(file.read_text())
    assert noticed(hooks) == []


@pytest.mark.usefixtures("soon")
def test_a_file_that_appears_or_goes_is_noticed(here: Homestead) -> None:
    hooks = here.load()
    file = here.project(on("Stop", "exit 0"))
    assert noticed(hooks) == ["config-changed"]
    hooks = here.load()
    file.unlink()
    assert noticed(hooks) == ["config-changed"]


@pytest.mark.usefixtures("soon")
def test_after_a_reload_changes_are_noticed_again(here: Homestead) -> None:
    hooks = here.load()
    here.user(on("Stop", "exit 0"))
    assert noticed(hooks) == ["config-changed"]
    hooks.reload()
    assert noticed(hooks) == []
    here.user({})
    assert noticed(hooks) == ["config-changed"]


def test_between_two_looks_no_file_is_touched(here: Homestead, monkeypatch: pytest.MonkeyPatch) -> None:
    here.user({})
    hooks = here.load()
    monkeypatch.setattr(watch, "_signature", lambda _path: pytest.fail("it looked"))
    assert noticed(hooks) == []


# ---------------------------------------------------------------- who may write to the operator's and the user's files


def test_a_user_file_that_others_may_write_to_is_refused_with_the_command_that_mends_it(
    here: Homestead,
) -> None:
    file = here.user(on("Stop", "exit 0"))
    file.chmod(0o666)
    with pytest.raises(ConfigError, match=f"chmod go-w {file}"):
        here.load()


def test_a_handler_whose_script_others_may_write_to_is_refused(here: Homestead) -> None:
    script = here.home / ".deepagents/hooks/guard.sh"
    here.user(on("Stop", "~/.deepagents/hooks/guard.sh", "echo other"))
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o777)
    hooks = here.load()
    assert commands(hooks) == ["echo other"]
    assert codes(hooks) == ["file-writable"]
    assert hooks.snapshot.skipped[0].why == "writable"


def test_a_managed_file_that_others_may_write_to_is_refused(here: Homestead) -> None:
    managed = here.managed(on("Stop", "exit 0"))
    managed.chmod(0o606)
    with pytest.raises(ConfigError, match="every user may write"):
        here.load(managed=managed)


def test_the_environment_can_say_that_exposed_files_are_wanted(here: Homestead) -> None:
    here.user(on("Stop", "echo user")).chmod(0o666)
    here.patch.setenv("BOATHOOK_ALLOW_WRITABLE", "1")
    assert commands(here.load()) == ["echo user"]


# ---------------------------------------------------------------- places


def test_the_places_are_known_before_anything_is_there(here: Homestead) -> None:
    assert Places.of(here.root, here.base / "m.json").paths() == (
        str(here.base / "m.json"),
        str(here.root / ".deepagents/hooks.json"),
        str(here.home / ".deepagents/hooks.json"),
    )


def test_a_project_is_the_nearest_folder_with_a_mark_of_its_own(here: Homestead) -> None:
    inner = here.root / "a/b"
    inner.mkdir(parents=True)
    assert project_root(inner) == here.root
    (here.root / "a/.deepagents").mkdir()
    assert project_root(inner) == here.root / "a"
    (here.home / ".deepagents").mkdir()
    assert project_root(here.home) == here.home
