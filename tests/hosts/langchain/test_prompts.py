"""The permission prompt: when it appears, what answers it, and that a resumed run repeats nothing."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import Bench, FakeHooks, Script, calls, denied, on_tool, results, run, says

ASK = {"permission": "ask", "reason": "are you sure?"}
ALLOW = {"permission": "allow"}
CONFIG = {"configurable": {"thread_id": "t"}}
BOTH = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


class Stage:
    """An agent with a checkpointer, whose prompts are answered."""

    def __init__(
        self,
        hooks: FakeHooks,
        *turns: Any,
        human: dict[str, Any] | None = None,
        deep: bool = False,
        **kwargs: Any,
    ) -> None:
        self.bench, self.model = Bench(), Script(*turns)
        middleware = HooksMiddleware(hooks, **kwargs)
        if deep:
            self.agent: Any = create_deep_agent(
                self.model,
                self.bench.tools,
                middleware=[middleware],
                interrupt_on=human,
                checkpointer=InMemorySaver(),
            )
        else:
            more = [HumanInTheLoopMiddleware(human)] if human else []
            self.agent = create_agent(
                self.model, self.bench.tools, middleware=[middleware, *more], checkpointer=InMemorySaver()
            )

    def go(self, mode: str) -> dict[str, Any]:
        return run(self.agent, "go", CONFIG, mode)

    def answer(self, mode: str, *decisions: dict[str, Any]) -> dict[str, Any]:
        return run(self.agent, Command(resume={"decisions": list(decisions)}), CONFIG, mode)


def asked(state: dict[str, Any]) -> list[str]:
    """Return the tools that the shown prompts are about."""
    prompts = [prompt.value for prompt in state.get("__interrupt__", ())]
    return [request["name"] for prompt in prompts for request in prompt["action_requests"]]


@BOTH
def test_an_ask_forces_the_prompt_for_a_tool_that_is_not_gated(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("work", ASK))
    stage = Stage(hooks, calls(("work", {"what": "a"}), ("play", {"what": "b"})), says())
    state = stage.go(mode)
    (prompt,) = state["__interrupt__"]
    (request,) = prompt.value["action_requests"]
    assert (request["name"], request["args"]) == ("work", {"what": "a"})
    assert "are you sure?" in request["description"]
    assert prompt.value["review_configs"] == [
        {"action_name": "work", "allowed_decisions": ["approve", "edit", "reject", "respond"]}
    ]
    assert stage.bench.ran == []
    state = stage.answer(mode, {"type": "approve"})
    assert sorted(stage.bench.ran) == ["a", "b"]
    assert state["messages"][-1].text == "done"


@BOTH
def test_a_resumed_run_dispatches_nothing_twice(mode: str) -> None:
    hooks = FakeHooks()
    stage = Stage(
        hooks, calls(("work", {"what": "a"}), ("play", {"what": "b"})), says(), gated={"work", "play"}
    )
    assert asked(stage.go(mode)) == ["work", "play"]
    assert hooks.of("input.required") == [{}]
    stage.answer(mode, {"type": "approve"}, {"type": "reject", "message": "no fun"})
    assert stage.bench.ran == ["a"]
    once = {
        "SessionStart": 1,
        "UserPromptSubmit": 1,
        "PreToolUse": 2,
        "PermissionRequest": 2,
        "Notification": 1,
    }
    for event, count in {
        **once,
        "PostToolUse": 1,
        "Stop": 1,
        "tool.use": 2,
        "tool.result": 2,
        "tool.error": 1,
    }.items():
        assert len(hooks.of(event)) == count, event


@BOTH
def test_an_allow_suppresses_the_ordinary_prompt_for_that_call_alone(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=lambda given: ALLOW if given["tool_input"]["what"] == "a" else None)
    stage = Stage(hooks, calls(("work", {"what": "a"}), ("work", {"what": "b"})), says(), gated=["work"])
    state = stage.go(mode)
    assert [request["args"]["what"] for request in state["__interrupt__"][0].value["action_requests"]] == [
        "b"
    ]
    assert [payload["tool_input"]["what"] for payload in hooks.of("PermissionRequest")] == ["b"]


@BOTH
def test_a_denied_call_never_shows_a_prompt(mode: str) -> None:
    stage = Stage(FakeHooks(PreToolUse=denied()), calls(("work", {"what": "a"})), says(), gated=["work"])
    state = stage.go(mode)
    assert asked(state) == []
    assert results(state)["c1"] == ("error", "not here")


@BOTH
@pytest.mark.parametrize(("answer", "ran"), [(ALLOW, ["a"]), (denied("policy"), [])])
def test_a_hook_can_answer_the_prompt_before_it_is_shown(
    mode: str, answer: dict[str, Any], ran: list[str]
) -> None:
    hooks = FakeHooks(PermissionRequest=answer)
    stage = Stage(hooks, calls(("work", {"what": "a"})), says(), gated=["work"])
    assert asked(stage.go(mode)) == []
    assert stage.bench.ran == ran
    assert hooks.of("input.required") == []
    assert hooks.of("PermissionRequest")[0]["permission_suggestions"] == []


@BOTH
def test_a_rejection_goes_to_the_model_and_is_a_result(mode: str) -> None:
    hooks = FakeHooks()
    stage = Stage(hooks, calls(("work", {"what": "a"})), says(), gated=["work"])
    stage.go(mode)
    state = stage.answer(mode, {"type": "reject", "message": "later"})
    status, text = results(state)["c1"]
    assert status == "error"
    assert "later" in text
    assert hooks.of("tool.result")[0]["tool_status"] == "error"
    assert "PostToolUseFailure" not in hooks.events


@BOTH
def test_a_person_may_answer_in_the_tools_place(mode: str) -> None:
    stage = Stage(FakeHooks(), calls(("work", {"what": "a"})), says(), gated=["work"])
    stage.go(mode)
    state = stage.answer(mode, {"type": "respond", "message": "it is blue"})
    assert results(state)["c1"] == ("success", "it is blue")
    assert stage.bench.ran == []


@BOTH
def test_an_edited_call_runs_as_edited_and_is_judged_again(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=lambda given: denied() if given["tool_input"]["what"] == "evil" else None)
    stage = Stage(hooks, calls(("work", {"what": "a"}), ("work", {"what": "b"})), says(), gated=["work"])
    stage.go(mode)
    good, evil = (
        {"type": "edit", "edited_action": {"name": "play", "args": {"what": w}}} for w in ("good", "evil")
    )
    state = stage.answer(mode, good, evil)
    assert stage.bench.ran == ["good"]
    assert "played good" in results(state)["c1"][1]
    assert "A person changed this call" in results(state)["c1"][1]
    assert results(state)["c2"] == ("error", "not here")
    assert hooks.of("PostToolUse")[0]["tool_name"] == "play"
    assert len(hooks.of("PreToolUse")) == 4


@BOTH
def test_an_answer_that_is_not_allowed_says_which_are(mode: str) -> None:
    gated = {"work": {"allowed_decisions": ["approve", "reject"]}}
    stage = Stage(FakeHooks(), calls(("work", {"what": "a"})), says(), gated=gated)
    stage.go(mode)
    with pytest.raises(ValueError, match="'edit' is not allowed for 'work'; it may be: approve, reject"):
        stage.answer(mode, {"type": "edit", "edited_action": {"name": "work", "args": {}}})
    assert stage.bench.ran == []


@BOTH
def test_headless_a_gated_call_is_refused_with_words_that_say_how_to_allow_it(mode: str) -> None:
    hooks = FakeHooks()
    hint = "Run with --approve all."
    stage = Stage(
        hooks, calls(("work", {"what": "a"})), says(), gated=["work"], approval="deny", approval_hint=hint
    )
    status, text = results(stage.go(mode))["c1"]
    assert status == "error"
    assert text == "work needs a permission and nobody was asked. Run with --approve all."
    assert len(hooks.of("PermissionRequest")) == 1
    assert hooks.of("input.required") == []


@BOTH
def test_a_silent_yes_still_lets_hooks_deny(mode: str) -> None:
    hooks = FakeHooks(PermissionRequest=on_tool("play", denied()))
    stage = Stage(
        hooks,
        calls(("work", {"what": "a"}), ("play", {"what": "b"})),
        says(),
        gated=lambda request: True,
        approval="allow",
    )
    stage.go(mode)
    assert stage.bench.ran == ["a"]


def test_a_predicate_that_fails_means_that_a_permission_is_needed() -> None:
    def broken(request: Any) -> bool:
        raise KeyError("oops")

    stage = Stage(FakeHooks(), calls(("work", {"what": "a"})), says(), gated=broken)
    assert asked(stage.go("invoke")) == ["work"]


# A HumanInTheLoopMiddleware beside ours, as `interrupt_on=` makes one in deepagents.

DEEP = pytest.mark.parametrize("deep", [True, False], ids=["deepagents", "langchain"])
HUMAN = {"work": True, "play": True}


@BOTH
@DEEP
def test_a_deny_keeps_the_other_middlewares_prompt_away(mode: str, deep: bool) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("work", denied()))
    stage = Stage(
        hooks, calls(("work", {"what": "a"}), ("play", {"what": "b"})), says(), human=HUMAN, deep=deep
    )
    assert asked(stage.go(mode)) == ["play"]
    state = stage.answer(mode, {"type": "approve"})
    assert stage.bench.ran == ["b"]
    assert results(state)["c1"] == ("error", "not here")
    calls_kept = next(m for m in state["messages"] if isinstance(m, AIMessage)).tool_calls
    assert [call["id"] for call in calls_kept] == ["c1", "c2"]


@BOTH
@DEEP
def test_an_allow_keeps_the_other_middlewares_prompt_away(mode: str, deep: bool) -> None:
    hooks = FakeHooks(PreToolUse=ALLOW)
    stage = Stage(hooks, calls(("work", {"what": "a"})), says(), human=HUMAN, deep=deep)
    state = stage.go(mode)
    assert asked(state) == []
    assert stage.bench.ran == ["a"]


@BOTH
@DEEP
def test_the_other_middlewares_prompt_is_preceded_by_a_permission_request(mode: str, deep: bool) -> None:
    hooks = FakeHooks(PermissionRequest=on_tool("work", ALLOW))
    stage = Stage(
        hooks, calls(("work", {"what": "a"}), ("play", {"what": "b"})), says(), human=HUMAN, deep=deep
    )
    assert asked(stage.go(mode)) == ["play"]
    assert len(hooks.of("PermissionRequest")) == 2
    assert len(hooks.of("input.required")) == 1
    state = stage.answer(mode, {"type": "reject"})
    assert stage.bench.ran == ["a"]
    assert results(state)["c2"][0] == "error"
    assert len(hooks.of("PermissionRequest")) == 2
    assert sorted(end["tool_status"] for end in hooks.of("tool.result")) == ["error", "success"]


@BOTH
@DEEP
def test_an_ask_shows_one_prompt_where_both_gate_a_tool(mode: str, deep: bool) -> None:
    stage = Stage(
        FakeHooks(PreToolUse=ASK),
        calls(("work", {"what": "a"})),
        says(),
        human=HUMAN,
        deep=deep,
        gated=["work"],
    )
    assert asked(stage.go(mode)) == ["work"]
    stage.answer(mode, {"type": "approve"})
    assert stage.bench.ran == ["a"]


@BOTH
@DEEP
def test_what_a_person_edits_in_the_other_middleware_is_judged_again(mode: str, deep: bool) -> None:
    hooks = FakeHooks(PreToolUse=lambda given: denied() if given["tool_input"]["what"] == "evil" else None)
    stage = Stage(
        hooks, calls(("work", {"what": "a"}), ("work", {"what": "b"})), says(), human=HUMAN, deep=deep
    )
    stage.go(mode)
    good, evil = (
        {"type": "edit", "edited_action": {"name": "work", "args": {"what": w}}} for w in ("good", "evil")
    )
    state = stage.answer(mode, good, evil)
    assert stage.bench.ran == ["good"]
    assert results(state)["c2"] == ("error", "not here")
    assert [payload["tool_input"]["what"] for payload in hooks.of("PostToolUse")] == ["good"]


@BOTH
def test_a_prompt_that_is_never_answered_leaves_no_call_behind(mode: str) -> None:
    hooks = FakeHooks(PreToolUse=on_tool("play", ALLOW))
    turn = calls(("work", {"what": "a"}), ("play", {"what": "b"}))
    stage = Stage(hooks, turn, says("other"), human=HUMAN, deep=True)
    stage.go(mode)
    state = run(stage.agent, {"messages": [HumanMessage("something else")]}, CONFIG, mode)
    assert state["messages"][-1].text == "other"
    asked_for = {call["id"] for m in state["messages"] if isinstance(m, AIMessage) for call in m.tool_calls}
    assert asked_for == set(results(state))


@BOTH
def test_a_tools_own_interrupt_repeats_no_hook(mode: str) -> None:
    from langchain_core.tools import tool
    from langgraph.types import interrupt

    ran: list[str] = []

    @tool
    def consult() -> str:
        """Ask."""
        answer = interrupt("which?")
        ran.append(answer)
        return str(answer)

    hooks = FakeHooks()
    agent: Any = create_agent(
        Script(calls(("consult", {})), says()),
        [consult],
        middleware=[HooksMiddleware(hooks)],
        checkpointer=InMemorySaver(),
    )
    run(agent, "go", CONFIG, mode)
    assert "PostToolUse" not in hooks.events
    assert "PostToolUseFailure" not in hooks.events
    run(agent, Command(resume="this"), CONFIG, mode)
    assert ran == ["this"]
    for event in ("PreToolUse", "PostToolUse", "tool.use", "tool.result"):
        assert len(hooks.of(event)) == 1, event


@BOTH
def test_a_rejection_in_per_call_mode_is_a_result_and_no_failure_of_the_tool(mode: str) -> None:
    hooks, bench = FakeHooks(), Bench()
    human = HumanInTheLoopMiddleware({"work": True}, interrupt_mode="per_call")
    agent: Any = create_agent(
        Script(calls(("work", {"what": "a"})), says()),
        bench.tools,
        middleware=[HooksMiddleware(hooks), human],
        checkpointer=InMemorySaver(),
    )
    run(agent, "go", CONFIG, mode)
    run(agent, Command(resume={"type": "reject"}), CONFIG, mode)
    assert bench.ran == []
    assert (
        len(hooks.of("PreToolUse")) == len(hooks.of("PermissionRequest")) == len(hooks.of("tool.result")) == 1
    )
    assert hooks.of("PostToolUse") == hooks.of("PostToolUseFailure") == []


def test_a_human_in_the_loop_listed_first_is_told_of_and_still_runs_nothing_that_is_denied(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hooks, bench = FakeHooks(PreToolUse=denied()), Bench()
    agent: Any = create_agent(
        Script(calls(("work", {"what": "a"})), says()),
        bench.tools,
        middleware=[HumanInTheLoopMiddleware({"work": True}), HooksMiddleware(hooks)],
        checkpointer=InMemorySaver(),
    )
    run(agent, "go", CONFIG)
    assert "List HooksMiddleware first" in caplog.text
    run(agent, Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert bench.ran == []
