"""Claude Code's settings, run as they are: real files in a home of their own, real commands."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from homestead import Homestead, codes, on, write

if TYPE_CHECKING:
    from pathlib import Path

    from boathook import Hooks
    from boathook.terms.decision import Decision

RM = {"tool_name": "execute", "tool_input": {"command": "rm -rf build"}, "tool_use_id": "t1"}
LS = {"tool_name": "execute", "tool_input": {"command": "ls"}, "tool_use_id": "t2"}


class Settings(Homestead):
    """A home and a project with settings for Claude Code."""

    def of_user(self, hooks: object, name: str = "settings.json", **more: object) -> Path:
        return write(self.home / ".claude" / name, hooks, **more)

    def of_project(self, hooks: object, name: str = "settings.json", **more: object) -> Path:
        return write(self.root / ".claude" / name, hooks, **more)

    def loaded(self, **options: Any) -> Hooks:
        return self.load(compat=["claude"], **options)

    def fire(self, event: str, payload: dict[str, Any] | None = None, **options: Any) -> Decision:
        return self.loaded(**options).dispatch_sync(event, payload or {})

    def told(self) -> dict[str, Any]:
        """What a handler heard that wrote it to a file."""
        told: dict[str, Any] = json.loads((self.root / "told.json").read_text())
        return told


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr("boathook.dialects.claude.managed_folder", lambda: tmp_path / "managed")
    return Settings(tmp_path, monkeypatch)


def says(reply: object, code: int = 0, stderr: str = "") -> str:
    """A command that answers so."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return f"printf %s {quoted(text)}; printf %s {quoted(stderr)} >&2; exit {code}"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def test_a_users_settings_guard_a_call_unchanged(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "echo no >&2; exit 2", matcher="Bash"), permissions={"deny": []})
    decision = settings.fire("PreToolUse", RM)
    assert (decision.permission, decision.reason, decision.diagnostics) == ("deny", "no", ())


def test_without_being_asked_for_no_other_agents_file_is_read(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "exit 2"))
    assert settings.load().snapshot.handlers == ()


def test_the_snapshot_covers_what_stands_in_the_settings(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "exit 2", **{"if": "Bash(rm *)"}))
    before = settings.loaded().snapshot.id
    assert settings.loaded().snapshot.id == before
    settings.of_user(on("PreToolUse", "exit 2", **{"if": "Bash(ls *)"}))
    assert settings.loaded().snapshot.id != before
    assert settings.load().snapshot.id != before


def test_a_handler_hears_claudes_names_and_finds_its_variables(settings: Settings) -> None:
    settings.of_user(
        on("PreToolUse", 'cat > told.json; echo "$CLAUDE_PROJECT_DIR $CLAUDECODE" > seen', matcher="Agent")
    )
    arguments = {"description": "look it up", "subagent_type": "reader"}
    settings.fire("PreToolUse", {"tool_name": "task", "tool_input": arguments, "tool_use_id": "t"})
    told = settings.told()
    assert told["hook_event_name"] == "PreToolUse"
    assert (told["tool_name"], told["tool_input"]) == (
        "Agent",
        {"prompt": "look it up", "subagent_type": "reader"},
    )
    assert (settings.root / "seen").read_text().split() == [str(settings.root), "1"]


def test_an_old_name_of_a_tool_is_matched_too(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "exit 2", matcher="Task"))
    assert settings.fire("PreToolUse", {"tool_name": "task", "tool_input": {}}).permission == "deny"


def test_paths_are_absolute_and_a_shells_result_has_its_shape(settings: Settings) -> None:
    settings.of_user({**on("PreToolUse", "cat > told.json"), **on("PostToolUse", "cat > told.json")})
    settings.fire("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a/../b.py"}, "cwd": "/w"})
    assert settings.told()["tool_input"]["file_path"] == "/w/b.py"
    settings.fire("PostToolUse", {**LS, "tool_response": "a b"})
    assert settings.told()["tool_response"]["stdout"] == "a b"


