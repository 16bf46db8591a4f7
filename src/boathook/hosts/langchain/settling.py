"""Between a model's answer and its tools: a person is asked, and the verdicts become final."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, ToolMessage

from boathook.hosts.langchain import gates
from boathook.hosts.langchain.judging import NOT_RUN, Case, stopped_by
from boathook.hosts.langchain.naming import key_of
from boathook.hosts.langchain.results import by_a_person
from boathook.hosts.langchain.subagents import is_task
from boathook.hosts.langchain.words import (
    answer,
    closing_message,
    is_ours,
    last_answer,
    pending_message,
    with_text,
)
from boathook.session.payloads import pre_tool_use_payload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.messages import BaseMessage, ToolCall

    from boathook.hosts.langchain.dispatching import Way
    from boathook.hosts.langchain.host import Host
    from boathook.hosts.langchain.scene import Scene
    from boathook.hosts.langchain.state import CallRecord, HooksState, Stopped

log = logging.getLogger("boathook")
Update = dict[str, Any]


def settle(host: Host, state: HooksState) -> Way[Update | None]:
    """Ask about the calls that need it, give back those held, start subagents, or end the run.

    LangGraph runs this again from its beginning when the answer comes: nothing is
    dispatched before the question but the resumption of a session in a new process.
    """
    message = last_answer(state["messages"])
    if message is None or is_ours(message):
        return None
    held = state.get("hooks_held") or []
    calls = _given_back(held, message.tool_calls)
    if not calls:
        return None
    message = message.model_copy(update={"tool_calls": calls}) if held else message
    update: Update = {"messages": [message], "hooks_held": []} if held else {}
    scene = host.scene(state)
    stopped = state.get("hooks_stopped")
    records = dict(state.get("hooks_calls") or {})
    if not stopped:
        waiting = _unanswered(state, calls)
        update |= yield from _ask(host, scene, state, waiting, records)
        stopped = yield from _start_subagents(scene, waiting, records)
        if records != state.get("hooks_calls"):
            update["hooks_calls"] = records
    if stopped:
        return _ended(host, state, calls, records, update, stopped)
    return update or None


def _given_back(held: Sequence[Mapping[str, Any]], seen: Sequence[ToolCall]) -> list[ToolCall]:
    """Return all calls in the model's order; of those that somebody else saw, what they made of them."""
    if not held:
        return list(seen)
    theirs = {call["id"]: call for call in seen}
    return [theirs.get(call["id"], call) for call in held]  # type: ignore[arg-type]


def _unanswered(state: HooksState, calls: Sequence[ToolCall]) -> list[tuple[str, ToolCall]]:
    given = {message.tool_call_id for message in results_of_turn(state["messages"])}
    return [(key_of(call, place), call) for place, call in enumerate(calls) if call["id"] not in given]


