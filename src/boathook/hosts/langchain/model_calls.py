"""Around a model's call: what hooks add to what it reads, and their verdicts on the tool calls it makes.

The verdicts are taken here and not where tools run, because this node is over and
saved before a person can be asked: nothing of it runs again when the answer comes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import ExtendedModelResponse, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langgraph.types import Command

from boathook.hosts.langchain.compaction import history_was_saved
from boathook.hosts.langchain.dispatching import Moment
from boathook.hosts.langchain.gates import Gates
from boathook.hosts.langchain.host import agent_of, turn_of
from boathook.hosts.langchain.judging import Case, judge, stopped_by
from boathook.hosts.langchain.naming import key_of
from boathook.hosts.langchain.words import closing_message, is_hidden, last_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain.agents.middleware.types import ModelRequest
    from langchain_core.messages import BaseMessage, ToolCall

    from boathook.hosts.langchain.dispatching import Way
    from boathook.hosts.langchain.graph import Neighbours
    from boathook.hosts.langchain.host import Host
    from boathook.hosts.langchain.scene import Scene
    from boathook.hosts.langchain.state import CallRecord, HooksState, Stopped

Update = dict[str, Any]


def before_call(host: Host, request: ModelRequest[Any]) -> Way[tuple[ModelRequest[Any], Update]]:
    """Return the request as the model is to see it, and what to write into the state afterwards.

    With `hooks_stopped` in it, the model is not to be called.
    """
    host.meet()
    state: HooksState = request.state  # type: ignore[assignment]
    scene = host.scene(state)
    agent = agent_of(scene)
    update: Update = {}
    if agent in host.memory.compacted:
        host.memory.compacted.discard(agent)
        update = yield from _after_compaction(scene, request.messages)
    stopped = host.memory.stopping.pop(agent, None) or host.memory.stopping.pop(turn_of(scene), None)
    if stopped is not None:
        update["hooks_stopped"] = stopped
    texts = update.get("hooks_refreshed", state.get("hooks_refreshed")) or ()
    visible = [message for message in request.messages if not is_hidden(message)]
    request = request.override(messages=visible)
    if texts:
        request = request.override(system_message=_with_context(request.system_message, texts))
    return request, update


def _after_compaction(scene: Scene, messages: Sequence[BaseMessage]) -> Way[Update]:
    """The context was compacted: what start hooks added went with it, so they are asked again."""
    if history_was_saved(messages):
        yield [Moment("context.offload", {})]
    if scene.subagent:
        return {}
    (decision,) = yield [scene.moment("SessionStart", source="compact")]
    if not decision.continue_:
        return {"hooks_stopped": stopped_by(decision)}
    return {"hooks_refreshed": list(decision.context)}


def _with_context(system: SystemMessage | None, texts: Sequence[str]) -> SystemMessage:
    added = "Context from a SessionStart hook:\n" + "\n\n".join(texts)
    if system is None:
        return SystemMessage(added)
    if isinstance(system.content, str):
        return SystemMessage(f"{system.content}\n\n{added}")
    return SystemMessage(content=[*system.content, {"type": "text", "text": added}])


def not_called(update: Update) -> ExtendedModelResponse[Any]:
    """Return what stands for the model's answer when a hook ended the run just before."""
    stopped: Stopped = update["hooks_stopped"]
    closing = closing_message(stopped["event"], stopped["reason"])
    return ExtendedModelResponse(ModelResponse(result=[closing]), Command(update=update))


def after_call(
    host: Host, request: ModelRequest[Any], response: ModelResponse[Any], update: Update
) -> Way[ModelResponse[Any] | ExtendedModelResponse[Any]]:
    """Judge the tool calls in a model's answer."""
    state: HooksState = request.state  # type: ignore[assignment]
    answer = last_answer(response.result)
    pending = [] if answer is None else _pending(answer, response.result)
    if answer is not None and pending:
        host.about_to_use([call for _, call in pending])
        scene, found = host.scene(state, answer), host.meet()
        cases = [_case(host, found, request, call, place) for place, call in pending]
        judgement = yield from judge(scene, cases, host.policy)
        update = {**update, "hooks_calls": judgement.records}
        if judgement.stopped:
            update["hooks_stopped"] = judgement.stopped
        if (left := _held_back(found, cases, judgement.records)) is not None:
            update["hooks_held"] = list(answer.tool_calls)
            kept = answer.model_copy(update={"tool_calls": left})
            result = [kept if message is answer else message for message in response.result]
            response = replace(response, result=result)
    elif state.get("hooks_calls"):
        update = {**update, "hooks_calls": {}}
    return ExtendedModelResponse(response, Command(update=update)) if update else response


def _pending(answer: AIMessage, result: Sequence[BaseMessage]) -> list[tuple[int, ToolCall]]:
    """Return the calls that wait for a tool; LangChain answers those of structured output itself."""
    given = {message.tool_call_id for message in result if isinstance(message, ToolMessage)}
    return [(place, call) for place, call in enumerate(answer.tool_calls) if call["id"] not in given]


def _case(host: Host, found: Neighbours, request: ModelRequest[Any], call: ToolCall, place: int) -> Case:
    tool = (found.tools or {}).get(call["name"]) or next(
        (each for each in request.tools if getattr(each, "name", None) == call["name"]), None
    )
    asked = ToolCallRequest(
        tool_call=call,
        tool=tool,  # type: ignore[arg-type]
        state=request.state,
        runtime=request.runtime,  # type: ignore[arg-type]
    )
    return Case(key_of(call, place), call, host.shown(call["name"], tool), gate_of(host, found, asked))


def gate_of(host: Host, found: Neighbours, asked: ToolCallRequest) -> str | None:
    """Return who ordinarily asks a person about a call: a HumanInTheLoopMiddleware, ours, or nobody."""
    if found.human is not None and Gates(found.human.interrupt_on).closed(asked):
        return "elsewhere"
    return "ours" if host.gates.closed(asked) else None


def _held_back(
    found: Neighbours, cases: Sequence[Case], records: Mapping[str, CallRecord]
) -> list[ToolCall] | None:
    """Return the calls that a HumanInTheLoopMiddleware may see, or None where that is all of them.

    It looks at the message alone. So a call that it would ask about although hooks have
    decided is kept from it, and given back when it is done.
    """
    if found.human is None or found.human_comes_first:
        return None
    settled = {
        case.key
        for case in cases
        if case.gate == "elsewhere" and records[case.key]["verdict"] != "ask-elsewhere"
    }
    return [case.call for case in cases if case.key not in settled] if settled else None
