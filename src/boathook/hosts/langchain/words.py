"""Messages that the middleware writes: to the model, and to the user."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK: Final = "boathook"
"""The key in `additional_kwargs` of every message of ours; its value says which event it comes from."""


def context_message(texts: Sequence[str], event: str) -> HumanMessage:
    """Return context from hooks as a message for the model."""
    return _human("\n\n".join(texts), f"Context from a {event} hook", event)


def feedback_message(texts: Sequence[str]) -> HumanMessage:
    """Return why the turn has to go on."""
    return _human("\n\n".join(texts), "Feedback from a Stop hook", "Stop")


def pending_message(texts: Sequence[str]) -> HumanMessage:
    """Return context that could not be given at its moment."""
    return _human("\n\n".join(texts), "Context from hooks", "context")


def _human(text: str, title: str, event: str) -> HumanMessage:
    marks: dict[str, Any] = {MARK: {"event": event}, "lc_source": "hooks"}
    return HumanMessage(f"{title}:\n{text}", id=f"hooks-{uuid.uuid4().hex}", additional_kwargs=marks)


def closing_message(event: str, reason: str, *, hidden: bool = False) -> AIMessage:
    """Return the last message of a run that a hook ended; a hidden one is never sent to a model."""
    mark = {MARK: {"event": event, "hidden": hidden}}
    return AIMessage(reason, id=f"hooks-{uuid.uuid4().hex}", additional_kwargs=mark)


def is_ours(message: BaseMessage) -> bool:
    """Whether the middleware wrote the message."""
    return MARK in message.additional_kwargs


def is_hidden(message: BaseMessage) -> bool:
    """Whether the message is for the user alone."""
    mark = message.additional_kwargs.get(MARK)
    return isinstance(mark, dict) and mark.get("hidden") is True


def removals(messages: Sequence[BaseMessage]) -> list[RemoveMessage]:
    """Return what takes the messages out of the history."""
    return [RemoveMessage(id=message.id) for message in messages if message.id is not None]


def answer(call_id: str | None, name: str, text: str, *, error: bool = True) -> ToolMessage:
    """Return a tool call's result that no tool gave."""
    return ToolMessage(text, tool_call_id=call_id or "", name=name, status="error" if error else "success")


def with_text(message: ToolMessage, texts: Sequence[str]) -> ToolMessage:
    """Return the result with the hooks' words after the tool's own."""
    if not texts:
        return message
    added = "\n\n".join(texts)
    content = message.content
    if isinstance(content, str):
        return message.model_copy(update={"content": f"{content}\n\n{added}" if content else added})
    block: str | dict[str, Any] = {"type": "text", "text": added}
    return message.model_copy(update={"content": [*content, block]})


def last_answer(messages: Sequence[BaseMessage]) -> AIMessage | None:
    """Return the last message of the model."""
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
