"""Plugins: where their hooks come from, that they stay inside, and what their folders' names can do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from boathook import Hooks
from boathook.config import plugins
from boathook.config.placeholders import NAMES, in_argument, in_shell
from boathook.config.plugin_folder import read_plugin
from boathook.config.records import RecordError
from homestead import Homestead, codes, commands, on, write

AWKWARD = [
    "plain",
    "with space",
    "quote'd",
    'double"quoted',
    "dollar$HOME",
    "$(touch ran)",
    "`touch ran`",
    "semi;touch ran",
    "new\nline",
    "back\\slash",
    "star*[a]?",
    "-dash",
    "${PLUGIN_ROOT}",
    "ünï⚓",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    return Homestead(tmp_path, monkeypatch)


def make(here: Homestead, name: str = "plugin", hooks: object = None, manifest: object = None) -> Path:
    folder = here.base / "plugins" / name
    folder.mkdir(parents=True)
    if hooks is not None:
        write(folder / "hooks/hooks.json", hooks)
    if manifest is not None:
        (folder / ".claude-plugin").mkdir()
        (folder / ".claude-plugin/plugin.json").write_text(json.dumps(manifest))
    return folder


def use(folder: Path) -> None:
    plugins.add(folder)
    plugins.enable(folder, on=True)


def said(folder: Path, here: Homestead) -> list[str]:
    return [problem.code for each in read_plugin(folder, here.root).documents for problem in each.problems]


def read(folder: Path, here: Homestead) -> list[str]:
    return [handler.shown for each in read_plugin(folder, here.root).documents for handler in each.handlers]


# ---------------------------------------------------------------- consent


def test_an_added_plugin_runs_nothing_before_it_is_enabled(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", "echo plugin"))
    plugins.add(folder)
    hooks = here.load()
    assert (commands(hooks), codes(hooks)) == ([], [])
    (skipped,) = hooks.snapshot.skipped
    assert (skipped.why, skipped.handler.shown) == ("plugin-disabled", "echo plugin")
    assert "boathook plugin enable" in skipped.words
    plugins.enable(folder, on=True)
    assert commands(here.load()) == ["echo plugin"]
    plugins.enable(folder, on=False)
    assert commands(here.load()) == []


def test_adding_again_does_not_disable_and_removing_forgets(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", "echo plugin"))
    use(folder)
    plugins.add(folder)
    assert [each.enabled for each in plugins.added()] == [True]
    plugins.remove(folder)
    assert plugins.added() == ()
    assert folder.is_dir()


def test_a_plugin_that_was_never_added_cannot_be_enabled(here: Homestead) -> None:
    folder = make(here, hooks={})
    with pytest.raises(plugins.PluginError, match="boathook plugin add"):
        plugins.enable(folder, on=True)


def test_plugins_come_in_the_order_in_which_they_were_added(here: Homestead) -> None:
    for name in ("zebra", "ant"):
        use(make(here, name, on("Stop", f"echo {name}")))
    assert commands(here.load()) == ["echo zebra", "echo ant"]


def test_a_plugin_that_is_reached_by_two_names_is_one(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", "echo plugin"))
    use(folder)
    link = here.base / "link"
    link.symlink_to(folder)
    use(link)
    assert len(plugins.added()) == 1


def test_a_damaged_list_of_plugins_enables_none_and_is_not_overwritten(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", "echo plugin"))
    use(folder)
    record = here.home / ".boathook/plugins.json"
    record.write_text("garbage")
    hooks = here.load()
    assert (commands(hooks), codes(hooks)) == ([], ["trust-store"])
    with pytest.raises(RecordError):
        plugins.add(folder)
    assert record.read_text() == "garbage"


# ---------------------------------------------------------------- where hooks come from


def test_hooks_come_from_the_usual_file_without_any_manifest(here: Homestead) -> None:
    assert read(make(here, hooks=on("Stop", "echo usual")), here) == ["echo usual"]


@pytest.mark.parametrize("kind", [".claude-plugin", ".codex-plugin"])
def test_a_manifest_names_a_file_or_several(here: Homestead, kind: str) -> None:
    folder = make(here)
    write(folder / "a.json", on("Stop", "echo a"))
    write(folder / "more/b.json", on("Stop", "echo b"))
    (folder / kind).mkdir()
    manifest = folder / kind / "plugin.json"
    manifest.write_text(json.dumps({"name": "named", "hooks": "./a.json"}))
    assert read(folder, here) == ["echo a"]
    manifest.write_text(json.dumps({"name": "named", "hooks": ["a.json", "./more/b.json"]}))
    assert read(folder, here) == ["echo a", "echo b"]
    assert read_plugin(folder, here.root).name == "named"


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_manifest_holds_the_hooks_themselves(here: Homestead, wrapped: bool) -> None:
    hooks: dict[str, Any] = on("Stop", "echo inline")
    folder = make(here, manifest={"name": "x", "hooks": {"hooks": hooks} if wrapped else hooks})
    assert read(folder, here) == ["echo inline"]
    assert said(folder, here) == []


def test_the_usual_file_is_read_once_when_the_manifest_names_it_too(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", "echo once"), manifest={"hooks": "./hooks/hooks.json"})
    assert read(folder, here) == ["echo once"]


def test_a_manifest_without_hooks_is_no_fault(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", "echo usual"), manifest={"name": "x", "version": "1", "author": {}})
    assert (read(folder, here), said(folder, here)) == (["echo usual"], [])


def test_an_unknown_event_of_a_plugin_costs_only_itself(here: Homestead) -> None:
    folder = make(here, hooks={**on("Stop", "echo one"), **on("Elsewhere", "echo two")})
    assert (read(folder, here), said(folder, here)) == (["echo one"], ["event-unknown"])


@pytest.mark.parametrize("path", ["../outside.json", "a/../../outside.json", "/etc/passwd", ".."])
def test_a_path_that_leaves_the_plugin_is_refused(here: Homestead, path: str) -> None:
    write(here.base / "plugins/outside.json", on("Stop", "echo outside"))
    folder = make(here, manifest={"hooks": path})
    assert (read(folder, here), said(folder, here)) == ([], ["plugin-path"])


@pytest.mark.parametrize("link", ["linked.json", "hooks/hooks.json"])
def test_a_link_that_leads_out_of_the_plugin_is_refused(here: Homestead, link: str) -> None:
    outside = write(here.base / "outside.json", on("Stop", "echo outside"))
    folder = make(here, manifest={"hooks": "linked.json"} if link == "linked.json" else {})
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(outside)
    assert (read(folder, here), said(folder, here)) == ([], ["plugin-path"])


def test_a_link_that_stays_inside_is_followed(here: Homestead) -> None:
    folder = make(here, manifest={"hooks": "linked.json"})
    write(folder / "real.json", on("Stop", "echo inside"))
    (folder / "linked.json").symlink_to("real.json")
    assert read(folder, here) == ["echo inside"]


def test_a_plugin_that_cannot_be_used_costs_only_itself_and_is_said(here: Homestead) -> None:
    broken = make(here, "broken", hooks={})
    (broken / "hooks/hooks.json").write_text("{")
    use(broken)
    odd = make(here, "odd", manifest={})
    (odd / ".claude-plugin/plugin.json").write_text("nothing")
    use(odd)
    gone = make(here, "gone", hooks={})
    use(gone)
    (gone / "hooks/hooks.json").unlink()
    (gone / "hooks").rmdir()
    gone.rmdir()
    use(make(here, "good", hooks=on("Stop", "echo good")))
    hooks = here.load()
    assert commands(hooks) == ["echo good"]
    assert codes(hooks).count("plugin-unusable") == 3


def test_a_plugin_that_others_may_write_to_is_refused(here: Homestead) -> None:
    folder = make(here, hooks=on("Stop", '"${CLAUDE_PLUGIN_ROOT}/x.sh"', "echo fine"))
    (folder / "x.sh").write_text("#!/bin/sh\n")
    (folder / "x.sh").chmod(0o777)
    use(folder)
    hooks = here.load()
    assert commands(hooks) == ["echo fine"]
    assert hooks.snapshot.skipped[0].why == "writable"


def test_a_changed_plugin_is_noticed_by_a_running_session(
    here: Homestead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boathook.config.watch.INTERVAL", 0.0)
    folder = make(here, hooks=on("Stop", "exit 0"))
    use(folder)
    hooks = here.load()
    assert hooks.dispatch_sync("Stop").diagnostics == ()
    write(folder / "hooks/hooks.json", on("Stop", "exit 2"))
    assert [each.code for each in hooks.dispatch_sync("Stop").diagnostics] == ["config-changed"]


def test_what_was_refused_or_damaged_from_the_start_is_no_change(
    here: Homestead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boathook.config.watch.INTERVAL", 0.0)
    folder = make(here, manifest={"hooks": ["../x.json", "absent.json"]})
    (folder / "hooks").mkdir()
    (folder / "hooks/hooks.json").symlink_to(write(here.base / "outside.json", {}))
    use(folder)
    assert here.load().dispatch_sync("Stop").diagnostics == ()
    (here.home / ".boathook/plugins.json").write_text("garbage")
    assert here.load().dispatch_sync("Stop").diagnostics == ()


def test_the_plugins_folder_counts_for_the_id_of_the_snapshot(here: Homestead) -> None:
    use(make(here, "one", hooks=on("Stop", "echo x")))
    first = here.load().snapshot.id
    plugins.remove(here.base / "plugins/one")
    use(make(here, "two", hooks=on("Stop", "echo x")))
    assert here.load().snapshot.id != first


def test_the_same_command_of_two_plugins_runs_for_each(here: Homestead) -> None:
    for name in ("one", "two"):
        use(make(here, name, hooks=on("Stop", 'echo "$PLUGIN_ROOT" >> "$CLAUDE_PROJECT_DIR/log"')))
    assert len(here.load().dispatch_sync("Stop").handlers) == 2
    assert len((here.root / "log").read_text().splitlines()) == 2


# ---------------------------------------------------------------- placeholders

SHOW = '#!/bin/sh\nprintf \'%s\\0\' "$@" > "$CLAUDE_PROJECT_DIR/seen"\n'
FORMS = [
    "${CLAUDE_PLUGIN_ROOT}/show.sh ${CLAUDE_PLUGIN_ROOT} ${PLUGIN_DATA}",
    '"${PLUGIN_ROOT}/show.sh" "${PLUGIN_ROOT}" "${CLAUDE_PLUGIN_DATA}"',
    '"$PLUGIN_ROOT"/show.sh "$PLUGIN_ROOT" "$PLUGIN_DATA"',
    "cd / && $PLUGIN_ROOT/show.sh $PLUGIN_ROOT $PLUGIN_DATA",
    'sh -c \'"$CLAUDE_PLUGIN_ROOT"/show.sh "$PLUGIN_ROOT" "$PLUGIN_DATA"\'',
    'A="$(printf %s ${PLUGIN_ROOT}/show.sh)"; "$A" ${PLUGIN_ROOT} ${PLUGIN_DATA}',
]


@pytest.mark.parametrize("name", AWKWARD)
def test_the_plugins_folders_resolve_in_a_shell_command_whatever_they_are_called(
    here: Homestead, name: str
) -> None:
    for index, form in enumerate(FORMS):
        folder = here.base / str(index) / name
        write(folder / "hooks/hooks.json", on("Stop", form))
        (folder / "show.sh").write_text(SHOW)
        (folder / "show.sh").chmod(0o755)
        use(folder)
        data = str(here.home / ".boathook/plugin-data")
        decision = here.load().dispatch_sync("Stop")
        assert [each.status for each in decision.handlers] == ["ok"], (form, decision.diagnostics)
        root, kept = (here.root / "seen").read_bytes().decode().split("\0")[:2]
        assert root == str(folder)
        assert kept.startswith(data)
        assert Path(kept).is_dir()
        assert list(here.base.rglob("ran")) == []
        plugins.remove(folder)


@pytest.mark.parametrize("name", AWKWARD)
def test_the_plugins_folders_resolve_in_a_list_of_arguments(here: Homestead, name: str) -> None:
    project = here.base / "at" / name
    project.mkdir(parents=True)
    folder = here.base / "in" / name
    argv = ["${CLAUDE_PLUGIN_ROOT}/show.sh", "${PLUGIN_ROOT}", "a ${CLAUDE_PROJECT_DIR} b", "$PLUGIN_ROOT"]
    write(folder / "hooks/hooks.json", {"Stop": [{"hooks": [{"type": "command", "argv": argv}]}]})
    (folder / "show.sh").write_text(SHOW)
    (folder / "show.sh").chmod(0o755)
    use(folder)
    Hooks.load(project=project).dispatch_sync("Stop")
    seen = (project / "seen").read_bytes().decode().split("\0")
    assert seen[:3] == [str(folder), f"a {project} b", "$PLUGIN_ROOT"]
    assert list(here.base.rglob("ran")) == []


def test_a_value_is_not_looked_through_for_placeholders() -> None:
    values = {"PLUGIN_ROOT": "${PLUGIN_DATA}", "PLUGIN_DATA": "/data"}
    assert in_argument("${PLUGIN_ROOT} ${PLUGIN_DATA} ${OTHER}", values) == "${PLUGIN_DATA} /data ${OTHER}"


@pytest.mark.parametrize(
    ("written", "run"),
    [
        ("${PLUGIN_ROOT}/x", '"${PLUGIN_ROOT}"/x'),
        ("$PLUGIN_ROOT/x", '"$PLUGIN_ROOT"/x'),
        ("$PLUGIN_ROOTS", "$PLUGIN_ROOTS"),
        ("$OTHER ${PLUGIN_ROOT:-x}", "$OTHER ${PLUGIN_ROOT:-x}"),
        ('"${PLUGIN_ROOT}/x"', '"${PLUGIN_ROOT}/x"'),
        ("'${PLUGIN_ROOT}/x'", "'${PLUGIN_ROOT}/x'"),
        (r"\${PLUGIN_ROOT}", r"\${PLUGIN_ROOT}"),
        ('"$(cat ${PLUGIN_ROOT}/f)"', '"$(cat "${PLUGIN_ROOT}"/f)"'),
        ("a='b' ${PLUGIN_ROOT}", "a='b' \"${PLUGIN_ROOT}\""),
        ("x # it's\n${PLUGIN_ROOT}", 'x # it\'s\n"${PLUGIN_ROOT}"'),
        ("cat <<E\n${PLUGIN_ROOT}\nE", "cat <<E\n${PLUGIN_ROOT}\nE"),
        ('"it\'s ${PLUGIN_ROOT}"', '"it\'s ${PLUGIN_ROOT}"'),
        ("`cat ${PLUGIN_ROOT}/f`", '`cat "${PLUGIN_ROOT}"/f`'),
    ],
)
def test_a_shell_command_gets_quotes_and_never_a_value(written: str, run: str) -> None:
    assert in_shell(written) == run


@pytest.mark.parametrize("name", NAMES)
def test_every_placeholder_is_known_in_both_forms(name: str) -> None:
    assert in_argument(f"${{{name}}}", {name: "v"}) == "v"
    shown = subprocess.run(
        ["/bin/sh", "-c", in_shell(f"printf '%s|' ${{{name}}} ${name}")],
        env={name: "a b"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "a b|a b|"


# ---------------------------------------------------------------- whose form


def test_a_plugins_handlers_are_claude_codes_and_hear_its_names(here: Homestead) -> None:
    group = on("PreToolUse", "cat >&2; exit 2", matcher="Agent", **{"if": "Agent(reader)"})
    use(make(here, hooks=group))
    hooks = here.load()
    arguments = {"description": "look", "subagent_type": "reader"}
    decision = hooks.dispatch_sync("PreToolUse", {"tool_name": "task", "tool_input": arguments})
    assert decision.permission == "deny"
    assert json.loads(decision.reason or "")["tool_input"]["prompt"] == "look"
    other = {"tool_name": "task", "tool_input": {**arguments, "subagent_type": "writer"}}
    assert hooks.dispatch_sync("PreToolUse", other).permission is None


def test_a_plugins_command_with_arguments_is_run_without_a_shell(here: Homestead) -> None:
    handler = {"type": "command", "command": "/bin/sh", "args": ["-c", 'printf %s "$1" > seen', "x", "a ;b"]}
    use(make(here, hooks={"Stop": [{"hooks": [handler]}]}))
    here.load().dispatch_sync("Stop", {})
    assert (here.root / "seen").read_text() == "a ;b"


def test_a_plugins_handler_with_a_field_of_our_own_is_one_of_ours(here: Homestead) -> None:
    use(make(here, hooks=on("PreToolUse", "cat >&2; exit 2", matcher="task", enabled=True)))
    decision = here.load().dispatch_sync("PreToolUse", {"tool_name": "task", "tool_input": {}})
    assert (decision.permission, json.loads(decision.reason or "")["tool_name"]) == ("deny", "task")


def test_what_a_plugin_cannot_have_here_is_named(here: Homestead) -> None:
    prompt = {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "ok?"}]}]}
    use(make(here, hooks={**prompt, **on("TaskCreated", "true")}))
    assert codes(here.load()) == ["dialect-guard", "dialect-guard"]