def test_one_moment_serves_handlers_of_both_forms(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", says({"hookSpecificOutput": {"additionalContext": "theirs"}})))
    settings.user(on("PreToolUse", says({"hookSpecificOutput": {"additionalContext": "ours"}})))
    assert sorted(settings.fire("PreToolUse", LS).context) == ["ours", "theirs"]


# ---------------------------------------------------------------------- what it says


def test_exit_2_blocks_whatever_the_json_says_and_its_other_fields_count(settings: Settings) -> None:
    reply = {
        "systemMessage": "seen",
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "additionalContext": "more",
        },
    }
    settings.of_user(on("PreToolUse", says(reply, 2, "from stderr")))
    decision = settings.fire("PreToolUse", RM)
    assert (decision.permission, decision.reason) == ("deny", "from stderr")
    assert (decision.context, decision.notices) == (("more",), ("seen",))
    assert decision.handlers[0].exit_code == 2


def test_on_exit_2_the_jsons_own_reason_goes_before_stderr(settings: Settings) -> None:
    inner = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "own"}
    settings.of_user(on("PreToolUse", says({"hookSpecificOutput": inner}, 2, "from stderr")))
    assert settings.fire("PreToolUse", RM).reason == "own"
    settings.of_user(on("UserPromptSubmit", says({"decision": "block", "reason": "own"}, 2, "stderr")))
    assert settings.fire("UserPromptSubmit", {"prompt": "x"}).reason == "own"


def test_with_an_odd_exit_status_json_alone_decides(settings: Settings) -> None:
    inner = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}
    settings.of_user(on("PreToolUse", says({"hookSpecificOutput": inner}, 1)))
    decision = settings.fire("PreToolUse", RM)
    assert (decision.permission, decision.handlers[0].exit_code, decision.diagnostics) == ("deny", 1, ())


def test_with_an_odd_exit_status_and_no_json_the_agent_goes_on(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", says("oops", 1)))
    decision = settings.fire("PreToolUse", RM)
    assert (decision.permission, [each.code for each in decision.diagnostics]) == (None, ["run-exit"])


def test_a_failure_blocks_where_the_handler_says_so(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "exit 1", onFailure="block"))
    assert settings.fire("PreToolUse", RM).permission == "deny"


def test_on_a_permission_request_exit_2_says_nothing_and_json_decides(settings: Settings) -> None:
    settings.of_user(on("PermissionRequest", says("", 2, "no")))
    decision = settings.fire("PermissionRequest", RM)
    assert (decision.permission, [each.code for each in decision.diagnostics]) == (
        None,
        ["answer-cannot-block"],
    )
    inner = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no"}}
    settings.of_user(on("PermissionRequest", says({"hookSpecificOutput": inner}, 2)))
    assert settings.fire("PermissionRequest", RM).permission == "deny"


def test_context_keeps_a_turn_going(settings: Settings) -> None:
    inner = {"hookEventName": "Stop", "additionalContext": "run the tests"}
    settings.of_user(on("Stop", says({"hookSpecificOutput": inner})))
    decision = settings.fire("Stop", {"stop_hook_active": False})
    assert (decision.block, decision.feedback) == (True, ("run the tests",))


@pytest.mark.parametrize(
    ("event", "printed", "context"),
    [
        ("SessionStart", "banner", ("banner",)),
        ("UserPromptSubmit", 'banner {"a": 1}', ('banner {"a": 1}',)),
        ("PostToolUse", "formatted {3} files", ()),
    ],
)
def test_text_is_context_where_it_is_there_and_else_no_complaint(
    settings: Settings, event: str, printed: str, context: tuple[str, ...]
) -> None:
    settings.of_user(on(event, says(printed)))
    decision = settings.fire(event, {**LS, "source": "startup", "prompt": "x", "tool_response": ""})
    assert (decision.context, decision.diagnostics) == (context, ())


