"""The bundled agent: deepagents' tools on a folder of this machine, under a middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend
from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT, SubAgent

from boathook.agent.paths import AbsolutePaths
from boathook.agent.shell import ProjectShell
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from pathlib import Path

    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

GATED: Final = frozenset({"execute", "write_file", "edit_file", "delete", "task"})
"""Tools that need a permission: the shell, writing, editing, deleting, delegating."""

APPROVAL_HINT: Final = (
    "Nobody is here to ask. A PreToolUse or PermissionRequest hook can allow such calls, "
    "or the person can run with --approve all."
)


def build_agent(
    model: BaseChatModel,
    root: Path,
    artifacts: Path,
    hooks: AgentMiddleware[Any, Any, Any],
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    person: str = "",
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return an agent that works in `root`, on real paths; deepagents' own notes go to `artifacts`.

    `person` is how it calls whom it talks with, where they said so.
    """
    paths = AbsolutePaths(root)
    helper: SubAgent = {**GENERAL_PURPOSE_SUBAGENT, "middleware": [paths]}
    return create_deep_agent(
        model,
        system_prompt=_instructions(root, person),
        backend=CompositeBackend(ProjectShell(root), {}, artifacts_root=str(artifacts)),
        middleware=[hooks, paths],
        subagents=[helper],
        checkpointer=checkpointer,
    )


def _instructions(root: Path, person: str) -> str:
    called = f" The user wants to be called {excerpt(person)}." if person else ""
    return (
        f"You work in the folder {root} on the user's machine. File tools take absolute paths, and a relative "
        f"path is taken from that folder; the shell starts there. A tool call may be refused: read the reason, "
        f"and do not try the same by another way.{called}"
    )
