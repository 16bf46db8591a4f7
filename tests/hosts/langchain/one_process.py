"""One process of `test_new_process.py`: go to the prompt, or answer it. Prints what happened as JSON."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from boathook.hosts.langchain import HooksMiddleware
from langchain_support import Bench, Script, calls, real_hooks, results, run, says


def agent(folder: Path, scene: str) -> tuple[Any, Bench]:
    bench = Bench()
    work = calls(("work", {"what": "a"}), ("play", {"what": "b"}), ("fail", {"what": "c"}))
    task = calls(("task", {"subagent_type": "general-purpose", "description": "sub: look"}), first=7)
    model = (
        Script(task, says(), lanes={"sub:": [work, says("looked")]}, by_history=True)
        if scene == "subagent"
        else Script(work, says(), by_history=True)
    )
    hooks = real_hooks(folder, json.loads((folder / "wanted.json").read_text()))
    stock: Any = {"work": True, "fail": True} if scene == "interrupt_on" else None
    middleware = HooksMiddleware(hooks, gated=() if stock else ["work", "fail"])
    saver = SqliteSaver(sqlite3.connect(folder / "state.db", check_same_thread=False))
    made = create_deep_agent(
        model,
        bench.tools,
        middleware=[middleware],
        interrupt_on=stock,
        checkpointer=saver,
    )
    return made, bench


def main() -> None:
    folder, scene, step = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    made, bench = agent(folder, scene)
    given: Any = "go" if step == "go" else Command(resume={"decisions": [{"type": "approve"}]})
    state = run(made, given, {"configurable": {"thread_id": "t"}})
    prompts = [prompt.value["action_requests"] for prompt in state.get("__interrupt__", ())]
    asked = [request["name"] for requests in prompts for request in requests]
    print(
        json.dumps(
            {"asked": asked, "ran": bench.ran, "results": results(state), "last": state["messages"][-1].text}
        )
    )


if __name__ == "__main__":
    main()
