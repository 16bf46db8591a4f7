"""Before a tool call: PreToolUse, then PermissionRequest, and what they come to, call by call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from boathook.hosts.langchain.dispatching import Moment, Way
from boathook.hosts.langchain.gates import Approval, refused_for_lack_of_permission
from boathook.hosts.langchain.naming import digest
from boathook.hosts.langchain.state import CallRecord, Stopped
from boathook.session.payloads import permission_request_payload, pre_tool_use_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langchain_core.messages import ToolCall

    from boathook.hosts.langchain.scene import Scene
    from boathook.terms.decision import Decision

NOT_RUN: Final = "This call did not run: a hook ended the turn."


@dataclass(frozen=True, slots=True)
class Case:
    """One call to judge: `shown` is its name on the wire; `gate` says who ordinarily asks about it."""

    key: str
    call: ToolCall
    shown: str
    gate: str | None  # "ours", "elsewhere" or None


@dataclass(slots=True)
class Judgement:
    """What all calls of one message came to. With `stopped`, none of them runs."""

    records: dict[str, CallRecord] = field(default_factory=dict)
    stopped: Stopped | None = None

    @property
    def asks(self) -> bool:
        """Whether a person has to be asked."""
        return any(record["verdict"].startswith("ask") for record in self.records.values())


@dataclass(frozen=True, slots=True)
class Policy:
    """What the ordinary prompt is, and the words for a refusal where there is none."""

    approval: Approval
    hint: str | None
    interactive: bool
    notify: Callable[[str, Mapping[str, object]], None]


def judge(scene: Scene, cases: Sequence[Case], policy: Policy) -> Way[Judgement]:
    """Judge all calls of one message at the same time; none waits for, or pays for, another."""
    result = Judgement()
    if not cases:
        return result
    decisions = yield [scene.moment("PreToolUse", **_tool(case)) for case in cases]
    waiting: list[Case] = []
    for case, decision in zip(cases, decisions, strict=True):
        record = result.records[case.key] = _first_verdict(case, decision)
        if not decision.continue_:
            result.stopped = result.stopped or stopped_by(decision)
        elif record["verdict"] == "ask":
            waiting.append(case)
    if waiting and not result.stopped:
        yield from _permissions(scene, waiting, result, policy)
    if result.stopped:
        result.records.update({case.key: _not_run(result.records[case.key]) for case in cases})
    elif result.asks:
        yield from _announce_prompt(scene, cases, result, policy)
    return result


def _permissions(scene: Scene, cases: Sequence[Case], result: Judgement, policy: Policy) -> Way[None]:
    payloads = [_permission(case) for case in cases]
    decisions = yield [scene.moment("PermissionRequest", **payload) for payload in payloads]
    for case, decision in zip(cases, decisions, strict=True):
        record = result.records[case.key]
        if not decision.continue_ or decision.interrupt:
            result.stopped = result.stopped or stopped_by(decision)
        if decision.permission == "deny":
            result.records[case.key] = {**record, "verdict": "refuse", "by": "hook", "reason": _why(decision)}
        elif decision.permission == "allow":
            result.records[case.key] = {**record, "verdict": "run"}
        else:
            result.records[case.key] = _ordinary_prompt(case, record, policy)


def _first_verdict(case: Case, decision: Decision) -> CallRecord:
    record = CallRecord(
        judged=digest(case.call["name"], case.call["args"]),
        verdict="run",
        reason="",
        context=list(decision.context),
    )
    if decision.permission == "deny" or decision.block:
        return {**record, "verdict": "refuse", "by": "hook", "reason": _why(decision)}
    if decision.permission == "ask":
        return {**record, "verdict": "ask", "reason": decision.reason or ""}
    if decision.permission is None and case.gate:
        return {**record, "verdict": "ask"}
    return record


def _ordinary_prompt(case: Case, record: CallRecord, policy: Policy) -> CallRecord:
    if case.gate == "elsewhere":
        return {**record, "verdict": "ask-elsewhere"}
    if policy.approval == "interrupt":
        return record
    if policy.approval == "allow":
        return {**record, "verdict": "run"}
    reason = refused_for_lack_of_permission(case.shown, policy.hint, record["reason"] or None)
    return {**record, "verdict": "refuse", "by": "policy", "reason": reason}


def _announce_prompt(scene: Scene, cases: Sequence[Case], result: Judgement, policy: Policy) -> Way[None]:
    names = [case.shown for case in cases if result.records[case.key]["verdict"].startswith("ask")]
    if policy.interactive:
        yield [Moment("input.required", {})]
    else:
        policy.notify("input.required", {})
    message = f"The agent needs your permission to use {', '.join(dict.fromkeys(names))}"
    (decision,) = yield [scene.moment("Notification", message=message, notification_type="permission_prompt")]
    if not decision.continue_:
        result.stopped = stopped_by(decision)
        result.records.update({case.key: _not_run(result.records[case.key]) for case in cases})


def stopped_by(decision: Decision) -> Stopped:
    """Return why the run ends, in words for the user."""
    said = decision.stop_reason or decision.reason
    return Stopped(event=decision.event, reason=said or f"A {decision.event} hook ended the run.")


def _not_run(record: CallRecord) -> CallRecord:
    reason = record["reason"] if record["verdict"] == "refuse" and record["reason"] else NOT_RUN
    return {**record, "verdict": "refuse", "by": "hook", "reason": reason}


def _why(decision: Decision) -> str:
    said = decision.reason or decision.stop_reason
    return said or f"A {decision.event} hook refused this call."


def _tool(case: Case) -> dict[str, object]:
    payload = pre_tool_use_payload(case.call["name"], case.call["id"], case.call["args"])
    return {**payload, "tool_name": case.shown}


def _permission(case: Case) -> dict[str, object]:
    return {**permission_request_payload(case.call["name"], case.call["args"]), "tool_name": case.shown}
