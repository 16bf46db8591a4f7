"""One way to write a path: hooks, tools and the disk all see the same absolute one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from langchain.agents.middleware import ModelRequest, ModelResponse

_PATH_ARGUMENTS: Final[Mapping[str, str]] = {
    "ls": "path",
    "glob": "path",
    "grep": "path",
    "read_file": "file_path",
    "write_file": "file_path",
    "edit_file": "file_path",
    "delete": "file_path",
}


class AbsolutePaths(AgentMiddleware[Any, Any, Any]):
    """Completes relative paths in file tools' calls, straight after the model.

    deepagents reads ``notes.txt`` as ``/notes.txt``. A guard would then judge another file
    than the one that is meant, so the call itself is changed, before anything looks at it.
    """

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Complete the paths in the answer's tool calls."""
        return self._completed(handler(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Complete the paths in the answer's tool calls."""
        return self._completed(await handler(request))

    def _completed(self, response: ModelResponse[Any]) -> ModelResponse[Any]:
        for message in response.result:
            if isinstance(message, AIMessage):
                for call in message.tool_calls:
                    call["args"] = completed(call["name"], call["args"], self._root)
        return response


def completed(tool: str, args: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return `args` with the tool's path made absolute against `root` and free of ``..``."""
    key = _PATH_ARGUMENTS.get(tool)
    path = args.get(key) if key else None
    if key is None or not isinstance(path, str) or not path:
        return args
    return {**args, key: os.path.normpath(root / os.path.expanduser(path))}  # noqa: PTH111 - text in, text out
