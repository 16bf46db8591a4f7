"""The main agent's words as the model says them, in their place among the moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler

if TYPE_CHECKING:
    from uuid import UUID

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult

    from boathook.agent.surface import Surface


class Talk(BaseCallbackHandler):
    """Hands a surface what the main agent says; subagents and summaries are not heard.

    Called in line with the model, so that a hook's line never overtakes the words before it.
    """

    run_inline = True

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._streamed: dict[UUID, bool] = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        messages: list[list[BaseMessage]],  # noqa: ARG002
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> None:
        """Remember the call when it is the main agent's."""
        if _is_main(metadata or {}):
            self._streamed[run_id] = False

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> None:
        """Pass a piece on, also where a provider sends its text in blocks."""
        text = token if isinstance(token, str) else (chunk.text if chunk is not None else "")
        if run_id in self._streamed and text:
            self._streamed[run_id] = True
            self._surface.said(text)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Pass on what was not streamed, and end the message."""
        streamed = self._streamed.pop(run_id, None)
        if streamed is None:
            return
        if not streamed and (text := response.generations[0][0].text):
            self._surface.said(text)
        self._surface.said_all()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """End a message that was broken off."""
        if self._streamed.pop(run_id, None):
            self._surface.said_all()


def _is_main(metadata: dict[str, Any]) -> bool:
    # A subagent's graph runs inside a tool's task, which stands in its namespace.
    nested = "|" in str(metadata.get("langgraph_checkpoint_ns", ""))
    return not nested and metadata.get("lc_source") != "summarization"
