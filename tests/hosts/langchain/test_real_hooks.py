"""The LangChain host with real handlers: commands as people write them, in real processes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from boathook.hosts.langchain import HooksMiddleware
from boathook.session import Session
from langchain_support import (
    Bench,
    Script,
    calls,
    command,
    names,
    real_hooks,
    recorded,
    recorder,
    results,
    run,
    says,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path

BOTH = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
CONFIG = {"configurable": {"thread_id": "t"}}

GUARD = """\
case "$(cat)" in
  *'rm -rf'*) echo 'Recursive rm is blocked' >&2; exit 2;;
esac
"""


def script(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}")
    file.chmod(0o755)
    return str(file)


def printing(answer: dict[str, Any]) -> str:
    return f"echo '{json.dumps(answer)}'"


@BOTH
def test_a_whole_deepagents_session_runs_under_a_hooks_file(tmp_path: Path, mode: str) -> None:
    log, marks = tmp_path / "log", tmp_path / "stops"
    note = command(recorder(log))
    stop = script(
        tmp_path,
        "stop.sh",
        f'echo x >> {marks}\n[ $(wc -l < {marks}) -gt 2 ] || {{ echo "red" >&2; exit 2; }}\n',
    )
    events = ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure"]
    hooks = real_hooks(
        tmp_path,
        {
            **{event: [note] for event in events},
            "SessionStart": [note, command("echo 'Sprint 7'")],
            "PreToolUse": [note, command(script(tmp_path, "guard.sh", GUARD), "Bash")],
            "Stop": [note, command(stop)],
        },
    )
    turn = calls(("execute", {"command": "echo hi"}), ("execute", {"command": "rm -rf /nowhere"}))
    model = Script(turn, says("one"), says("two"), says("three"))
    agent = create_deep_agent(
        model,
        middleware=[HooksMiddleware(hooks)],
        backend=LocalShellBackend(root_dir=tmp_path, virtual_mode=False),
    )
    state = run(agent, "go", None, mode)
    assert "hi" in results(state)["c1"][1]
    assert results(state)["c2"] == ("error", "Recursive rm is blocked")
    assert "Sprint 7" in texts(model.seen[0])
    assert "red" in texts(model.seen[2])
    assert state["messages"][-1].text == "three"
    seen = names(log)
    assert seen.count("PreToolUse") == 2
    assert seen.count("PostToolUse") == 1
    assert seen.count("Stop") == 3
    assert seen[:2] == ["SessionStart", "UserPromptSubmit"]
    bash = next(entry for entry in recorded(log) if entry["hook_event_name"] == "PostToolUse")
    assert (bash["tool_name"], bash["tool_input"]["command"]) == ("Bash", "echo hi")


@BOTH
def test_real_handlers_ask_allow_and_answer_prompts(tmp_path: Path, mode: str) -> None:
    def verdict(word: str) -> str:
        return printing({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word}})

    yes = printing(
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
    )
    hooks = real_hooks(
        tmp_path,
        {
            "PreToolUse": [command(verdict("ask"), "play"), command(verdict("allow"), "work")],
            "PermissionRequest": [command(yes, "other")],
        },
    )
    bench = Bench()

    @tool
    def other() -> str:
        """Do."""
        bench.ran.append("other")
        return "ok"

    turn = calls(("work", {"what": "a"}), ("play", {"what": "b"}), ("other", {}))
    agent: Any = create_agent(
        Script(turn, says()),
        [*bench.tools, other],
        middleware=[HooksMiddleware(hooks, gated=["work", "other"])],
        checkpointer=InMemorySaver(),
    )
    state = run(agent, "go", CONFIG, mode)
    assert [r["name"] for r in state["__interrupt__"][0].value["action_requests"]] == ["play"]
    run(agent, Command(resume={"decisions": [{"type": "approve"}]}), CONFIG, mode)
    assert sorted(bench.ran) == ["a", "b", "other"]


@BOTH
def test_real_handlers_say_continue_false_after_a_tool(tmp_path: Path, mode: str) -> None:
    hooks = real_hooks(
        tmp_path, {"PostToolUse": [command(printing({"continue": False, "stopReason": "budget"}))]}
    )
    model = Script(calls(("work", {"what": "a"})), says("never"))
    agent = create_agent(model, Bench().tools, middleware=[HooksMiddleware(hooks)])
    state = run(agent, "go", None, mode)
    assert len(model.seen) == 1
    assert state["hooks_stopped"] == {"event": "PostToolUse", "reason": "budget"}


@BOTH
def test_a_real_handler_refuses_a_prompt_and_a_compaction(tmp_path: Path, mode: str) -> None:
    from langchain.agents.middleware import SummarizationMiddleware

    guard = script(tmp_path, "prompt.sh", 'case "$(cat)" in *secret*) echo "no secrets" >&2; exit 2;; esac\n')
    log = tmp_path / "log"
    hooks = real_hooks(
        tmp_path,
        {
            "UserPromptSubmit": [command(guard)],
            "PreCompact": [command(recorder(log)), command("echo 'keep it' >&2; exit 2")],
        },
    )
    model = Script(says("a"), says("b"))
    summary: Any = SummarizationMiddleware(
        model=model, trigger=("messages", 3), keep=("messages", 1), summarizer=lambda messages: "SUMMARY"
    )
    agent: Any = create_agent(
        model, middleware=[HooksMiddleware(hooks), summary], checkpointer=InMemorySaver()
    )
    state = run(agent, "a secret", CONFIG, mode)
    assert (model.seen, state["messages"][-1].text) == ([], "no secrets")
    run(agent, "first", CONFIG, mode)
    run(agent, "second", CONFIG, mode)
    assert names(log) == ["PreCompact"]
    assert "first" in texts(model.seen[-1])


@BOTH
def test_real_handlers_hear_of_a_subagent_and_give_it_context(tmp_path: Path, mode: str) -> None:
    log = tmp_path / "log"
    note = command(recorder(log))

    def context(event: str, text: str) -> dict[str, Any]:
        return command(printing({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))

    hooks = real_hooks(
        tmp_path,
        {
            "SubagentStart": [note, context("SubagentStart", "use tabs")],
            "SubagentStop": [note, context("SubagentStop", "was checked")],
            "PreToolUse": [note],
        },
    )
    turn = calls(("task", {"subagent_type": "general-purpose", "description": "sub: look"}))
    model = Script(turn, says(), lanes={"sub:": [calls(("ls", {"path": "/"})), says("looked")]})
    run(create_deep_agent(model, middleware=[HooksMiddleware(hooks)]), "go", None, mode)
    assert names(log) == ["PreToolUse", "SubagentStart", "PreToolUse", "SubagentStop"]
    assert len({entry.get("agent_id") for entry in recorded(log)[1:]}) == 1
    assert "use tabs" in texts(model.seen[1])
    assert "was checked" in texts(model.seen[-1])


@BOTH
def test_a_list_shaped_file_hears_everything_in_order(tmp_path: Path, mode: str) -> None:
    import shlex

    log = tmp_path / "log"
    hooks = real_hooks(tmp_path, [{"command": shlex.split(recorder(log))}])
    agent = create_agent(
        Script(calls(("work", {"what": "a"})), says()), Bench().tools, middleware=[HooksMiddleware(hooks)]
    )
    run(agent, "go", None, mode)
    assert hooks.drain_sync(10)
    seen = names(log)
    assert sorted(seen) == ["session.start", "task.complete", "tool.result", "tool.use", "user.prompt"]
    assert [name for name in seen if not name.startswith("tool.")] == [
        "session.start",
        "user.prompt",
        "task.complete",
    ]


@BOTH
def test_broken_handlers_never_bring_the_agent_down(tmp_path: Path, mode: str) -> None:
    broken = [command("kill -9 $$"), command("/no/such/program"), command("echo '{'"), command("exit 7")]
    events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"]
    hooks = real_hooks(tmp_path, dict.fromkeys(events, broken))
    bench = Bench()
    middleware = HooksMiddleware(hooks, gated=["work"], approval="allow")
    agent = create_agent(
        Script(calls(("work", {"what": "a"})), says("fine")), bench.tools, middleware=[middleware]
    )
    state = run(agent, "go", None, mode)
    assert bench.ran == ["a"]
    assert state["messages"][-1].text == "fine"


@BOTH
def test_a_session_object_can_stand_in_for_the_hooks(tmp_path: Path, mode: str) -> None:
    log = tmp_path / "log"
    events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]
    hooks = real_hooks(tmp_path, {event: [command(recorder(log))] for event in events})
    with Session(hooks, session_id="mine") as session:
        middleware = HooksMiddleware(session, session_id="mine")
        agent = create_agent(
            Script(calls(("work", {"what": "a"})), says()), Bench().tools, middleware=[middleware]
        )
        run(agent, "go", None, mode)
    assert names(log) == events
    prompts = {entry.get("prompt_id") for entry in recorded(log)[1:-1]}
    assert len(prompts) == 1
    assert {entry["session_id"] for entry in recorded(log)} == {"mine"}


def test_the_event_loop_does_not_stall_while_a_handler_runs(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    import os

    os.mkfifo(fifo)
    hooks = real_hooks(tmp_path, {"PreToolUse": [command(f"cat {fifo}")]})
    agent: Any = create_agent(
        Script(calls(("work", {"what": "a"})), says()), Bench().tools, middleware=[HooksMiddleware(hooks)]
    )

    async def story() -> None:
        task = asyncio.ensure_future(agent.ainvoke({"messages": [("user", "go")]}))
        # The handler waits for a writer, and only this loop can become one.
        deadline = time.monotonic() + 30
        while True:
            try:
                os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
                break
            except OSError:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
        await task

    asyncio.run(story())


def test_cancelling_a_run_kills_its_handlers_and_tells_them_of_the_call(tmp_path: Path) -> None:
    log = tmp_path / "log"
    hooks = real_hooks(tmp_path, {"PostToolUseFailure": [command(recorder(log))]})

    async def story() -> None:
        begun = threading.Event()

        @tool
        async def wait() -> str:
            """Wait."""
            begun.set()
            await asyncio.Event().wait()
            return "never"

        agent: Any = create_agent(Script(calls(("wait", {}))), [wait], middleware=[HooksMiddleware(hooks)])
        task = asyncio.ensure_future(agent.ainvoke({"messages": [("user", "go")]}))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    (entry,) = recorded(log)
    assert entry["is_interrupt"] is True
