"""What all parts of one middleware share: its settings, its voice, and what it remembers."""

from __future__ import annotations

import logging
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from boathook.hosts.langchain import compaction, subagents
from boathook.hosts.langchain.dispatching import plain
from boathook.hosts.langchain.graph import NOBODY, Neighbours, neighbours
from boathook.hosts.langchain.judging import Policy, stopped_by
from boathook.hosts.langchain.naming import name_on_the_wire
from boathook.hosts.langchain.turns import Sessions
from boathook.session.payloads import tool_error_payload, tool_result_payload, tool_use_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import BaseMessage, ToolCall

    from boathook.hosts.langchain.dispatching import Dispatcher
    from boathook.hosts.langchain.gates import Gates
    from boathook.hosts.langchain.scene import Scene, Surroundings
    from boathook.hosts.langchain.state import CallRecord, HooksState, Stopped
    from boathook.session import ToolCalls

log = logging.getLogger("boathook")

Agent = tuple[str, str]
"""A session and, in a subagent, its id: what is remembered between nodes belongs to one agent."""

Spot = tuple[Agent, str, str]
"""One call that was judged where it runs: its agent, its key, and the digest of what was judged."""


def agent_of(scene: Scene) -> Agent:
    """Return the agent that a scene belongs to."""
    return scene.session_id, scene.subagent.agent_id if scene.subagent else ""


def turn_of(scene: Scene) -> Agent:
    """Return the turn that a scene belongs to: runs without a thread share a session, and never a turn."""
    session_id, agent_id = agent_of(scene)
    return f"{session_id}/{scene.prompt_id or ''}", agent_id


@dataclass(slots=True)
class Memory:
    """What need not outlive the process. The keys are removed again when they were used."""

    compacted: set[Agent] = field(default_factory=set)
    stopping: dict[Agent, Stopped] = field(default_factory=dict)
    on_the_spot: dict[Spot, CallRecord] = field(default_factory=dict)
    guarded: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    loose: frozenset[str] = frozenset()

    def forget(self, spot: Spot | None) -> None:
        """Forget a verdict: its call is over."""
        if spot is not None:
            self.on_the_spot.pop(spot, None)


@dataclass(slots=True)
class Host:
    """One middleware's inner life. `guard` is the middleware itself, for its subagents.

    `tools` is that of the session that the middleware was handed, if it was: then calls are
    announced through it, where their stream is followed, too.
    """

    around: Surroundings
    dispatcher: Dispatcher
    gates: Gates
    policy: Policy
    mcp_servers: Mapping[str, str]
    lifecycle: bool
    notifications: bool
    unguarded: Literal["warn", "refuse"]
    guard: AgentMiddleware[Any, Any, Any]
    tools: ToolCalls | None = None
    sessions: Sessions = field(default_factory=Sessions)
    memory: Memory = field(default_factory=Memory)
    met: weakref.WeakSet[Neighbours] = field(default_factory=weakref.WeakSet)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def scene(self, state: HooksState, *more: BaseMessage) -> Scene:
        """Return the scene of a node that is given this state, and has `more` messages than stand in it."""
        turn = state.get("hooks_turn")
        messages = [*state["messages"], *more] if more else state["messages"]
        return self.around.scene(messages, turn["prompt_id"] if turn else None)

    def shown(self, name: str, tool: object) -> str:
        """Return a tool's name on the wire."""
        return name_on_the_wire(name, tool, self.mcp_servers)

    def meet(self) -> Neighbours:
        """Get to know the running graph: guard its subagents, watch its summaries. Nothing here may fail a run."""
        try:
            found = neighbours(self.guard)
            with self.lock:
                if found not in self.met:
                    compaction.watch(found.middleware, self._may_compact)
                    self.met.add(found)
        except Exception:
            log.exception("the running graph could not be looked into")
            return NOBODY
        task = (found.tools or {}).get(subagents.TASK)
        if task is not None:
            self.guard_subagents(task)
        return found

    def guard_subagents(self, task: object) -> None:
        """See to it that the guard is in every subagent of a ``task`` tool, and say where it is not."""
        with self.lock:
            function = getattr(task, "func", None)
            if function in self.memory.guarded:
                return
            try:
                loose = subagents.guard_subagents(task, self.guard)
            except Exception:
                log.exception("the task tool could not be looked into")
                loose = frozenset({"*"})
            if function is not None:
                self.memory.guarded.add(function)
            fresh = loose - self.memory.loose
            self.memory.loose |= loose
        if fresh:
            subagents.warn_of(fresh)

    def refuses_subagent(self, name: str) -> bool:
        """Whether a subagent is not to run because hooks would not see what it does."""
        return self.unguarded == "refuse" and bool({name, "*"} & self.memory.loose)

    def _may_compact(self, messages: Sequence[BaseMessage], trigger: str) -> bool:
        scene = self.around.scene(messages)
        moment = scene.moment("PreCompact", trigger=trigger, custom_instructions="")
        decision = self.dispatcher.run_outside(moment)
        if not decision.continue_:
            self.memory.stopping[agent_of(scene)] = stopped_by(decision)
        elif not decision.block:
            self.memory.compacted.add(agent_of(scene))
            return True
        return False

    # What is fired and forgotten.

    def about_to_use(self, calls: Sequence[ToolCall]) -> None:
        """Announce calls before they run, unless their stream did already; one without an id never is (S0)."""
        if not self.notifications:
            return
        for call in calls:
            if self.tools is not None:
                self._say(self.tools.whole, call, plain(call["args"]))
            elif call["id"]:
                self.dispatcher.notify("tool.use", tool_use_payload(call["name"], call["id"], call["args"]))

    def ended(self, call: ToolCall, output: object, *, error: bool) -> None:
        """Announce the end of a call, whichever it was."""
        if not self.notifications:
            return
        if self.tools is not None:
            # An interrupted run may have been resumed in a new process, which announced nothing yet.
            self._say(self.tools.announced_before, call, plain(call["args"]))
            self._say(self.tools.failed if error else self.tools.succeeded, call, output)
            return
        args = call["args"] if call["id"] else None
        status: Literal["success", "error"] = "error" if error else "success"
        result = tool_result_payload(call["name"], call["id"], args, status, output)
        self.dispatcher.notify("tool.result", result)
        if error:
            self.dispatcher.notify("tool.error", tool_error_payload(call["name"]))

    def _say(self, say: Callable[[str, str | None, Any], None], call: ToolCall, told: object) -> None:
        try:
            say(call["name"], call["id"], told)
        except Exception:
            log.exception("a call of %s could not be announced", call["name"])