def test_a_decision_behind_a_banner_is_lost_as_there_and_that_is_said(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", says('hello {"decision": "block"}')))
    decision = settings.fire("PreToolUse", RM)
    assert (decision.permission, [each.code for each in decision.diagnostics]) == (None, ["answer-mixed"])


def test_suppressing_output_has_no_effect_and_some_events_discard_a_stop(settings: Settings) -> None:
    reply = {"suppressOutput": True, "systemMessage": "told", "continue": False}
    settings.of_user({**on("PostToolUse", says(reply)), **on("Notification", says(reply))})
    decision = settings.fire("PostToolUse", {**LS, "tool_response": ""})
    assert (decision.notices, decision.continue_) == (("told",), False)
    decision = settings.fire("Notification", {"message": "m", "notification_type": "idle_prompt"})
    assert (decision.notices, decision.continue_) == ((), True)


# ---------------------------------------------------------------------- when it runs


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("git push", True),
        ("cd /tmp && git push origin", True),
        ("git status", False),
        ("echo $(git push)", True),
        ("echo 'unclosed", True),
    ],
)
def test_an_if_decides_by_the_command_line(settings: Settings, command: str, *, runs: bool) -> None:
    settings.of_user(on("PreToolUse", "exit 2", matcher="Bash", **{"if": "Bash(git push *)"}))
    decision = settings.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}})
    assert (decision.permission == "deny") is runs


def test_an_if_that_is_no_rule_is_an_error_and_the_guard_runs_but_allows_nothing(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "exit 2", **{"if": "Bash(rm *) && Edit"}))
    hooks = settings.loaded()
    assert codes(hooks) == ["condition-invalid"]
    assert hooks.dispatch_sync("PreToolUse", LS).permission == "deny"
    inner = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    settings.of_user(on("PreToolUse", says({"hookSpecificOutput": inner}), **{"if": "Bash("}))
    decision = settings.fire("PreToolUse", LS)
    assert (decision.permission, [each.code for each in decision.diagnostics]) == (None, ["answer-void"])


def test_an_if_on_an_event_without_a_tool_keeps_its_handler_from_running_and_that_is_said(
    settings: Settings,
) -> None:
    settings.of_user(on("Stop", "exit 2", **{"if": "Bash"}))
    hooks = settings.loaded()
    assert (codes(hooks), hooks.snapshot.handlers) == (["condition-unused"], ())


def test_arguments_make_a_command_that_no_shell_reads(settings: Settings) -> None:
    args = ["-c", 'printf %s "$1" > seen', "sh", "${CLAUDE_PROJECT_DIR}/$(x) ;y"]
    group = {"hooks": [{"type": "command", "command": "/bin/sh", "args": args}]}
    settings.of_user({"PreToolUse": [group]})
    settings.fire("PreToolUse", LS)
    assert (settings.root / "seen").read_text() == f"{settings.root.resolve()}/$(x) ;y"


def test_a_matcher_where_nothing_is_compared_is_ignored_as_there(settings: Settings) -> None:
    settings.of_user(on("Stop", "echo more >&2; exit 2", matcher="Bash"))
    hooks = settings.loaded()
    assert codes(hooks) == ["dialect-note"]
    assert hooks.dispatch_sync("Stop", {}).block


@pytest.mark.parametrize(
    ("event", "asked", "seconds"),
    [
        ("PreToolUse", None, 600),
        ("UserPromptSubmit", None, 30),
        ("SessionEnd", None, 1.5),
        ("SessionEnd", 90, 60),
        ("Stop", 5, 5),
    ],
)
def test_timeouts_are_seconds_with_claudes_defaults(
    settings: Settings, event: str, asked: float | None, seconds: float
) -> None:
    fields: dict[str, Any] = {} if asked is None else {"timeout": asked}
    settings.of_user(on(event, "true", **fields))
    (handler,) = settings.loaded().snapshot.handlers
    assert handler.timeout == seconds


def test_a_handler_in_the_background_is_not_waited_for_and_decides_nothing(settings: Settings) -> None:
    fields: dict[str, Any] = {"async": True}
    settings.of_user(on("PreToolUse", "read line < gate; cat > told.json; exit 2", **fields))
    os.mkfifo(settings.root / "gate")
    hooks = settings.loaded()
    decision = hooks.dispatch_sync("PreToolUse", RM)
    assert (decision.permission, decision.handlers) == (None, ())
    (settings.root / "gate").write_text("go\n")
    assert hooks.drain_background(30)
    assert settings.told()["tool_name"] == "Bash"


