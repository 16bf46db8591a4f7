"""SessionStart, UserPromptSubmit and Stop."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import MODES, Bench, FakeHooks, Script, calls, run, says, texts

pytestmark = pytest.mark.parametrize("mode", MODES)


def thread(name: str = "t") -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


def agent_of(
    hooks: FakeHooks, *turns: Any, saver: Any = None, deep: bool = False, **kwargs: Any
) -> tuple[Any, Script]:
    model = Script(*turns)
    make: Any = create_deep_agent if deep else create_agent
    middleware = [HooksMiddleware(hooks, **kwargs)]
    return make(model, Bench().tools, middleware=middleware, checkpointer=saver or InMemorySaver()), model


def test_a_session_starts_once_a_thread(mode: str) -> None:
    hooks = FakeHooks()
    agent, _ = agent_of(hooks, says(), says(), says())
    for name in ("a", "a", "b"):
        run(agent, "go", thread(name), mode)
    started = hooks.of("SessionStart")
    assert [(payload["session_id"], payload["source"]) for payload in started] == [
        ("a", "startup"),
        ("b", "startup"),
    ]


def test_a_thread_with_a_past_that_this_process_did_not_start_is_resumed(mode: str) -> None:
    saver, first, second = InMemorySaver(), FakeHooks(), FakeHooks()
    run(agent_of(first, says(), saver=saver)[0], "go", thread(), mode)
    run(agent_of(second, says(), saver=saver)[0], "go on", thread(), mode)
    assert [payload["source"] for payload in second.of("SessionStart")] == ["resume"]


def test_without_a_thread_the_session_has_an_id_of_its_own_and_starts_once(mode: str) -> None:
    hooks, model = FakeHooks(), Script(says(), says())
    agent = create_agent(model, middleware=[HooksMiddleware(hooks)])
    run(agent, "go", mode=mode)
    run(agent, "go", mode=mode)
    assert len(hooks.of("SessionStart")) == 1
    assert len({payload["session_id"] for _, payload in hooks.moments}) == 1


def test_the_payloads_carry_what_is_known_of_the_session(mode: str) -> None:
    hooks = FakeHooks()
    agent, _ = agent_of(
        hooks,
        calls(("work", {"what": "a"})),
        says(),
        says(),
        cwd="/here",
        session_id="s",
        permission_mode="plan",
    )
    run(agent, "go", thread(), mode)
    for _, payload in hooks.moments:
        assert (payload["session_id"], payload["cwd"], payload["permission_mode"]) == ("s", "/here", "plan")
    assert len({payload["prompt_id"] for _, payload in hooks.moments}) == 1
    run(agent, "again", thread(), mode)
    assert len({payload["prompt_id"] for _, payload in hooks.moments}) == 2


@pytest.mark.parametrize("deep", [False, True])
def test_context_of_the_start_and_of_a_prompt_reaches_the_model_once(mode: str, deep: bool) -> None:
    hooks = FakeHooks(
        SessionStart={"context": ("branch: main",)}, UserPromptSubmit={"context": ("it is Monday",)}
    )
    agent, model = agent_of(hooks, calls(("work", {"what": "a"})), says(), deep=deep)
    run(agent, "go", thread(), mode)
    for seen in model.seen:
        assert texts(seen).count("branch: main") == 1
        assert texts(seen).count("it is Monday") == 1


def test_a_refused_prompt_never_reaches_the_model_and_its_reason_is_the_answer(mode: str) -> None:
    def judge(given: Any) -> Any:
        return {"block": True, "reason": "no secrets here"} if "secret" in given["prompt"] else None

    hooks = FakeHooks(UserPromptSubmit=judge)
    agent, model = agent_of(hooks, says("hello"))
    state = run(agent, "my secret is 42", thread(), mode)
    assert model.seen == []
    assert [type(m) for m in state["messages"]] == [AIMessage]
    assert state["messages"][-1].text == "no secrets here"
    assert "Stop" not in hooks.events
    state = run(agent, "good morning", thread(), mode)
    assert state["messages"][-1].text == "hello"
    assert "secret" not in texts(model.seen[0])
    assert [m.text for m in model.seen[0]] == ["good morning"]


def test_a_prompt_can_be_submitted_again_after_it_was_refused(mode: str) -> None:
    answers = iter([{"block": True, "reason": "no"}, {}])
    hooks = FakeHooks(UserPromptSubmit=lambda given: next(answers))
    agent, model = agent_of(hooks, says("fine"))
    prompt = HumanMessage("go", id="same")
    run(agent, {"messages": [prompt]}, thread(), mode)
    state = run(agent, {"messages": [HumanMessage("go", id="other")]}, thread(), mode)
    assert state["messages"][-1].text == "fine"
    assert len(model.seen) == 1


def test_a_stop_at_the_start_ends_the_run_with_its_reason(mode: str) -> None:
    hooks = FakeHooks(SessionStart={"continue_": False, "stop_reason": "closed today"})
    agent, model = agent_of(hooks, says("back"))
    state = run(agent, "go", thread(), mode)
    assert model.seen == []
    assert hooks.events == ["SessionStart"]
    assert state["messages"][-1].text == "closed today"
    assert state["hooks_stopped"]["reason"] == "closed today"
    state = run(agent, "go", thread(), mode)  # the next prompt begins anew
    assert state["messages"][-1].text == "back"
    assert state["hooks_stopped"] is None


def test_a_stop_hook_keeps_the_turn_going_with_its_feedback(mode: str) -> None:
    answers = iter([{"block": True, "feedback": ("tests fail",)}, {}])
    hooks = FakeHooks(Stop=lambda given: next(answers))
    agent, model = agent_of(hooks, says("first"), says("second"))
    state = run(agent, "go", thread(), mode)
    assert state["messages"][-1].text == "second"
    assert "tests fail" in texts(model.seen[1])
    assert [(p["stop_hook_active"], p["last_assistant_message"]) for p in hooks.of("Stop")] == [
        (False, "first"),
        (True, "second"),
    ]
    assert len(hooks.of("UserPromptSubmit")) == 1


def test_a_turn_goes_on_eight_times_at_most_and_tools_do_not_reset_that(mode: str) -> None:
    hooks = FakeHooks(Stop={"block": True, "feedback": ("more",)})
    turns = [turn for number in range(9) for turn in (calls(("work", {"what": "a"}), first=number), says())]
    agent, _model = agent_of(hooks, *turns, *turns)
    run(agent, "go", thread(), mode)
    assert len(hooks.of("Stop")) == 9
    assert hooks.of("task.complete") == [{"thread_id": "t"}]
    run(agent, "again", thread(), mode)  # a prompt does
    assert len(hooks.of("Stop")) == 18
    assert [payload["stop_hook_active"] for payload in hooks.of("Stop")][9] is False


def test_a_stop_hook_that_stops_everything_ends_the_turn_with_the_answer_intact(mode: str) -> None:
    hooks = FakeHooks(Stop={"continue_": False, "stop_reason": "that was all"})
    agent, _ = agent_of(hooks, says("the answer"))
    state = run(agent, "go", thread(), mode)
    assert state["messages"][-1].text == "the answer"
    assert state["hooks_stopped"] == {"event": "Stop", "reason": "that was all"}


def test_the_turns_can_be_left_to_the_host(mode: str) -> None:
    hooks = FakeHooks()
    agent, _ = agent_of(hooks, calls(("work", {"what": "a"})), says(), lifecycle=False)
    run(agent, "go", thread(), mode)
    assert hooks.events == ["PreToolUse", "PostToolUse"]


def test_the_transcript_is_written_before_every_moment(mode: str) -> None:
    class Transcript:
        path = "/tmp/transcript.jsonl"
        known: list[str]

        def sync(self, messages: Any) -> None:
            self.known = [str(m.text) for m in messages]

    transcript, seen = Transcript(), []
    hooks = FakeHooks(Stop=lambda given: seen.append((given["transcript_path"], list(transcript.known))))
    agent, _ = agent_of(
        hooks, calls(("work", {"what": "a"}), text="I will work"), says("all done"), transcript=transcript
    )
    run(agent, "go", thread(), mode)
    assert seen == [(transcript.path, ["go", "I will work", "worked on a", "all done"])]


def test_a_transcript_that_cannot_be_written_does_not_stop_the_agent(mode: str) -> None:
    class Transcript:
        path = "/nowhere"

        def sync(self, messages: Any) -> None:
            raise OSError("disk full")

    agent, _ = agent_of(FakeHooks(), says("fine"), transcript=Transcript())
    assert run(agent, "go", thread(), mode)["messages"][-1].text == "fine"
