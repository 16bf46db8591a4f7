"""A conversation in few words, to go on from when its history is compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from langchain_core.messages import HumanMessage, get_buffer_string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

SUMMARY: Final = {"lc_source": "summarization"}
"""What marks a summary, and the call that makes one, in LangChain and deepagents."""

_WANTED: Final = """\
Summarize the conversation below, so that the work can go on from the summary alone. Keep what the user wants, \
what was decided and why, which files were read or changed and how, what is still open, and every name, path \
and value that will be needed. Answer with the summary and nothing else."""


async def summary_of(
    messages: Sequence[BaseMessage], model: BaseChatModel, instructions: str
) -> HumanMessage:
    """Ask the model for a summary and return it as the message that takes the place of all of `messages`."""
    wanted = f"{_WANTED}\nThe user adds: {instructions}" if instructions else _WANTED
    answer = await model.ainvoke(
        [HumanMessage(f"{wanted}\n\n<conversation>\n{get_buffer_string(messages)}\n</conversation>")],
        {"metadata": dict(SUMMARY)},
    )
    said = f"Here is a summary of the conversation so far:\n\n{answer.text}"
    return HumanMessage(said, additional_kwargs=dict(SUMMARY))