# ---------------------------------------------------------------------- what is lost


@pytest.mark.parametrize(
    ("hooks", "code"),
    [
        (on("TaskCreated", "true"), "dialect-guard"),
        (on("PostCompact", "true"), "dialect-entry"),
        (on("PreTolUse", "true"), "event-unknown"),
        ({"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "ok?"}]}]}, "dialect-guard"),
        ({"SessionStart": [{"hooks": [{"type": "http", "url": "http://x"}]}]}, "dialect-entry"),
        ({"Stop": [{"hooks": [{"type": "magic"}]}]}, "handler-kind"),
        (on("Stop", "true", shell="powershell"), "dialect-guard"),
        (on("PreToolUse", "true", matcher="Bash("), "matcher-invalid"),
    ],
)
def test_what_cannot_be_carried_over_is_named_with_its_place(
    settings: Settings, hooks: dict[str, Any], code: str
) -> None:
    path = settings.of_user(hooks)
    loaded = settings.loaded()
    (problem,) = loaded.problems
    assert (problem.code, problem.file, problem.line) == (code, str(path), 1)
    assert problem.pointer is not None
    assert problem.column is not None
    assert loaded.snapshot.handlers == ()


def test_fields_that_mean_nothing_here_are_named_and_the_handler_runs(settings: Settings) -> None:
    settings.of_user(on("Stop", "true", once=True, asyncRewake=True, colour="red"))
    hooks = settings.loaded()
    assert sorted(codes(hooks)) == ["dialect-field", "dialect-note", "key-unknown"]
    assert len(hooks.snapshot.handlers) == 1


# ---------------------------------------------------------------------- whose files


def test_files_come_in_the_order_of_their_scopes(settings: Settings) -> None:
    write(settings.base / "managed/managed-settings.json", on("Stop", "1"))
    write(settings.base / "managed/managed-settings.d/10.json", on("Stop", "2"))
    settings.of_project(on("Stop", "3"))
    settings.of_project(on("Stop", "4"), "settings.local.json")
    settings.of_user(on("Stop", "5"))
    settings.of_user(on("Stop", "6"), "settings.local.json")
    hooks = settings.loaded(trust_project=True)
    assert [handler.shown for handler in hooks.snapshot.handlers] == list("123456")


def test_the_users_folder_may_lie_elsewhere(settings: Settings) -> None:
    settings.patch.setenv("CLAUDE_CONFIG_DIR", str(settings.base / "elsewhere"))
    write(settings.base / "elsewhere/settings.json", on("Stop", "here"))
    settings.of_user(on("Stop", "not here"))
    assert [handler.shown for handler in settings.loaded().snapshot.handlers] == ["here"]


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_projects_settings_load_only_once_they_were_approved(settings: Settings, name: str) -> None:
    from boathook.config import trust
    from boathook.loading import project_documents

    script = settings.script(".claude/hooks/guard.sh", "#!/bin/sh\nexit 2\n")
    settings.of_project(on("PreToolUse", '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'), name)
    hooks = settings.loaded()
    assert (codes(hooks), hooks.snapshot.handlers) == (["project-untrusted"], ())
    assert "--from claude" in hooks.problems[0].message
    review = trust.review(settings.root, project_documents(settings.root, ["claude"]))
    trust.grant(review, always=True)
    assert settings.fire("PreToolUse", RM).permission == "deny"
    script.write_text("#!/bin/sh\nexit 0\n")
    assert codes(settings.loaded()) == ["project-untrusted"]


def test_settings_of_the_home_folder_are_the_users_own_even_where_it_is_the_project(
    settings: Settings,
) -> None:
    settings.of_user(on("Stop", "own"))
    from boathook import Hooks

    hooks = Hooks.load(project=settings.home, compat=["claude"])
    assert [handler.scope for handler in hooks.snapshot.handlers] == ["user"]


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("managed", []),
        ("user", ["managed"]),
        ("project", ["managed", "user"]),
    ],
)
def test_a_switch_turns_off_what_its_scope_may(settings: Settings, scope: str, left: list[str]) -> None:
    off: dict[str, dict[str, Any]] = {
        each: {"disableAllHooks": True} if each == scope else {} for each in ("managed", "user", "project")
    }
    write(settings.base / "managed/managed-settings.json", on("Stop", "m"), **off["managed"])
    settings.of_user(on("Stop", "u"), **off["user"])
    settings.of_project(on("Stop", "p"), **off["project"])
    hooks = settings.loaded(trust_project=True)
    assert [handler.scope for handler in hooks.snapshot.handlers] == left


