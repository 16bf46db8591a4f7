"""A model's stream, followed for the tool calls in it: ``tool.use`` comes before the message is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler

if TYPE_CHECKING:
    from uuid import UUID

    from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult

    from boathook.session import ToolCalls


class ToolStream(BaseCallbackHandler):
    """Hands a session's `tools` the chunks of every model that streams, subagents' included.

    Pass it among a run's ``callbacks``, beside a `HooksMiddleware` that was given the same
    session. Without it, or where a model does not stream, calls are announced when the
    message is complete. Called in line with the model, so that no call runs before.
    """

    run_inline = True

    def __init__(self, tools: ToolCalls) -> None:
        self._tools = tools

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],  # noqa: ARG002
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> None:
        """Take the pieces of tool calls in a chunk."""
        pieces = getattr(getattr(chunk, "message", None), "tool_call_chunks", None)
        if pieces:
            self._tools.feed(pieces, run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """A message is complete."""
        self._tools.finish(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """A message was broken off: the calls that it announced will not run."""
        self._tools.broken_off(run_id)
