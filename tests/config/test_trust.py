"""What a person approved, and what makes it void. Each name is a claim of the threat model."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from boathook import Hooks
from boathook.config import trust
from boathook.config.records import RecordError
from boathook.config.trust_words import describe
from homestead import Homestead, codes, commands, on

if TYPE_CHECKING:
    from pathlib import Path

REFUSE = "#!/bin/sh\necho no >&2\nexit 2\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    return Homestead(tmp_path, monkeypatch)


@pytest.fixture
def approved(here: Homestead) -> Homestead:
    """A project with one guard, approved for good."""
    here.script(text=REFUSE)
    here.project(on("PreToolUse", "./guard.sh", matcher="Bash"))
    trust.grant(trust.review(here.root), always=True)
    return here


def fire(hooks: Hooks) -> str | None:
    return hooks.dispatch_sync("PreToolUse", {"tool_name": "Bash"}).permission


def test_project_hooks_do_not_load_before_a_person_approved_them(here: Homestead) -> None:
    here.script()
    here.project(on("PreToolUse", "./guard.sh", "echo two"))
    hooks = here.load()
    assert commands(hooks) == []
    assert [each.why for each in hooks.snapshot.skipped] == ["untrusted", "untrusted"]


def test_what_was_skipped_is_said_in_one_line_with_how_many_from_where_and_how_to_trust(
    here: Homestead,
) -> None:
    file = here.project(on("Stop", "echo one", "echo two"))
    (problem,) = here.load().problems
    assert problem.code == "project-untrusted"
    for words in ("2 project hooks", str(file), "boathook trust", "--trust-project-hooks"):
        assert words in problem.message
    assert "\n" not in problem.message


def test_a_project_without_hooks_of_its_own_is_nothing_to_talk_about(here: Homestead) -> None:
    here.project({})
    assert codes(here.load()) == []
    assert trust.review(here.root).state == "nothing"


def test_approved_hooks_run(approved: Homestead) -> None:
    hooks = approved.load()
    assert codes(hooks) == []
    assert fire(hooks) == "deny"
    assert trust.review(approved.root).state == "trusted"


def test_changing_a_byte_of_a_script_makes_the_project_untrusted_again(approved: Homestead) -> None:
    approved.script(text=REFUSE.replace("no", "No"))
    hooks = approved.load()
    assert commands(hooks) == []
    assert [each.why for each in hooks.snapshot.skipped] == ["changed"]
    assert trust.review(approved.root).state == "changed"


def test_changing_a_module_that_a_script_imports_makes_the_project_untrusted_again(here: Homestead) -> None:
    here.script("hooks/guard.py", "import rules\n")
    here.script("hooks/rules.py", "")
    here.project(on("Stop", "python3 hooks/guard.py"))
    trust.grant(trust.review(here.root), always=True)
    assert commands(here.load()) == ["python3 hooks/guard.py"]
    here.script("hooks/rules.py", "print()\n")
    assert commands(here.load()) == []


def test_putting_the_byte_back_makes_it_trusted_again(approved: Homestead) -> None:
    approved.script(text="#!/bin/sh\n")
    approved.script(text=REFUSE)
    assert fire(approved.load()) == "deny"


def test_white_space_and_the_order_of_keys_change_nothing(approved: Homestead) -> None:
    file = approved.root / ".deepagents/hooks.json"
    data = json.loads(file.read_text())
    handler = data["hooks"]["PreToolUse"][0]["hooks"][0]
    data["hooks"]["PreToolUse"][0]["hooks"] = [dict(reversed(handler.items()))]
    data["hooks"]["PreToolUse"][0] = dict(reversed(data["hooks"]["PreToolUse"][0].items()))
    file.write_text("\n" + json.dumps({"description": "tidied", **data}, indent=8) + "\n")
    assert fire(approved.load()) == "deny"


def test_the_order_of_handlers_changes_nothing(here: Homestead) -> None:
    here.project(on("Stop", "echo one", "echo two"))
    trust.grant(trust.review(here.root), always=True)
    here.project(on("Stop", "echo two", "echo one"))
    assert commands(here.load()) == ["echo two", "echo one"]


def test_adding_a_hook_before_an_approved_one_makes_all_of_the_file_untrusted(approved: Homestead) -> None:
    approved.project(on("PreToolUse", "echo first", "./guard.sh", matcher="Bash"))
    assert commands(approved.load()) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"timeout": 1},
        {"onFailure": "block"},
        {"passEnv": ["A_KEY"]},
        {"statusMessage": "…"},
        {"enabled": False},
    ],
)
def test_changing_any_field_of_an_approved_handler_makes_it_untrusted(
    approved: Homestead, fields: dict[str, object]
) -> None:
    approved.project(on("PreToolUse", "./guard.sh", matcher="Bash", **fields))
    assert commands(approved.load()) == []


def test_changing_the_matcher_or_the_event_makes_it_untrusted(approved: Homestead) -> None:
    approved.project(on("PreToolUse", "./guard.sh", matcher="Write"))
    assert commands(approved.load()) == []
    approved.project(on("PostToolUse", "./guard.sh", matcher="Bash"))
    assert commands(approved.load()) == []


def test_re_pointing_a_link_makes_it_untrusted_even_to_the_same_bytes(here: Homestead) -> None:
    here.script("a.sh", REFUSE)
    here.script("b.sh", REFUSE)
    link = here.root / "guard.sh"
    link.symlink_to("a.sh")
    here.project(on("PreToolUse", "./guard.sh"))
    trust.grant(trust.review(here.root), always=True)
    assert fire(here.load()) == "deny"
    link.unlink()
    link.symlink_to("b.sh")
    assert commands(here.load()) == []
    assert "leads to b.sh now, and led to a.sh" in describe(trust.review(here.root))


def test_re_pointing_a_folder_on_the_way_makes_it_untrusted(here: Homestead) -> None:
    here.script("one/guard.sh", REFUSE)
    here.script("two/guard.sh", REFUSE)
    link = here.root / "hooks"
    link.symlink_to("one")
    here.project(on("PreToolUse", "hooks/guard.sh"))
    trust.grant(trust.review(here.root), always=True)
    link.unlink()
    link.symlink_to("two")
    assert commands(here.load()) == []


def test_a_link_that_leads_out_of_the_project_is_covered_where_it_leads(here: Homestead) -> None:
    outside = here.base / "outside.sh"
    outside.write_text(REFUSE)
    outside.chmod(0o755)
    (here.root / "guard.sh").symlink_to(outside)
    here.project(on("PreToolUse", "./guard.sh"))
    trust.grant(trust.review(here.root), always=True)
    assert fire(here.load()) == "deny"
    outside.write_text("#!/bin/sh\n")
    assert commands(here.load()) == []


def test_a_file_that_appears_under_a_name_of_the_command_makes_it_untrusted(here: Homestead) -> None:
    here.script("a/one.sh")
    here.project(on("Stop", "cat a/*.sh | sh"))
    trust.grant(trust.review(here.root), always=True)
    assert commands(here.load()) == ["cat a/*.sh | sh"]
    here.script("a/two.sh")
    assert commands(here.load()) == []


def test_a_project_that_is_reached_by_two_names_is_approved_once(approved: Homestead) -> None:
    other = approved.base / "other"
    other.symlink_to(approved.root)
    assert fire(Hooks.load(project=other)) == "deny"
    assert trust.revoke(other)
    assert commands(approved.load()) == []


def test_a_command_that_spells_out_the_projects_path_is_the_same_by_either_name(here: Homestead) -> None:
    here.script(text=REFUSE)
    here.project(on("PreToolUse", str(here.root / "guard.sh")))
    other = here.base / "other"
    other.symlink_to(here.root)
    trust.grant(trust.review(other), always=True)
    assert fire(here.load()) == "deny"
    assert fire(Hooks.load(project=other)) == "deny"


def test_a_copy_of_an_approved_project_is_not_approved(approved: Homestead) -> None:
    copy = approved.base / "copy"
    shutil.copytree(approved.root, copy)
    assert commands(Hooks.load(project=copy)) == []


def test_a_revoked_project_does_not_load_its_hooks(approved: Homestead) -> None:
    assert trust.approved_roots() == (str(approved.root),)
    assert trust.revoke(approved.root)
    assert not trust.revoke(approved.root)
    assert trust.approved_roots() == ()
    assert commands(approved.load()) == []


def test_an_approval_for_this_session_is_recorded_nowhere(here: Homestead) -> None:
    here.script(text=REFUSE)
    here.project(on("PreToolUse", "./guard.sh"))
    approval = trust.grant(trust.review(here.root), always=False)
    assert fire(here.load(approved=approval)) == "deny"
    assert commands(here.load()) == []
    assert not (here.home / ".boathook").exists()


def test_an_approval_is_for_what_was_reviewed_and_not_for_what_came_since(here: Homestead) -> None:
    here.script(text=REFUSE)
    here.project(on("PreToolUse", "./guard.sh"))
    review = trust.review(here.root)
    here.script(text="#!/bin/sh\n")
    approval = trust.grant(review, always=True)
    assert commands(here.load(approved=approval)) == []


def test_an_approval_of_another_project_counts_for_nothing(approved: Homestead) -> None:
    approval = trust.grant(trust.review(approved.root), always=False)
    copy = approved.base / "copy"
    shutil.copytree(approved.root, copy)
    assert commands(Hooks.load(project=copy, approved=approval)) == []


def test_the_flag_loads_project_hooks_unseen_for_one_run(here: Homestead) -> None:
    here.project(on("Stop", "echo one"))
    assert commands(here.load(trust_project=True)) == ["echo one"]
    assert commands(here.load()) == []


def test_reload_judges_the_new_content_by_the_same_approvals(approved: Homestead) -> None:
    hooks = approved.load()
    approved.script(text="#!/bin/sh\n")
    assert hooks.reload() == ()
    assert commands(hooks) == []
    assert codes(hooks) == ["project-untrusted"]


# ---------------------------------------------------------------- between approval and run


def test_a_script_that_changed_between_approval_and_run_is_not_run_and_that_is_said(
    approved: Homestead,
) -> None:
    hooks = approved.load()
    approved.script(text="#!/bin/sh\ntouch ran\n")
    decision = hooks.dispatch_sync("PreToolUse", {"tool_name": "Bash"})
    assert not (approved.root / "ran").exists()
    (outcome,) = decision.handlers
    assert (outcome.status, outcome.exit_code) == ("failed", None)
    (problem,) = decision.diagnostics
    assert problem.code == "run-changed"
    assert str(approved.root / "guard.sh") in problem.message


def test_a_changed_script_keeps_its_time_and_size_and_is_still_found_out(approved: Homestead) -> None:
    script = approved.root / "guard.sh"
    before = script.stat()
    hooks = approved.load()
    assert fire(hooks) == "deny"
    script.write_text(REFUSE.replace("no", "ha"))
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert script.stat().st_size == before.st_size
    assert hooks.dispatch_sync("PreToolUse", {"tool_name": "Bash"}).diagnostics[0].code == "run-changed"


def test_a_link_that_was_re_pointed_between_approval_and_run_is_not_followed(here: Homestead) -> None:
    for name in ("a.sh", "b.sh"):
        here.script(name, REFUSE)
    (here.root / "guard.sh").symlink_to("a.sh")
    here.project(on("PreToolUse", "./guard.sh"))
    trust.grant(trust.review(here.root), always=True)
    hooks = here.load()
    (here.root / "guard.sh").unlink()
    (here.root / "guard.sh").symlink_to("b.sh")
    assert fire(hooks) is None


def test_a_guard_that_blocks_on_failure_blocks_when_it_changed(here: Homestead) -> None:
    here.script(text=REFUSE)
    here.project(on("PreToolUse", "./guard.sh", onFailure="block"))
    trust.grant(trust.review(here.root), always=True)
    hooks = here.load()
    (here.root / "guard.sh").unlink()
    decision = hooks.dispatch_sync("PreToolUse", {"tool_name": "Bash"})
    assert decision.permission == "deny"
    assert "since it was approved" in (decision.reason or "")


def test_a_command_that_the_user_configured_too_needs_no_approval(approved: Homestead) -> None:
    approved.user(on("PreToolUse", "./guard.sh"))
    hooks = approved.load()
    approved.script(text=REFUSE.replace("no", "other"))
    decision = hooks.dispatch_sync("PreToolUse", {"tool_name": "Bash"})
    assert (decision.permission, len(decision.handlers)) == ("deny", 1)


# ---------------------------------------------------------------- what a person is shown


def test_the_review_shows_event_matcher_command_covered_and_not_covered(here: Homestead) -> None:
    here.script()
    here.project(on("PreToolUse", 'sh guard.sh "$WHO"', matcher="Bash|Write"))
    words = describe(trust.review(here.root))
    for each in (
        "PreToolUse  Bash|Write",
        'sh guard.sh "$WHO"',
        "covers       guard.sh",
        'not covered  "$WHO"',
    ):
        assert each in words


def test_after_a_change_the_review_shows_a_diff(approved: Homestead) -> None:
    approved.script(text="#!/bin/sh\necho no >&2\nexit 0\n")
    approved.project(on("PreToolUse", "./guard.sh", matcher="Bash", timeout=9))
    words = describe(trust.review(approved.root))
    for line in ("-exit 2", "+exit 0", '+    "timeout": 9.0'):
        assert f"\n  {line}" in words


def test_a_large_or_binary_file_is_said_to_have_changed_without_a_diff(here: Homestead) -> None:
    script = here.script("data.bin")
    script.write_bytes(b"\0" * 300_000)
    here.project(on("Stop", "cat data.bin"))
    trust.grant(trust.review(here.root), always=True)
    script.write_bytes(b"\1" * 300_000)
    assert "data.bin changed; there is no text of both" in describe(trust.review(here.root))


def test_what_is_shown_obeys_no_terminal_escapes(here: Homestead) -> None:
    here.project(on("Stop", "echo \x1b[2J\x1b]0;owned\x07"))
    assert "\x1b" not in describe(trust.review(here.root))


@pytest.mark.parametrize("command", ["echo \ud800 | \ud800/x *\ud800", "sh x\x01y", "é⚓", "a\nb"])
def test_odd_characters_in_a_command_stop_nobody(here: Homestead, command: str) -> None:
    here.project(on("Stop", command, statusMessage="\ud800"))
    assert codes(here.load()) == ["project-untrusted"]
    describe(trust.review(here.root)).encode()
    trust.grant(trust.review(here.root), always=True)
    assert commands(here.load()) == [command]


def test_reviewing_runs_nothing(here: Homestead) -> None:
    here.project(on("Stop", 'touch "$CLAUDE_PROJECT_DIR/ran"; $(touch ran); make; npm run x'))
    trust.review(here.root)
    assert not (here.root / "ran").exists()


# ---------------------------------------------------------------- who else may write


def test_a_world_writable_script_is_refused_with_the_chmod_that_mends_it(approved: Homestead) -> None:
    script = approved.root / "guard.sh"
    script.chmod(0o777)
    hooks = approved.load()
    assert commands(hooks) == []
    assert codes(hooks) == ["file-writable", "project-untrusted"]
    assert f"chmod go-w {script}" in hooks.problems[0].message
    script.chmod(0o755)
    assert fire(approved.load()) == "deny"


def test_what_others_may_write_to_cannot_be_approved(here: Homestead) -> None:
    here.script().chmod(0o777)
    here.project(on("Stop", "./guard.sh"))
    with pytest.raises(trust.TrustError, match="chmod go-w"):
        trust.grant(trust.review(here.root), always=True)


def test_a_world_writable_hooks_file_is_refused(approved: Homestead) -> None:
    (approved.root / ".deepagents/hooks.json").chmod(0o646)
    assert codes(approved.load()) == ["file-writable", "project-untrusted"]


@pytest.mark.parametrize("folder", [".deepagents", ".", ".."])
def test_a_world_writable_folder_on_the_way_is_refused(
    approved: Homestead, folder: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = tmp_path_factory.mktemp("records") / "boathook"
    (approved.home / ".boathook").rename(records)
    approved.patch.setenv("BOATHOOK_HOME", str(records))
    (approved.root / folder).chmod(0o777)
    hooks = approved.load()
    assert codes(hooks) == ["file-writable", "project-untrusted"]
    assert "chmod go-w" in hooks.problems[0].message


def test_a_sticky_folder_on_the_way_is_as_good_as_one_of_our_own(approved: Homestead) -> None:
    approved.base.chmod(0o1777)
    assert fire(approved.load()) == "deny"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_script_of_another_user_is_refused(approved: Homestead) -> None:
    os.chown(approved.root / "guard.sh", 65533, 0)
    hooks = approved.load()
    assert codes(hooks) == ["file-writable", "project-untrusted"]
    assert "chown" in hooks.problems[0].message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to any group")
def test_a_script_that_a_group_may_write_to_is_refused_but_for_a_users_own_group(approved: Homestead) -> None:
    script = approved.root / "guard.sh"
    script.chmod(0o775)
    assert fire(approved.load()) == "deny", "the group of root's name holds root alone"
    os.chown(script, 0, 65533)
    assert codes(approved.load()) == ["file-writable", "project-untrusted"]


def test_with_the_flag_an_exposed_script_runs_and_is_warned_about(here: Homestead) -> None:
    here.script(text=REFUSE).chmod(0o777)
    here.project(on("PreToolUse", "./guard.sh"))
    hooks = here.load(trust_project=True)
    assert codes(hooks) == ["script-writable"]
    assert fire(hooks) == "deny"


# ---------------------------------------------------------------- the record


def test_a_damaged_record_never_means_trusted_and_is_never_overwritten(approved: Homestead) -> None:
    record = approved.home / ".boathook/trust.json"
    for garbage in (
        b"",
        b"{",
        b"[]",
        b'{"version": 1}',
        b'{"version": 1, "projects": []}',
        b"\xff\xfe",
        b"[" * 9000,
    ):
        record.write_bytes(garbage)
        hooks = approved.load()
        assert commands(hooks) == []
        assert codes(hooks) == ["trust-store", "project-untrusted"]
        assert f"mv {record}" in hooks.problems[0].message
        with pytest.raises(RecordError, match="left as it is"):
            trust.grant(trust.review(approved.root), always=True)
        with pytest.raises(RecordError):
            trust.revoke(approved.root)
        assert record.read_bytes() == garbage


def test_with_a_damaged_record_a_session_can_still_be_approved(approved: Homestead) -> None:
    (approved.home / ".boathook/trust.json").write_text("garbage")
    approval = trust.grant(trust.review(approved.root), always=False)
    hooks = approved.load(approved=approval)
    assert fire(hooks) == "deny"
    assert codes(hooks) == ["trust-store"]


def test_an_entry_of_the_wrong_form_approves_nothing(approved: Homestead) -> None:
    record = approved.home / ".boathook/trust.json"
    entries: tuple[object, ...] = (
        None,
        1,
        [],
        {".deepagents/hooks.json": None},
        {".deepagents/hooks.json": {"definition": "x"}},
    )
    for entry in entries:
        record.write_text(json.dumps({"version": 1, "projects": {str(approved.root): entry}}))
        assert commands(approved.load()) == []


def test_a_record_that_others_may_write_to_counts_for_nothing(approved: Homestead) -> None:
    record = approved.home / ".boathook/trust.json"
    record.chmod(0o622)
    hooks = approved.load()
    assert commands(hooks) == []
    assert f"chmod 600 {record}" in hooks.problems[0].message


@pytest.mark.parametrize("folder", [".boathook", "."])
def test_a_record_in_a_folder_that_others_may_write_to_counts_for_nothing(
    approved: Homestead, folder: str
) -> None:
    (approved.home / folder).chmod(0o777)
    hooks = approved.load()
    assert (commands(hooks), codes(hooks)) == ([], ["trust-store", "project-untrusted"])
    assert "chmod go-w" in hooks.problems[0].message


def test_a_record_of_a_later_version_is_left_alone(approved: Homestead) -> None:
    record = approved.home / ".boathook/trust.json"
    record.write_text('{"version": 2, "projects": {}}')
    assert "version 2" in approved.load().problems[0].message


def test_the_record_is_readable_by_other_tools_and_by_no_other_user(approved: Homestead) -> None:
    record = approved.home / ".boathook/trust.json"
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700
    data = json.loads(record.read_text())
    entry = data["projects"][str(approved.root)][".deepagents/hooks.json"]
    assert entry["files"]["guard.sh"]["leads_to"] == "guard.sh"


def test_the_record_is_where_the_environment_says(here: Homestead) -> None:
    here.patch.setenv("BOATHOOK_HOME", str(here.base / "elsewhere"))
    here.project(on("Stop", "echo one"))
    trust.grant(trust.review(here.root), always=True)
    assert (here.base / "elsewhere/trust.json").is_file()
    assert not (here.home / ".boathook").exists()


def test_copies_that_no_approval_names_any_more_are_dropped(approved: Homestead) -> None:
    kept = approved.home / ".boathook/approved"
    assert len(list(kept.iterdir())) == 2
    trust.revoke(approved.root)
    assert list(kept.iterdir()) == []


def test_a_copy_that_somebody_changed_is_not_shown_as_approved(approved: Homestead) -> None:
    for copy in (approved.home / ".boathook/approved").iterdir():
        copy.write_text("forged")
    approved.script(text="#!/bin/sh\n")
    assert "forged" not in describe(trust.review(approved.root))