def test_an_operators_settings_can_keep_out_all_others(settings: Settings) -> None:
    write(settings.base / "managed/managed-settings.json", on("Stop", "m"), allowManagedHooksOnly=True)
    settings.of_user(on("Stop", "u"))
    settings.user(on("Stop", "own"))
    assert [handler.shown for handler in settings.loaded().snapshot.handlers] == ["m"]


@pytest.mark.parametrize("value", [True, ["hooks"], ["agents", "hooks"]])
def test_an_operators_settings_can_leave_hooks_to_plugins(settings: Settings, value: object) -> None:
    write(settings.base / "managed/managed-settings.json", {}, strictPluginOnlyCustomization=value)
    settings.of_user(on("Stop", "u"))
    settings.user(on("Stop", "own"))
    hooks = settings.loaded()
    assert [handler.shown for handler in hooks.snapshot.handlers] == ["own"]
    assert "strictPluginOnlyCustomization" in hooks.snapshot.skipped[0].words


def test_the_same_handler_in_several_files_runs_once(settings: Settings) -> None:
    for hooks in (on("Stop", "echo x >> ran"), on("Stop", "echo x >> ran")):
        settings.of_user(hooks)
        settings.of_project(hooks)
        settings.of_project(hooks, "settings.local.json")
    assert len(settings.loaded(trust_project=True).snapshot.handlers) == 3
    settings.fire("Stop", trust_project=True)
    assert (settings.root / "ran").read_text() == "x\n"


def test_a_reload_reads_the_agents_files_again(settings: Settings) -> None:
    settings.of_user(on("Stop", "before"))
    hooks = settings.loaded()
    settings.of_user(on("Stop", "after"))
    assert hooks.reload() == ()
    assert [handler.shown for handler in hooks.snapshot.handlers] == ["after"]


def test_a_project_cannot_switch_off_what_stands_in_the_users_settings(settings: Settings) -> None:
    settings.of_user(on("PreToolUse", "exit 2"))
    settings.of_project({}, disableAllHooks=True)
    settings.of_project({}, "settings.local.json", disableAllHooks=True)
    assert settings.fire("PreToolUse", RM, trust_project=True).permission == "deny"


def test_settings_that_others_may_write_to_are_refused(settings: Settings) -> None:
    from boathook import ConfigError

    settings.of_user(on("Stop", "true")).chmod(0o666)
    with pytest.raises(ConfigError, match="chmod"):
        settings.loaded()


def test_a_broken_file_is_an_error_with_its_line(settings: Settings) -> None:
    from boathook import ConfigError

    path = settings.of_user({})
    path.write_text('{\n  // no\n  "hooks": {}}')
    with pytest.raises(ConfigError, match=r"settings\.json:2:3: .*file-syntax"):
        settings.loaded()


def test_a_given_file_is_read_in_the_form_that_is_named(settings: Settings) -> None:
    path = write(settings.base / "some.json", on("PreToolUse", "exit 2", **{"if": "Bash(rm *)"}))
    assert settings.fire("PreToolUse", RM, files=[path]).permission == "deny"
    assert settings.fire("PreToolUse", LS, files=[path]).permission is None


def test_a_file_that_changes_while_a_session_runs_is_noticed(settings: Settings) -> None:
    settings.patch.setattr("boathook.config.watch.INTERVAL", 0.0)
    settings.of_user(on("Stop", "true"))
    hooks = settings.loaded()
    settings.of_project(on("Stop", "another"))
    assert [each.code for each in hooks.dispatch_sync("Stop", {}).diagnostics] == ["config-changed"]
