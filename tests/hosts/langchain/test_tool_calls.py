"""Tool calls under hooks: PreToolUse, PostToolUse and PostToolUseFailure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import (
    MODES,
    Bench,
    FakeHooks,
    Script,
    calls,
    denied,
    on_tool,
    results,
    run,
    says,
)

pytestmark = pytest.mark.parametrize("mode", MODES)


def agent_of(
    hooks: FakeHooks, *turns: Any, bench: Bench | None = None, **kwargs: Any
) -> tuple[Any, Bench, Script]:
    bench, model = bench or Bench(), Script(*turns)
    kept = {key: kwargs.pop(key) for key in ("checkpointer",) if key in kwargs}
    return (
        create_agent(model, bench.tools, middleware=[HooksMiddleware(hooks, **kwargs)], **kept),
        bench,
        model,
    )


def test_a_denied_call_does_not_run_and_its_reason_goes_to_the_model(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=denied("never on Mondays"))
    agent, bench, model = agent_of(hooks, calls(("work", {"what": "a"})), says())
    state = run(agent, "go", mode=mode)
    assert bench.ran == []
    assert results(state) == {"c1": ("error", "never on Mondays")}
    assert "never on Mondays" in str(model.seen[-1][-1].text)
    assert "PostToolUse" not in hooks.events
    assert "PostToolUseFailure" not in hooks.events


def test_parallel_calls_are_each_decided_and_a_denied_one_costs_no_sibling(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("play", denied()))
    turn = calls(("work", {"what": "a"}), ("play", {"what": "b"}), ("work", {"what": "c"}))
    agent, bench, _ = agent_of(hooks, turn, says())
    state = run(agent, "go", mode=mode)
    assert sorted(bench.ran) == ["a", "c"]
    assert [status for status, _ in results(state).values()].count("error") == 1
    assert len(hooks.of("PreToolUse")) == 3
    assert len(hooks.of("PostToolUse")) == 2


def test_context_and_feedback_stand_next_to_the_result(mode: str) -> None:
    hooks = FakeHooks(
        PreToolUse={"context": ("mind the gap",)},
        PostToolUse={"context": ("formatted",), "feedback": ("line 3 is too long",)},
    )
    agent, _, model = agent_of(hooks, calls(("work", {"what": "a"})), says())
    run(agent, "go", mode=mode)
    result = model.seen[-1][-1]
    assert isinstance(result, ToolMessage)
    assert str(result.text) == "worked on a\n\nmind the gap\n\nformatted\n\nline 3 is too long"


def test_each_call_that_ran_is_followed_by_exactly_one_post_event(mode: str) -> None:
    hooks = FakeHooks()
    agent, bench, _ = agent_of(hooks, calls(("work", {"what": "a"}), ("play", {"what": "b"})), says())
    run(agent, "go", mode=mode)
    after = hooks.of("PostToolUse")
    assert sorted(payload["tool_use_id"] for payload in after) == ["c1", "c2"]
    assert hooks.of("PostToolUseFailure") == []
    one = next(payload for payload in after if payload["tool_use_id"] == "c1")
    assert one["tool_input"] == {"what": "a"}
    assert one["tool_response"] == "worked on a"
    assert one["duration_ms"] >= 0
    assert sorted(bench.ran) == ["a", "b"]


def test_a_tool_that_raises_is_a_failure_and_raises_as_it_would_without_hooks(mode: str) -> None:
    hooks = FakeHooks(PostToolUseFailure={"feedback": ("try another",)})
    agent, _, _ = agent_of(hooks, calls(("fail", {"what": "luck"})), says())
    with pytest.raises(ValueError, match="no luck") as caught:
        run(agent, "go", mode=mode)
    assert "try another" in caught.value.__notes__
    (failure,) = hooks.of("PostToolUseFailure")
    assert failure["error"] == "ValueError: no luck"
    assert failure["is_interrupt"] is False
    assert failure["duration_ms"] >= 0
    assert hooks.of("PostToolUse") == []


def test_a_result_with_the_status_error_is_a_failure_whose_feedback_reaches_the_model(mode: str) -> None:
    hooks = FakeHooks(PostToolUseFailure={"feedback": ("there is no such tool",)})
    agent, _, model = agent_of(hooks, calls(("wrok", {})), says())
    state = run(agent, "go", mode=mode)
    assert results(state)["c1"][0] == "error"
    assert "there is no such tool" in str(model.seen[-1][-1].text)
    assert len(hooks.of("PostToolUseFailure")) == 1
    assert hooks.of("PostToolUse") == []


def test_bad_arguments_are_a_failure(mode: str) -> None:
    hooks = FakeHooks()
    agent, bench, _ = agent_of(hooks, calls(("work", {"wrong": 1})), says())
    run(agent, "go", mode=mode)
    assert bench.ran == []
    assert len(hooks.of("PostToolUseFailure")) == 1


def test_a_bug_in_the_engine_refuses_a_call_and_lets_everything_else_go_on(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=RuntimeError("broken"))
    agent, bench, _ = agent_of(hooks, calls(("work", {"what": "a"})), says())
    state = run(agent, "go", mode=mode)
    assert bench.ran == []
    assert "hooks could not be asked" in results(state)["c1"][1]

    broken = {
        event: RuntimeError("broken") for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
    }
    agent, bench, _ = agent_of(FakeHooks(**broken), calls(("work", {"what": "a"})), says("fine"))
    state = run(agent, "go", mode=mode)
    assert bench.ran == ["a"]
    assert state["messages"][-1].text == "fine"


def test_tools_are_called_by_their_names_on_the_wire(mode: str) -> None:
    @tool
    def execute(command: str) -> str:
        """Run."""
        return command

    @tool
    def forecast(city: str) -> str:
        """Tell the weather."""
        return city

    @tool
    def maps_route(to: str) -> str:
        """Find a way."""
        return to

    forecast.metadata = {"mcp_server": "weather"}
    hooks, model = FakeHooks(), None
    turn = calls(("execute", {"command": "ls"}), ("forecast", {"city": "x"}), ("maps_route", {"to": "y"}))
    model = Script(turn, says())
    middleware = HooksMiddleware(hooks, mcp_servers={"maps_route": "maps"})
    run(create_agent(model, [execute, forecast, maps_route], middleware=[middleware]), "go", mode=mode)
    wire = ["Bash", "mcp__maps__route", "mcp__weather__forecast"]
    assert sorted(payload["tool_name"] for payload in hooks.of("PreToolUse")) == wire
    assert sorted(payload["tool_name"] for payload in hooks.of("PostToolUse")) == wire
    native = ["execute", "forecast", "maps_route"]
    assert sorted(payload["tool_name"] for payload in hooks.of("tool.use")) == native


def test_every_call_has_its_notifications_once(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("play", denied("no play")))
    turn = calls(("work", {"what": "a" * 3000}), ("play", {"what": "b"}), ("wrok", {}))
    agent, _, _ = agent_of(hooks, turn, says())
    run(agent, "go", mode=mode)
    assert [payload["tool_id"] for payload in hooks.of("tool.use")] == ["c1", "c2", "c3"]
    ends = {payload["tool_id"]: payload for payload in hooks.of("tool.result")}
    assert len(hooks.of("tool.result")) == 3
    assert ends["c1"]["tool_status"] == "success"
    assert ends["c1"]["tool_output"].endswith("…[output truncated]")
    assert len(ends["c1"]["tool_output"]) == 2000
    assert ends["c1"]["tool_args"] == {"what": "a" * 3000}
    assert ends["c2"] == {
        "tool_name": "play",
        "tool_id": "c2",
        "tool_args": {"what": "b"},
        "tool_status": "error",
        "tool_output": "no play",
    }
    assert sorted(payload["tool_names"][0] for payload in hooks.of("tool.error")) == ["play", "wrok"]


def test_notifications_of_tools_can_be_left_to_the_host(mode: str) -> None:
    hooks = FakeHooks()
    agent, _, _ = agent_of(hooks, calls(("work", {"what": "a"})), says(), tool_notifications=False)
    run(agent, "go", mode=mode)
    assert hooks.notices == []


def test_a_stop_after_a_tool_ends_the_run_before_the_model_goes_on(mode: str) -> None:
    stop = {"continue_": False, "stop_reason": "enough for today"}
    hooks = FakeHooks(PostToolUse=stop)
    agent, bench, model = agent_of(hooks, calls(("work", {"what": "a"})), says("unreachable"))
    state = run(agent, "go", mode=mode)
    assert bench.ran == ["a"]
    assert len(model.seen) == 1
    assert state["messages"][-1].text == "enough for today"
    assert state["hooks_stopped"] == {"event": "PostToolUse", "reason": "enough for today"}
    assert "Stop" not in hooks.events


def test_a_stop_before_a_tool_runs_none_of_the_calls_and_leaves_a_whole_history(mode: str) -> None:
    stop = {"continue_": False, "stop_reason": "halt", "permission": "deny", "block": True}
    hooks = FakeHooks(PreToolUse=on_tool("play", stop))
    agent, bench, model = agent_of(hooks, calls(("work", {"what": "a"}), ("play", {"what": "b"})), says())
    state = run(agent, "go", mode=mode)
    assert bench.ran == []
    assert len(model.seen) == 1
    assert set(results(state)) == {"c1", "c2"}
    assert state["messages"][-1].text == "halt"
    assert state["hooks_stopped"]["event"] == "PreToolUse"
    assert len(hooks.of("tool.result")) == 2


def test_a_permission_denied_with_interrupt_ends_the_turn(mode: str) -> None:
    hooks = FakeHooks(PermissionRequest=denied("the boss said no", interrupt=True))
    agent, bench, model = agent_of(hooks, calls(("work", {"what": "a"})), says(), gated=["work"])
    state = run(agent, "go", mode=mode)
    assert bench.ran == []
    assert len(model.seen) == 1
    assert results(state)["c1"] == ("error", "the boss said no")
    assert state["messages"][-1].text == "the boss said no"
    assert state["hooks_stopped"]["event"] == "PermissionRequest"


def test_a_call_that_another_middleware_made_is_judged_all_the_same(mode: str) -> None:
    class Meddler(AgentMiddleware[Any, Any, Any]):
        def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
            message = state["messages"][-1]
            if not message.tool_calls:
                return None
            changed = [{**call, "args": {"what": "forbidden"}} for call in message.tool_calls]
            return {"messages": [message.model_copy(update={"tool_calls": changed})]}

    hooks = FakeHooks(
        PreToolUse=lambda given: denied() if given["tool_input"]["what"] == "forbidden" else None
    )
    bench = Bench()
    model = Script(calls(("work", {"what": "a"})), says())
    agent = create_agent(model, bench.tools, middleware=[HooksMiddleware(hooks), Meddler()])
    state = run(agent, "go", mode=mode)
    assert bench.ran == []
    assert results(state)["c1"] == ("error", "not here")
    assert [payload["tool_input"]["what"] for payload in hooks.of("PreToolUse")] == ["a", "forbidden"]


def test_a_retried_model_call_is_judged_once(mode: str) -> None:
    from langchain.agents.middleware import ModelRetryMiddleware

    hooks, bench = FakeHooks(), Bench()
    model = Script(RuntimeError("overloaded"), calls(("work", {"what": "a"})), says())
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0.0)
    agent = create_agent(model, bench.tools, middleware=[retry, HooksMiddleware(hooks)])
    run(agent, "go", mode=mode)
    assert bench.ran == ["a"]
    assert len(hooks.of("PreToolUse")) == 1


def test_a_cancelled_call_is_told_and_the_cancellation_goes_on(mode: str) -> None:
    if not mode.startswith("a"):
        return  # a blocking run cannot be cancelled
    hooks = FakeHooks()

    async def story() -> None:
        begun = asyncio.Event()

        @tool
        async def wait() -> str:
            """Wait."""
            begun.set()
            await asyncio.Event().wait()
            return "never"

        agent: Any = create_agent(Script(calls(("wait", {}))), [wait], middleware=[HooksMiddleware(hooks)])
        task = asyncio.ensure_future(agent.ainvoke({"messages": [("user", "go")]}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    (failure,) = hooks.of("PostToolUseFailure")
    assert failure["is_interrupt"] is True
    (end,) = hooks.of("tool.result")
    assert end["tool_status"] == "error"
    assert hooks.of("tool.error") == [{"tool_names": ["wait"]}]


def test_a_call_without_an_id_is_judged_and_has_no_tool_use(mode: str) -> None:
    turn = AIMessage("", tool_calls=[{"name": "work", "args": {"what": "a"}, "id": None}])
    hooks = FakeHooks(PreToolUse=denied())
    agent, bench, _ = agent_of(hooks, turn, says())
    run(agent, "go", mode=mode)
    assert bench.ran == []
    assert hooks.of("tool.use") == []
    (end,) = hooks.of("tool.result")
    assert (end["tool_id"], end["tool_args"]) == (None, {})


def test_calls_that_have_not_begun_when_a_hook_ends_the_run_do_not_begin(mode: str) -> None:
    hooks = FakeHooks(PostToolUse={"continue_": False, "stop_reason": "enough"})
    turn = calls(("work", {"what": "a"}), ("work", {"what": "b"}))
    agent, bench, _ = agent_of(hooks, turn, says())
    state = run(agent, "go", {"max_concurrency": 1}, mode=mode)
    assert bench.ran == ["a"]
    assert results(state)["c2"][0] == "error"
    assert state["messages"][-1].text == "enough"


def test_runs_without_a_thread_do_not_end_each_other(mode: str) -> None:
    answers = iter([{"continue_": False, "stop_reason": "enough"}, None])
    hooks = FakeHooks(PostToolUseFailure=lambda given: next(answers))
    agent, bench, _ = agent_of(
        hooks, calls(("fail", {"what": "x"})), calls(("work", {"what": "a"})), says("fine")
    )
    with pytest.raises(ValueError, match="no x"):
        run(agent, "go", mode=mode)
    assert run(agent, "go", mode=mode)["messages"][-1].text == "fine"
    assert bench.ran == ["x", "a"]
