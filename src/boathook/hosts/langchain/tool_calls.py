"""Around a tool call: what was decided is obeyed, and what became of the call is told."""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from boathook.hosts.langchain import gates
from boathook.hosts.langchain.graph import NOBODY
from boathook.hosts.langchain.host import Spot, turn_of
from boathook.hosts.langchain.judging import NOT_RUN, Case, judge
from boathook.hosts.langchain.model_calls import gate_of
from boathook.hosts.langchain.naming import digest, key_of
from boathook.hosts.langchain.results import (
    Ended,
    Result,
    Running,
    after,
    after_failure,
    by_a_person,
    finished,
    own_message,
)
from boathook.hosts.langchain.scene import Subagent
from boathook.hosts.langchain.subagents import is_task
from boathook.hosts.langchain.words import answer, with_text
from boathook.session.payloads import CANCELLED

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import ToolCall, ToolMessage

    from boathook.hosts.langchain.dispatching import Moment, Way
    from boathook.hosts.langchain.host import Host
    from boathook.hosts.langchain.scene import Scene
    from boathook.hosts.langchain.state import CallRecord, HooksState

log = logging.getLogger("boathook")


def before(host: Host, request: ToolCallRequest) -> Way[tuple[Running, ToolCallRequest] | ToolMessage]:
    """Return the call that may run, or the result it gets without running."""
    host.meet()
    if is_task(request.tool_call):
        host.guard_subagents(request.tool)
    state: HooksState = request.state
    scene, asked = host.scene(state), request.tool_call
    record, spot = _recorded(state, asked), None
    theirs = (state.get("hitl_edited_tool_calls") or {}).get(asked["id"])  # type: ignore[attr-defined]
    if record is None or theirs:
        call: ToolCall = {**asked, "name": theirs["name"], "args": theirs["args"]} if theirs else asked
        if record is None:
            host.about_to_use([asked])
        spot = (turn_of(scene), key_of(call), digest(call["name"], call["args"]))
        record = yield from _judge_now(host, scene, request, call, spot, approved=bool(theirs))
    if record["verdict"] == "ask" and not theirs:
        (given,) = gates.ask([asked], [record], host.gates)
        record = gates.answered(asked, record, given, host.gates)
    refused = _refused(host, scene, asked, record)
    if refused is not None:
        host.memory.forget(spot)
        return refused
    running = Running(
        scene, asked, call_to_run(asked, record), host.shown(asked["name"], request.tool), record, spot
    )
    if theirs:
        running = replace(running, call={**asked, "name": theirs["name"], "args": theirs["args"]})
    elif "edited" in record:
        request = _redirected(request, running.call)
        running = replace(running, shown=host.shown(running.call["name"], request.tool))
    if is_task(running.call):
        running, request = yield from _in_subagent(running, request)
    return running, request


def call_to_run(asked: ToolCall, record: CallRecord) -> ToolCall:
    """Return the call as a person left it."""
    edited = record.get("edited")
    return {**asked, "name": edited["name"], "args": edited["args"]} if edited else asked


def _recorded(state: HooksState, call: ToolCall) -> CallRecord | None:
    """Return what was decided about exactly this call, if anything was."""
    records = state.get("hooks_calls") or {}
    judged = digest(call["name"], call["args"])
    if call["id"]:
        record = records.get(call["id"])
        return record if record is not None and record["judged"] == judged else None
    places = (record for key, record in records.items() if key.startswith("#"))
    return next((record for record in places if record["judged"] == judged), None)


def _judge_now(
    host: Host, scene: Scene, request: ToolCallRequest, call: ToolCall, spot: Spot, *, approved: bool
) -> Way[CallRecord]:
    """Judge a call that comes unjudged: another middleware made or changed it after the model's answer.

    There is no state to write the verdict to, so it is remembered while the call lasts.
    """
    record = host.memory.on_the_spot.get(spot)
    if record is None:
        gate = None if approved else gate_of(host, NOBODY, request)
        case = Case(key_of(call), call, host.shown(call["name"], request.tool), gate)
        judgement = yield from judge(scene, [case], host.policy)
        record = host.memory.on_the_spot[spot] = judgement.records[case.key]
        if judgement.stopped:
            host.memory.stopping[turn_of(scene)] = judgement.stopped
    return record


