"""PreCompact: asked when a summary is about to take the place of messages, and able to refuse it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from langgraph.config import get_config

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AnyMessage, BaseMessage

log = logging.getLogger("boathook")

Asked = Callable[[Sequence["BaseMessage"], str], bool]
"""Given the messages and the trigger, ``auto`` or ``manual``: whether the compaction may happen."""

_DECIDES: Final = "_determine_cutoff_index"
# Both SummarizationMiddlewares call this when their limits are reached, and it alone: how many messages
# are to be summarized. 0 means none, which both take for "not this time".


def watch(middleware: Sequence[AgentMiddleware[Any, Any, Any]], asked: Asked) -> None:
    """Have the summarizing ones of these middlewares ask first. Doing it again changes nothing."""
    # The one with the tool for compacting by hand keeps its summarizer inside.
    inner = (getattr(each, "_summarization", None) for each in middleware)
    for each in (*middleware, *inner):
        if callable(getattr(each, _DECIDES, None)) and _DECIDES not in vars(each):
            _watch_one(each, asked)


def _watch_one(summarizer: Any, asked: Asked) -> None:  # noqa: ANN401 - of either library
    decide: Callable[[list[AnyMessage]], int] = getattr(summarizer, _DECIDES)

    def watched(messages: list[AnyMessage]) -> int:
        cutoff = decide(messages)
        if cutoff <= 0 or asked(messages, _trigger()):
            return cutoff
        log.info("a hook refused the compaction this time")
        return 0

    setattr(summarizer, _DECIDES, watched)


def _trigger() -> str:
    """Return ``manual`` where the model or the user called for it through a tool."""
    try:
        node = get_config().get("metadata", {}).get("langgraph_node")
    except RuntimeError:
        return "auto"
    return "manual" if node == "tools" else "auto"


def history_was_saved(messages: Sequence[BaseMessage]) -> bool:
    """Whether the first message is a summary that says in which file the summarized history is."""
    first = messages[0] if messages else None
    if first is None or first.additional_kwargs.get("lc_source") != "summarization":
        return False
    return "conversation_history/" in str(first.text)
