"""The turns of the main agent: SessionStart, UserPromptSubmit, Stop."""

from __future__ import annotations

import logging
import threading
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from boathook.hosts.langchain.dispatching import Moment
from boathook.hosts.langchain.judging import stopped_by
from boathook.hosts.langchain.words import (
    closing_message,
    context_message,
    feedback_message,
    is_ours,
    last_answer,
    removals,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boathook.hosts.langchain.dispatching import Way
    from boathook.hosts.langchain.scene import Scene
    from boathook.hosts.langchain.state import HooksState, Stopped, TurnRecord
    from boathook.terms.decision import Decision

log = logging.getLogger("boathook")

Update = dict[str, Any]
MAX_CONTINUATIONS: Final = 8
"""How often in a row handlers of Stop may keep one turn going (S1)."""


class Sessions:
    """The sessions that were started in this process. Thread-safe."""

    def __init__(self) -> None:
        self._started: set[str] = set()
        self._lock = threading.Lock()

    def first_sight(self, session_id: str) -> bool:
        """Whether the session was not seen before; from now on it was."""
        with self._lock:
            new = session_id not in self._started
            self._started.add(session_id)
            return new

    def start(self, scene: Scene, state: HooksState, *, earlier: bool) -> Way[Decision | None]:
        """Dispatch SessionStart, once a session: a session with a past is resumed."""
        if not self.first_sight(scene.session_id):
            return None
        resumed = earlier or bool(state.get("hooks_session"))
        (decision,) = yield [scene.moment("SessionStart", source="resume" if resumed else "startup")]
        return decision


def new_prompts(state: HooksState) -> list[HumanMessage]:
    """Return the human messages at the end that no turn has seen yet."""
    turn = state.get("hooks_turn")
    seen = turn["seen"] if turn else None
    found: list[HumanMessage] = []
    for message in reversed(state["messages"]):
        if not isinstance(message, HumanMessage) or (seen is not None and message.id == seen):
            break
        if not is_ours(message):
            found.append(message)
    return found[::-1]


def open_turn(scene: Scene, state: HooksState, sessions: Sessions) -> Way[Update]:
    """Start the session if need be, and submit the prompt. Return what to write into the state."""
    prompts = new_prompts(state)
    earlier = any(message not in prompts and isinstance(message, AIMessage) for message in state["messages"])
    turn = _turn(state, prompts)
    scene = replace(scene, prompt_id=turn["prompt_id"])
    started = yield from sessions.start(scene, state, earlier=earlier)
    update: Update = {"hooks_session": scene.session_id, "hooks_turn": turn}
    if started is not None and not started.continue_:
        return {**update, **_ended(update, prompts, stopped_by(started), stop=True)}
    messages: list[BaseMessage] = (
        [context_message(started.context, "SessionStart")] if started and started.context else []
    )
    if prompts:
        text = "\n\n".join(str(prompt.text) for prompt in prompts)
        (asked,) = yield [scene.moment("UserPromptSubmit", prompt=text)]
        if asked.block or not asked.continue_:
            ended = _ended(update, prompts, stopped_by(asked), stop=not asked.continue_)
            return {**update, **ended, "messages": [*messages, *ended["messages"]]}
        if asked.context:
            messages.append(context_message(asked.context, "UserPromptSubmit"))
    return {**update, "messages": messages} if messages else update


def _turn(state: HooksState, prompts: Sequence[HumanMessage]) -> TurnRecord:
    known = state.get("hooks_turn")
    if known and not prompts:
        return {**known, "over": False}
    seen = prompts[-1].id if prompts else None
    return {"prompt_id": uuid.uuid4().hex, "seen": seen, "continuations": 0, "over": False}


def _ended(update: Update, prompts: Sequence[BaseMessage], why: Stopped, *, stop: bool) -> Update:
    """Take the prompt back before a model sees it; the user is told why, the model is not."""
    words = why["reason"]
    closing = closing_message(why["event"], words, hidden=True)
    return {
        "messages": [*removals(prompts), closing],
        "hooks_turn": {**update["hooks_turn"], "over": True},
        "jump_to": "end",
        **({"hooks_stopped": {**why, "fresh": True}} if stop else {}),
    }


def close_turn(scene: Scene, state: HooksState) -> Way[Update | None]:
    """The turn wants to end: dispatch Stop, and go on where a handler wants that, up to eight times."""
    turn = state.get("hooks_turn") or _turn(state, ())
    if turn["over"] or state.get("hooks_stopped"):
        return None
    answer = last_answer(state["messages"])
    said = "" if answer is None else str(answer.text)
    going_on = turn["continuations"]
    (decision,) = yield [scene.moment("Stop", stop_hook_active=going_on > 0, last_assistant_message=said)]
    if not decision.continue_:
        return {"hooks_stopped": stopped_by(decision), "hooks_turn": {**turn, "over": True}}
    if not decision.block:
        return {"hooks_turn": {**turn, "over": True}}
    if going_on >= MAX_CONTINUATIONS:
        log.warning(
            "the turn ends after %d continuations in a row; a Stop hook asked for one more", MAX_CONTINUATIONS
        )
        # The engine took the turn to go on, so it has not announced its end.
        yield [Moment("task.complete", {"thread_id": scene.session_id})]
        return {"hooks_turn": {**turn, "over": True}}
    texts = decision.feedback or ((decision.reason,) if decision.reason else ())
    return {
        "messages": [feedback_message(texts)],
        "hooks_turn": {**turn, "continuations": going_on + 1},
        "jump_to": "model",
    }
