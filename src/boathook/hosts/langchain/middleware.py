"""OPEN FIRST. The middleware: which moment happens where in a LangChain agent.

::

    before_agent     SessionStart, UserPromptSubmit            turns.py
    wrap_model_call  PreToolUse, PermissionRequest             model_calls.py, judging.py
    after_model      the prompt (an interrupt), SubagentStart  settling.py, gates.py
    wrap_tool_call   the tool; PostToolUse…, SubagentStop      tool_calls.py, results.py
    before_model     the end that a hook wants                 settling.py
    after_agent      Stop                                      turns.py
    PreCompact       where summaries are decided               compaction.py

Each is a way (`dispatching.Way`); this module only drives them, blocking and async.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Final, Literal

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    hook_config,
)
from langchain_core.messages import ToolMessage
from langgraph import errors
from langgraph.errors import GraphBubbleUp

from boathook.hosts.langchain import model_calls, settling, tool_calls, turns
from boathook.hosts.langchain.dispatching import Dispatcher, HooksLike
from boathook.hosts.langchain.gates import Approval, Gated, Gates
from boathook.hosts.langchain.host import Host, turn_of
from boathook.hosts.langchain.judging import Policy
from boathook.hosts.langchain.scene import Surroundings, TranscriptSink, inside
from boathook.hosts.langchain.state import HooksState
from boathook.hosts.langchain.subagents import GENERAL_PURPOSE, with_guard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from langgraph.runtime import Runtime

    from boathook.hosts.langchain.dispatching import Moment, Way
    from boathook.hosts.langchain.results import Result, Running
    from boathook.terms.decision import Decision

CANCEL_PATIENCE: Final = 1.0
"""Seconds that a cancelled tool call waits for the hooks to hear of it."""

Update = dict[str, Any] | None


class HooksMiddleware(AgentMiddleware[Any, Any, Any]):
    """Runs a user's hooks at the moments of a LangChain agent or a deepagents one."""

    state_schema: Any = HooksState

    def __init__(
        self,
        hooks: HooksLike,
        *,
        gated: Gated = (),
        approval: Approval = "interrupt",
        approval_hint: str | None = None,
        cwd: str | None = None,
        session_id: str | None = None,
        permission_mode: str | None = None,
        transcript: TranscriptSink | None = None,
        lifecycle: bool = True,
        tool_notifications: bool = True,
        mcp_servers: Mapping[str, str] | None = None,
        unguarded_subagents: Literal["warn", "refuse"] = "warn",
        on_decision: Callable[[Decision], None] | None = None,
    ) -> None:
        """Take the hooks, and what the middleware cannot know by itself.

        `gated` says which tools ordinarily need a permission: native or wire names, a
        mapping like `interrupt_on`, or a function of the request. `approval` is what that
        prompt is: LangGraph's interrupt, a refusal (`approval_hint` says what to do about
        it), or a silent yes. `session_id` defaults to the thread's id. `lifecycle=False`
        leaves SessionStart, UserPromptSubmit and Stop to the host, but for the
        SessionStart after a compaction. `mcp_servers` maps a tool to its server.
        `on_decision` is told of every decision, with its notices for the user; without
        it they are logged.
        """
        super().__init__()
        dispatcher = Dispatcher(hooks, on_decision)
        interactive = getattr(hooks, "surface", None) == "interactive"
        self._host = Host(
            around=Surroundings(
                session_id=session_id,
                cwd=cwd,
                permission_mode=permission_mode,
                transcript=transcript,
                knows_prompt=hasattr(hooks, "prompt_id"),
            ),
            dispatcher=dispatcher,
            gates=Gates(gated),
            policy=Policy(approval, approval_hint, interactive, dispatcher.notify),
            mcp_servers=mcp_servers or {},
            lifecycle=lifecycle,
            notifications=tool_notifications,
            unguarded=unguarded_subagents,
            guard=self,
            tools=getattr(hooks, "tools", None),
        )
        self._run, self._arun = dispatcher.run, dispatcher.arun

    @property
    def unguarded(self) -> frozenset[str]:
        """Names of the subagents met so far whose tool calls hooks do not see."""
        return self._host.memory.loose

    def subagents(self, specs: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
        """Return deepagents' subagents with this middleware in each, the general-purpose one included.

        The same happens by itself when the agent runs; this says it in the open.
        """
        all_specs = [dict(spec) for spec in specs]
        if not any(spec["name"] == GENERAL_PURPOSE for spec in all_specs):
            from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT

            all_specs.insert(0, dict(GENERAL_PURPOSE_SUBAGENT))
        for spec in all_specs:
            if "runnable" not in spec and "graph_id" not in spec:
                spec["middleware"] = with_guard(list(spec.get("middleware", [])), self)
        return all_specs

    # Nodes.

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """A run begins: open the session and the turn."""
        return self._run(self._opened(state))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """A run begins: open the session and the turn."""
        return await self._arun(self._opened(state))

    def _opened(self, state: HooksState) -> Way[Update]:
        host = self._host
        host.meet()
        scene = host.scene(state)
        host.memory.stopping.pop(turn_of(scene), None)
        update = settling.abandoned(state)
        if state.get("hooks_stopped"):
            update["hooks_stopped"] = None
        if host.lifecycle and not scene.subagent:
            opened = yield from turns.open_turn(scene, state, host.sessions)
            messages = [*update.get("messages", ()), *opened.get("messages", ())]
            update |= {**opened, "messages": messages} if messages else opened
        return update or None

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """The model is about to go on, unless a hook ended the run."""
        return self._run(settling.before_model(self._host, state))

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """The model is about to go on, unless a hook ended the run."""
        return await self._arun(settling.before_model(self._host, state))

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """The model has answered: ask a person where that is needed."""
        return self._run(settling.settle(self._host, state))

    @hook_config(can_jump_to=["end"])
    async def aafter_model(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """The model has answered: ask a person where that is needed."""
        return await self._arun(settling.settle(self._host, state))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """The turn wants to end."""
        return self._run(self._closed(state))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: HooksState, runtime: Runtime[Any]) -> Update:  # noqa: ARG002
        """The turn wants to end."""
        return await self._arun(self._closed(state))

    def _closed(self, state: HooksState) -> Way[Update]:
        scene = self._host.scene(state)
        if not self._host.lifecycle or scene.subagent:
            return None
        return (yield from turns.close_turn(scene, state))

    # Around the model.

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model, and judge the tool calls in its answer."""
        request, update = self._run(model_calls.before_call(self._host, request))
        if "hooks_stopped" in update:
            return model_calls.not_called(update)
        response = handler(request)
        return self._run(model_calls.after_call(self._host, request, response, update))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model, and judge the tool calls in its answer."""
        request, update = await self._arun(model_calls.before_call(self._host, request))
        if "hooks_stopped" in update:
            return model_calls.not_called(update)
        response = await handler(request)
        return await self._arun(model_calls.after_call(self._host, request, response, update))

    # Around a tool.

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Run a tool call if it may run, and tell what became of it."""
        ready = self._run(tool_calls.before(self._host, request))
        if isinstance(ready, ToolMessage):
            return ready
        running, request = ready
        began = time.monotonic()
        try:
            with inside(running.subagent):
                result = handler(request)
        except Exception as error:
            if not _is_no_end(error):
                self._run(tool_calls.raised(self._host, running, error, _since(began)))
            raise
        except BaseException:
            self._tell_cancelled(running, began)
            raise
        return self._run(tool_calls.came_back(self._host, running, result, _since(began)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Run a tool call if it may run, and tell what became of it."""
        ready = await self._arun(tool_calls.before(self._host, request))
        if isinstance(ready, ToolMessage):
            return ready
        running, request = ready
        began = time.monotonic()
        try:
            with inside(running.subagent):
                result = await handler(request)
        except Exception as error:
            if not _is_no_end(error):
                await self._arun(tool_calls.raised(self._host, running, error, _since(began)))
            raise
        except BaseException:
            await self._atell_cancelled(running, began)
            raise
        return await self._arun(tool_calls.came_back(self._host, running, result, _since(began)))

    def _tell_cancelled(self, running: Running, began: float) -> None:
        moment = tool_calls.cancelled(self._host, running, _since(began))
        telling = threading.Thread(target=self._run, args=(_only(moment),), daemon=True)
        telling.start()
        telling.join(CANCEL_PATIENCE)

    async def _atell_cancelled(self, running: Running, began: float) -> None:
        moment = tool_calls.cancelled(self._host, running, _since(began))
        # Whatever comes of it, and if that is a second cancellation, the first one goes on its way.
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(self._arun(_only(moment)), CANCEL_PATIENCE)


def _only(moment: Moment) -> Way[None]:
    yield [moment]


def _is_no_end(error: Exception) -> bool:
    """Whether the call has not ended: it waits for a person, or was given an answer it could not take."""
    is_invalid_resume = getattr(errors, "is_invalid_resume", None)  # newer than langgraph 1.0
    return isinstance(error, GraphBubbleUp) or bool(is_invalid_resume and is_invalid_resume(error))


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000
