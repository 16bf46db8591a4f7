"""After a tool call: PostToolUse or PostToolUseFailure, and their words next to the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from boathook.hosts.langchain.judging import stopped_by
from boathook.hosts.langchain.words import with_text
from boathook.session.payloads import post_tool_use_failure_payload, post_tool_use_payload

if TYPE_CHECKING:
    from langchain_core.messages import ToolCall

    from boathook.hosts.langchain.dispatching import Moment, Way
    from boathook.hosts.langchain.scene import Scene, Subagent
    from boathook.hosts.langchain.state import CallRecord, Stopped

Result = Any
"""What a tool node takes: a ToolMessage, a Command, or a list of them."""

HUMAN_SOURCE: Final = "hitl_interrupt_decision"
"""How HumanInTheLoopMiddleware marks a result that a person gave in the tool's place."""


@dataclass(frozen=True, slots=True)
class Running:
    """A call on its way: `call` is what runs, `asked` what the model asked for and the history keeps.

    `spot` is set where the call was judged only now, see `host.Memory`.
    """

    scene: Scene
    asked: ToolCall
    call: ToolCall
    shown: str
    record: CallRecord
    spot: Any = None
    subagent: Subagent | None = None

    def returned(self, message: ToolMessage | None, duration_ms: float) -> Moment:
        """Return the moment after a call that came back, whether it went well or not."""
        name, call_id, args = self.call["name"], self.call["id"], self.call["args"]
        content = "" if message is None else message.content
        if message is not None and message.status == "error":
            return self.failed(str(message.text), duration_ms)
        own = post_tool_use_payload(name, call_id, args, content, duration_ms)
        return self.scene.moment("PostToolUse", **{**own, "tool_name": self.shown})

    def failed(self, error: str, duration_ms: float, *, is_interrupt: bool = False) -> Moment:
        """Return the moment after a call that raised, or was cancelled."""
        own = post_tool_use_failure_payload(
            self.call["name"],
            self.call["id"],
            self.call["args"],
            error,
            is_interrupt=is_interrupt,
            duration_ms=duration_ms,
        )
        return self.scene.moment("PostToolUseFailure", **{**own, "tool_name": self.shown})


@dataclass(frozen=True, slots=True)
class Ended:
    """What the hooks said after a call: words for the model, and perhaps that the run ends."""

    words: tuple[str, ...]
    stopped: Stopped | None


def after(running: Running, message: ToolMessage | None, duration_ms: float) -> Way[Ended]:
    """Dispatch what follows a call that came back."""
    words: list[str] = list(running.record["context"])
    stopped: Stopped | None = None
    if running.subagent:
        said = "" if message is None else str(message.text)
        (decision,) = yield [subagent_stop(running.scene, running.subagent, said)]
        words += decision.context
        words += decision.feedback
        stopped = None if decision.continue_ else stopped_by(decision)
    (decision,) = yield [running.returned(message, duration_ms)]
    words += decision.context
    words += decision.feedback
    if stopped is None and not decision.continue_:
        stopped = stopped_by(decision)
    return Ended(tuple(dict.fromkeys(words)), stopped)


def after_failure(running: Running, error: BaseException, duration_ms: float) -> Way[Ended]:
    """Dispatch what follows a call that raised."""
    if running.subagent:
        yield [subagent_stop(running.scene, running.subagent, "")]
    (decision,) = yield [running.failed(f"{type(error).__name__}: {error}", duration_ms)]
    stopped = None if decision.continue_ else stopped_by(decision)
    return Ended((*decision.context, *decision.feedback), stopped)


def subagent_stop(scene: Scene, subagent: Subagent, said: str) -> Moment:
    """Return the moment in which a subagent has ended."""
    return scene.moment(
        "SubagentStop",
        stop_hook_active=False,
        agent_id=subagent.agent_id,
        agent_type=subagent.agent_type,
        # A subagent's messages stay in its own graph; no file of them exists.
        agent_transcript_path="",
        last_assistant_message=said,
    )


def own_message(result: Result, call_id: str | None) -> ToolMessage | None:
    """Return a call's own message in what its tool returned."""
    return next((message for message in _messages(result) if message.tool_call_id == call_id), None)


def by_a_person(message: ToolMessage | None) -> bool:
    """Whether a person answered in the tool's place, so that nothing ran."""
    return message is not None and message.additional_kwargs.get("lc_source") == HUMAN_SOURCE


def finished(result: Result, message: ToolMessage | None, ended: Ended) -> Result:
    """Return the result with the hooks' words, and with the end of the run where one wants it."""
    if message is not None and ended.words:
        result = _replaced(result, message, with_text(message, ended.words))
    if ended.stopped is None:
        return result
    update = {"hooks_stopped": ended.stopped}
    if isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    return [*(result if isinstance(result, list) else [result]), Command(update=update)]


def _messages(result: Result) -> list[ToolMessage]:
    if isinstance(result, list):
        return [message for each in result for message in _messages(each)]
    if isinstance(result, Command) and isinstance(result.update, dict):
        return _messages(list(result.update.get("messages") or []))
    return [result] if isinstance(result, ToolMessage) else []


def _replaced(result: Result, old: ToolMessage, new: ToolMessage) -> Result:
    if result is old:
        return new
    if isinstance(result, list):
        return [_replaced(each, old, new) for each in result]
    if isinstance(result, Command) and isinstance(result.update, dict):
        messages = result.update.get("messages")
        if messages:
            return replace(result, update={**result.update, "messages": _replaced(list(messages), old, new)})
    return result