def _refused(host: Host, scene: Scene, call: ToolCall, record: CallRecord) -> ToolMessage | None:
    text, error = record["reason"], record["verdict"] == "refuse"
    if record["verdict"] not in {"refuse", "answer"}:
        if turn_of(scene) in host.memory.stopping:
            text, error = NOT_RUN, True
        elif is_task(call) and host.refuses_subagent(call["args"]["subagent_type"]):
            text, error = "Hooks would not see what this subagent does, so it is not to run.", True
        else:
            return None
    host.ended(call, text, error=error)
    return with_text(answer(call["id"], call["name"], text, error=error), record["context"])


def _redirected(request: ToolCallRequest, call: ToolCall) -> ToolCallRequest:
    tool = request.tool
    if call["name"] != request.tool_call["name"]:
        tool = next((each for each in request.runtime.tools if each.name == call["name"]), None)
    return request.override(tool_call=call, tool=tool)  # type: ignore[arg-type]


def _in_subagent(running: Running, request: ToolCallRequest) -> Way[tuple[Running, ToolCallRequest]]:
    kind, record = running.call["args"]["subagent_type"], running.record
    agent_id, context = record.get("agent_id"), record.get("agent_context", [])
    if agent_id is None:
        agent_id = uuid.uuid4().hex[:16]
        (decision,) = yield [running.scene.moment("SubagentStart", agent_id=agent_id, agent_type=kind)]
        context = list(decision.context)
    if context:
        added = "Context from a SubagentStart hook:\n" + "\n\n".join(context)
        args = {
            **running.call["args"],
            "description": f"{running.call['args'].get('description', '')}\n\n{added}",
        }
        request = request.override(tool_call={**running.call, "args": args})
    return replace(running, subagent=Subagent(agent_id, kind, running.scene.prompt_id)), request


def came_back(host: Host, running: Running, result: Result, duration_ms: float) -> Way[Result]:
    """Tell what a call returned, and return that with the hooks' words."""
    message = own_message(result, running.asked["id"])
    if by_a_person(message):
        return result
    failed = message is not None and message.status == "error"
    host.ended(running.asked, "" if message is None else message.content, error=failed)
    host.memory.forget(running.spot)
    ended = yield from after(running, message, duration_ms)
    _remember_stop(host, running, ended, result)
    if "edited" in running.record:
        ended = Ended((_edit_note(running.call), *ended.words), ended.stopped)
    return finished(result, message, ended)


def raised(host: Host, running: Running, error: Exception, duration_ms: float) -> Way[None]:
    """Tell that a call raised. The hooks' words go along with the exception, for whoever handles it."""
    host.memory.forget(running.spot)
    host.ended(running.asked, f"{type(error).__name__}: {error}", error=True)
    ended = yield from after_failure(running, error, duration_ms)
    _remember_stop(host, running, ended)
    for text in ended.words:
        error.add_note(text)


def cancelled(host: Host, running: Running, duration_ms: float) -> Moment:
    """Tell that a call was cancelled, and return the moment that says so to the hooks."""
    host.memory.forget(running.spot)
    host.ended(running.asked, CANCELLED, error=True)
    return running.failed(CANCELLED, duration_ms, is_interrupt=True)


def _remember_stop(host: Host, running: Running, ended: Ended, result: Result = None) -> None:
    # The calls beside this one look here: those that have not begun are not to run any more.
    inside = result.update.get("hooks_stopped") if isinstance(getattr(result, "update", None), dict) else None
    if stopped := ended.stopped or inside:
        host.memory.stopping[turn_of(running.scene)] = stopped


def _edit_note(call: ToolCall) -> str:
    args = json.dumps(call["args"], default=str)
    return f"A person changed this call before it ran: {call['name']} ran with {args}. That was meant; do not repeat yours."
