"""Subagents: guarded without anything to remember, started and stopped with their own moments."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import (
    Bench,
    FakeHooks,
    Script,
    calls,
    denied,
    on_tool,
    results,
    run,
    says,
    texts,
)

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

BOTH = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
CONFIG = {"configurable": {"thread_id": "t"}}
SCOUT: Any = {"name": "scout", "description": "Looks around.", "system_prompt": "Look."}


def task(kind: str, text: str = "sub: look") -> tuple[str, dict[str, Any]]:
    return "task", {"subagent_type": kind, "description": text}


def deep(
    hooks: FakeHooks, *turns: Any, sub: list[Any], specs: Any = (), **kwargs: Any
) -> tuple[Any, Bench, Script]:
    bench, model = Bench(), Script(*turns, lanes={"sub:": sub})
    own = kwargs.pop("interrupt_on", None)
    middleware = HooksMiddleware(hooks, **kwargs)
    agent = create_deep_agent(
        model,
        bench.tools,
        middleware=[middleware],
        subagents=specs(middleware, bench) if callable(specs) else list(specs),
        checkpointer=InMemorySaver(),
        interrupt_on=own,
    )
    return agent, bench, model


@BOTH
@pytest.mark.parametrize(
    ("kind", "specs"),
    [
        ("general-purpose", ()),
        ("scout", [SCOUT]),
        ("scout", lambda ours, bench: ours.subagents([SCOUT])),
        ("scout", lambda ours, bench: [{**SCOUT, "middleware": [ours]}]),
        ("general-purpose", lambda ours, bench: ours.subagents()),
    ],
    ids=["default", "declared", "helper", "by-hand", "helper-default"],
)
def test_the_guard_runs_inside_a_subagent_with_its_name(mode: str, kind: str, specs: Any) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("work", denied("not you either")))
    agent, bench, model = deep(
        hooks, calls(task(kind)), says(), sub=[calls(("work", {"what": "a"})), says("looked")], specs=specs
    )
    run(agent, "go", CONFIG, mode)
    assert bench.ran == []
    outer, inner = hooks.of("PreToolUse")
    assert "agent_id" not in outer
    assert (inner["tool_name"], inner["agent_type"]) == ("work", kind)
    (start,), (stop,) = hooks.of("SubagentStart"), hooks.of("SubagentStop")
    assert start["agent_id"] == stop["agent_id"] == inner["agent_id"]
    assert start["agent_type"] == stop["agent_type"] == kind
    assert stop["last_assistant_message"] == "looked"
    assert inner["session_id"] == "t"
    assert inner["prompt_id"] == outer["prompt_id"]
    assert any("not you either" in texts(seen) for seen in model.seen)
    assert len(hooks.of("SessionStart")) == len(hooks.of("UserPromptSubmit")) == len(hooks.of("Stop")) == 1


@BOTH
def test_context_of_the_start_reaches_the_subagent_and_of_the_stop_the_parent(mode: str) -> None:
    hooks = FakeHooks(SubagentStart={"context": ("use tabs",)}, SubagentStop={"context": ("checked by ci",)})
    agent, _, model = deep(hooks, calls(task("general-purpose")), says(), sub=[says("looked")])
    run(agent, "go", CONFIG, mode)
    first, sub, last = model.seen
    assert "use tabs" in texts(sub)
    assert "use tabs" not in texts(first) + texts(last)
    assert str(last[-1].text) == "looked\n\nchecked by ci"


@BOTH
def test_parallel_subagents_keep_their_ids_apart(mode: str) -> None:
    hooks = FakeHooks()
    turn = calls(task("general-purpose", "sub: one"), task("scout", "sub: two"))
    model = Script(
        turn,
        says(),
        lanes={
            "sub: one": [calls(("work", {"what": "one"})), says()],
            "sub: two": [calls(("work", {"what": "two"})), says()],
        },
    )
    bench = Bench()
    agent = create_deep_agent(model, bench.tools, middleware=[HooksMiddleware(hooks)], subagents=[SCOUT])
    run(agent, "go", None, mode)
    assert sorted(bench.ran) == ["one", "two"]
    kinds = {payload["agent_id"]: payload["agent_type"] for payload in hooks.of("SubagentStart")}
    for payload in hooks.of("PreToolUse"):
        if payload["tool_name"] == "work":
            expected = "general-purpose" if payload["tool_input"]["what"] == "one" else "scout"
            assert kinds[payload["agent_id"]] == expected


@BOTH
def test_a_delegation_that_is_denied_starts_no_subagent(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("task", denied()))
    agent, _, model = deep(hooks, calls(task("general-purpose")), says(), sub=[says("never")])
    state = run(agent, "go", CONFIG, mode)
    assert results(state)["c1"] == ("error", "not here")
    assert hooks.of("SubagentStart") == hooks.of("SubagentStop") == []
    assert len(model.seen) == 2


@BOTH
def test_a_prompt_inside_a_subagent_is_shown_and_resumed_without_repeating_anything(mode: str) -> None:
    hooks = FakeHooks()
    agent, bench, _ = deep(
        hooks,
        calls(task("general-purpose")),
        says(),
        sub=[calls(("work", {"what": "a"})), says("ok")],
        gated=["work"],
    )
    state = run(agent, "go", CONFIG, mode)
    assert [r["name"] for r in state["__interrupt__"][0].value["action_requests"]] == ["work"]
    assert hooks.of("SubagentStop") == []
    run(agent, Command(resume={"decisions": [{"type": "approve"}]}), CONFIG, mode)
    assert bench.ran == ["a"]
    for event, count in {
        "SubagentStart": 1,
        "SubagentStop": 1,
        "PreToolUse": 2,
        "PostToolUse": 2,
        "tool.use": 2,
    }.items():
        assert len(hooks.of(event)) == count, event
    assert len({payload["agent_id"] for _, payload in hooks.moments if "agent_id" in payload}) == 1


@BOTH
def test_interrupt_on_and_a_hooks_verdict_agree_inside_subagents(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("work", denied()))
    agent, bench, _ = deep(
        hooks,
        calls(task("general-purpose")),
        says(),
        sub=[calls(("work", {"what": "a"}), ("play", {"what": "b"})), says("ok")],
        interrupt_on={"work": True, "play": True},
    )
    state = run(agent, "go", CONFIG, mode)
    assert [r["name"] for r in state["__interrupt__"][0].value["action_requests"]] == ["play"]
    run(agent, Command(resume={"decisions": [{"type": "approve"}]}), CONFIG, mode)
    assert bench.ran == ["b"]


@BOTH
def test_a_stop_inside_a_subagent_ends_the_whole_run(mode: str) -> None:
    stop = {"continue_": False, "stop_reason": "halt", "permission": "deny", "block": True}
    hooks = FakeHooks(PreToolUse=on_tool("work", stop))
    agent, bench, model = deep(
        hooks, calls(task("general-purpose")), says("no"), sub=[calls(("work", {"what": "a"})), says("no")]
    )
    state = run(agent, "go", CONFIG, mode)
    assert bench.ran == []
    assert len(model.seen) == 2
    assert state["hooks_stopped"]["reason"] == "halt"
    assert state["messages"][-1].text == "halt"
    assert "Stop" not in hooks.events


def compiled(model: Any, bench: Bench, *middleware: Any) -> list[Any]:
    graph = create_agent(model, bench.tools, middleware=list(middleware))
    return [{"name": "opaque", "description": "Compiled.", "runnable": graph}]


@BOTH
def test_a_compiled_subagent_is_told_of_loudly_and_runs(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    hooks, sub = FakeHooks(), Script(calls(("work", {"what": "a"})), says("did"))
    agent, bench, _ = deep(
        hooks, calls(task("opaque")), says(), sub=[], specs=lambda ours, bench: compiled(sub, bench)
    )
    with caplog.at_level(logging.WARNING, "boathook"):
        run(agent, "go", CONFIG, mode)
    assert [r for r in caplog.records if "'opaque' is compiled already" in r.getMessage()]
    assert bench.ran == ["a"]
    assert len(hooks.of("SubagentStart")) == len(hooks.of("SubagentStop")) == 1


@BOTH
def test_a_compiled_subagent_can_be_refused(mode: str) -> None:
    agent, bench, _ = deep(
        FakeHooks(),
        calls(task("opaque")),
        says(),
        sub=[],
        specs=lambda ours, bench: compiled(Script(calls(("work", {"what": "a"}))), bench),
        unguarded_subagents="refuse",
    )
    state = run(agent, "go", CONFIG, mode)
    assert bench.ran == []
    assert results(state)["c1"][0] == "error"


@BOTH
def test_a_compiled_subagent_with_the_middleware_in_it_is_guarded(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("work", denied()))
    sub = Script(calls(("work", {"what": "a"})), says("did"))
    agent, bench, _ = deep(
        hooks, calls(task("opaque")), says(), sub=[], specs=lambda ours, bench: compiled(sub, bench, ours)
    )
    with caplog.at_level(logging.WARNING, "boathook"):
        run(agent, "go", CONFIG, mode)
    assert not caplog.records
    assert bench.ran == []
    assert hooks.of("PreToolUse")[1]["agent_type"] == "opaque"


@BOTH
@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
def test_a_forked_subagent_is_guarded(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("work", denied()))
    bench = Bench()

    def turn(messages: list[Any]) -> AIMessage:
        if "your actual task" in texts(messages).lower() and messages[-1].type != "tool":
            return calls(("work", {"what": "a"}), first=5)
        return says("over")

    model = Script(calls(task("twin")), turn, turn, turn)
    twin: Any = {"name": "twin", "description": "Goes on.", "mode": "fork"}
    agent = create_deep_agent(model, bench.tools, middleware=[HooksMiddleware(hooks)], subagents=[twin])
    run(agent, "go", None, mode)
    assert bench.ran == []
    inner = hooks.of("PreToolUse")[-1]
    assert (inner["tool_name"], inner["agent_type"]) == ("work", "twin")
    assert len(hooks.of("Stop")) == len(hooks.of("SessionStart")) == 1


@BOTH
def test_subagents_are_guarded_even_where_the_graph_cannot_be_seen(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boathook.hosts.langchain.graph.running_nodes", dict)
    hooks = FakeHooks(PreToolUse=on_tool("work", denied()))
    agent, bench, _ = deep(
        hooks, calls(task("general-purpose")), says(), sub=[calls(("work", {"what": "a"})), says()]
    )
    run(agent, "go", CONFIG, mode)
    assert bench.ran == []


@BOTH
def test_a_task_tool_of_an_unknown_make_is_told_of_and_can_be_refused(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    from langchain_core.tools import tool

    ran: list[str] = []

    @tool("task")
    def own_task(subagent_type: str, description: str) -> str:
        """Delegate."""
        ran.append(subagent_type)
        return "done by another"

    for choice, expected in (("warn", ["x"]), ("refuse", [])):
        ran.clear()
        caplog.clear()
        guard = HooksMiddleware(FakeHooks(), unguarded_subagents=choice)  # type: ignore[arg-type]
        agent = create_agent(Script(calls(task("x")), says()), [own_task], middleware=[guard])
        run(agent, "go", None, mode)
        assert ran == expected
        assert "not as boathook knows it" in caplog.text
        assert guard.unguarded == {"*"}
