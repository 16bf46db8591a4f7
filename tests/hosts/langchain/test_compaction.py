"""PreCompact before a summary takes the place of messages, in both libraries."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware as DeepSummarization
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import FakeHooks, Script, run, says, texts

BOTH = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
KINDS = pytest.mark.parametrize("kind", ["deepagents", "langchain-before", "langchain-after"])
CONFIG = {"configurable": {"thread_id": "t"}}


def agent_of(hooks: FakeHooks, kind: str) -> tuple[Any, Script, list[str]]:
    model, summaries = Script(*(says(f"answer {number}") for number in range(9))), []

    def summarize(messages: Any) -> str:
        summaries.append(texts(messages))
        return "SUMMARY"

    ours = HooksMiddleware(hooks)
    trigger: Any = ("messages", 5)
    keep: Any = ("messages", 2)
    saver = InMemorySaver()
    if kind == "deepagents":
        summary: Any = DeepSummarization(
            model=model, backend=StateBackend(), trigger=trigger, keep=keep, summarizer=summarize
        )
        agent: Any = create_deep_agent(model, middleware=[summary, ours], checkpointer=saver)
    else:
        summary = SummarizationMiddleware(model=model, trigger=trigger, keep=keep, summarizer=summarize)
        middleware = [summary, ours] if kind == "langchain-before" else [ours, summary]
        agent = create_agent(model, middleware=middleware, checkpointer=saver)
    return agent, model, summaries


@BOTH
@KINDS
def test_a_compaction_is_announced_before_and_start_context_comes_again_after(mode: str, kind: str) -> None:
    hooks = FakeHooks(
        SessionStart=lambda given: {"context": ("again: sprint 7",)} if given["source"] == "compact" else None
    )
    agent, model, summaries = agent_of(hooks, kind)
    for number in range(3):
        run(agent, f"question {number}", CONFIG, mode)
    assert len(summaries) == 1
    assert [payload["trigger"] for payload in hooks.of("PreCompact")] == ["auto"]
    assert hooks.of("PreCompact")[0]["session_id"] == "t"
    assert [payload["source"] for payload in hooks.of("SessionStart")] == ["startup", "compact"]
    assert hooks.events.index("PreCompact") < len(hooks.events) - hooks.events[::-1].index("SessionStart") - 1
    assert texts(model.seen[-1]).count("again: sprint 7") == 1
    assert "SUMMARY" in texts(model.seen[-1])
    run(agent, "question 4", CONFIG, mode)
    assert texts(model.seen[-1]).count("again: sprint 7") == 1
    assert len(hooks.of("context.offload")) == (len(summaries) if kind == "deepagents" else 0)


@BOTH
@KINDS
def test_a_refused_compaction_does_not_happen_this_time(mode: str, kind: str) -> None:
    answers = iter([{"block": True, "reason": "not now"}, {}])
    hooks = FakeHooks(PreCompact=lambda given: next(answers))
    agent, model, summaries = agent_of(hooks, kind)
    for number in range(3):
        run(agent, f"question {number}", CONFIG, mode)
    assert summaries == []
    assert "question 0" in texts(model.seen[-1])
    run(agent, "question 3", CONFIG, mode)
    assert len(summaries) == 1
    assert "question 0" not in texts(model.seen[-1])


@BOTH
@KINDS
def test_a_stop_before_a_compaction_ends_the_run(mode: str, kind: str) -> None:
    hooks = FakeHooks(PreCompact={"continue_": False, "stop_reason": "too long", "block": True})
    agent, model, summaries = agent_of(hooks, kind)
    for number in range(2):
        run(agent, f"question {number}", CONFIG, mode)
    state = run(agent, "question 2", CONFIG, mode)
    assert summaries == []
    assert len(model.seen) == 2
    assert state["messages"][-1].text == "too long"
    assert state["hooks_stopped"]["event"] == "PreCompact"