def results_of_turn(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """Return the results that stand after the model's last answer."""
    found: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found.append(message)
    return found[::-1]


def _ask(
    host: Host,
    scene: Scene,
    state: HooksState,
    waiting: Sequence[tuple[str, ToolCall]],
    records: dict[str, CallRecord],
) -> Way[Update]:
    asks = [(key, call) for key, call in waiting if key in records and records[key]["verdict"] == "ask"]
    if not asks:
        return {}
    update: Update = {}
    if host.lifecycle and not scene.subagent:
        started = yield from host.sessions.start(scene, state, earlier=True)
        if started is not None and started.context:
            update["hooks_pending"] = list(started.context)
    answers = gates.ask([call for _, call in asks], [records[key] for key, _ in asks], host.gates)
    edited = []
    for (key, call), given in zip(asks, answers, strict=True):
        records[key] = gates.answered(call, records[key], given, host.gates)
        if "edited" in records[key]:
            edited.append(_edited_case(host, key, call, records[key]))
    if edited:
        yield from _judge_edited(scene, edited, records)
    return update


def _edited_case(host: Host, key: str, call: ToolCall, record: CallRecord) -> Case:
    changed: ToolCall = {**call, "name": record["edited"]["name"], "args": record["edited"]["args"]}
    tool = (host.meet().tools or {}).get(changed["name"])
    return Case(key, changed, host.shown(changed["name"], tool), None)


def _judge_edited(scene: Scene, cases: Sequence[Case], records: dict[str, CallRecord]) -> Way[None]:
    """A person's own version of a call was never judged; a deny holds for it too."""
    payloads = [
        {
            **pre_tool_use_payload(case.call["name"], case.call["id"], case.call["args"]),
            "tool_name": case.shown,
        }
        for case in cases
    ]
    decisions = yield [scene.moment("PreToolUse", **payload) for payload in payloads]
    for case, decision in zip(cases, decisions, strict=True):
        record = records[case.key]
        record["context"] = [*record["context"], *decision.context]
        if decision.permission == "deny" or decision.block:
            reason = decision.reason or "A PreToolUse hook refused the edited call."
            records[case.key] = {**record, "verdict": "refuse", "by": "hook", "reason": reason}


def _start_subagents(
    scene: Scene, waiting: Sequence[tuple[str, ToolCall]], records: dict[str, CallRecord]
) -> Way[Stopped | None]:
    starting = [
        (key, call)
        for key, call in waiting
        if is_task(call) and key in records and records[key]["verdict"] in {"run", "ask-elsewhere"}
    ]
    if not starting:
        return None
    ids = [uuid.uuid4().hex[:16] for _ in starting]
    decisions = yield [
        scene.moment("SubagentStart", agent_id=agent_id, agent_type=call["args"]["subagent_type"])
        for agent_id, (_, call) in zip(ids, starting, strict=True)
    ]
    stopped: Stopped | None = None
    for agent_id, (key, _), decision in zip(ids, starting, decisions, strict=True):
        context = list(decision.context)
        records[key] = {**records[key], "agent_id": agent_id, "agent_context": context}
        if not decision.continue_ and stopped is None:
            stopped = stopped_by(decision)
    return stopped


def _ended(
    host: Host,
    state: HooksState,
    calls: Sequence[ToolCall],
    records: Mapping[str, CallRecord],
    update: Update,
    stopped: Stopped,
) -> Update:
    """End the run before any of the calls runs; each gets a result, so that the history stays whole."""
    results = []
    for key, call in _unanswered(state, calls):
        record = records.get(key)
        refused = record is not None and record["verdict"] == "refuse"
        reason = record["reason"] if record is not None and refused else NOT_RUN
        host.ended(call, reason, error=True)
        result = answer(call["id"], call["name"], reason)
        results.append(with_text(result, record["context"] if record else ()))
    closing = closing_message(stopped["event"], stopped["reason"])
    messages = [*update.get("messages", ()), *results, closing]
    return {**update, "messages": messages, "hooks_stopped": stopped, "jump_to": "end"}


def before_model(host: Host, state: HooksState) -> Way[Update | None]:
    """Before the model goes on: end a run that a hook ended, and hand over what had to wait."""
    scene = host.scene(state)
    for result in results_of_turn(state["messages"]):
        if by_a_person(result):
            _announce_answer(host, state, result)
    stopped = state.get("hooks_stopped")
    if stopped:
        return {"messages": [closing_message(stopped["event"], stopped["reason"])], "jump_to": "end"}
    texts = list(state.get("hooks_pending") or ())
    if host.lifecycle and not scene.subagent:
        started = yield from host.sessions.start(scene, state, earlier=True)
        texts += started.context if started else ()
    if not texts:
        return None
    return {"messages": [pending_message(texts)], "hooks_pending": []}


def _announce_answer(host: Host, state: HooksState, result: ToolMessage) -> None:
    """Announce the end of a call that a person rejected or answered in another middleware's prompt."""
    message = last_answer(state["messages"])
    calls = message.tool_calls if message else []
    call = next((call for call in calls if call["id"] == result.tool_call_id), None)
    if call is not None:
        host.ended(call, result.content, error=result.status == "error")


def abandoned(state: HooksState) -> Update:
    """A new prompt came instead of an answer: the calls that were held back are dropped for good."""
    held = {call["id"] for call in state.get("hooks_held") or ()}
    message = last_answer(state["messages"])
    if not held or message is None:
        return {}
    gone = held - {call["id"] for call in message.tool_calls}
    if isinstance(message.content, str):
        return {"hooks_held": []}
    # Some providers repeat their calls among the content; they would stand there without a result.
    content = [
        block for block in message.content if not (isinstance(block, dict) and block.get("id") in gone)
    ]
    return {"hooks_held": [], "messages": [message.model_copy(update={"content": content})]}
