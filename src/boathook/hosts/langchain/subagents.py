"""deepagents' subagents: the guard goes into each of them, and nothing has to be remembered."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final, cast

from boathook.hosts.langchain.graph import holds, nonlocals

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolCall

log = logging.getLogger("boathook")

TASK: Final = "task"
"""deepagents' tool that hands a task to a subagent."""

GENERAL_PURPOSE: Final = "general-purpose"
"""deepagents' own subagent, which it adds unless one of that name is given."""

_CORE: Final = frozenset({"FilesystemMiddleware", "SummarizationMiddleware", "PatchToolCallsMiddleware"})
_lock = threading.Lock()


def is_task(call: ToolCall) -> bool:
    """Whether a call hands a task to a subagent."""
    return call["name"] == TASK and isinstance(call["args"].get("subagent_type"), str)


def with_guard(
    middleware: list[AgentMiddleware[Any, Any, Any]], ours: AgentMiddleware[Any, Any, Any]
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Return a subagent's middleware with ours where the main agent has it, behind deepagents' core."""
    if any(isinstance(each, type(ours)) for each in middleware):
        return middleware
    places = [place for place, each in enumerate(middleware) if each.name in _CORE]
    after = max(places, default=-1) + 1
    return [*middleware[:after], ours, *middleware[after:]]


def guard_subagents(tool: object, ours: AgentMiddleware[Any, Any, Any]) -> frozenset[str]:
    """Put `ours` into every subagent of deepagents' ``task`` tool; return the names that cannot be guarded.

    deepagents gives a subagent only its own middleware, so each one that is described,
    the default general-purpose one included, is compiled anew. A compiled one is used as
    it is: it can only be guarded by a HooksMiddleware of its own. ``*`` stands for all
    when the tool is not deepagents' as we know it.
    """
    with _lock:
        parts = _parts(tool)
        if parts is None:
            return frozenset({"*"})
        graphs, specs, compile_spec = parts
        loose = set()
        for name, spec in list(specs.items()):
            if holds(graphs[name], type(ours)):
                continue
            if "runnable" in spec:
                loose.add(name)
                continue
            guarded = {**spec, "middleware": with_guard(list(spec.get("middleware", [])), ours)}
            graphs[name] = compile_spec(guarded)["runnable"]
            specs[name] = guarded
        return frozenset(loose)


_Graphs = MutableMapping[str, Any]
_Specs = MutableMapping[str, Mapping[str, Any]]


def _parts(tool: object) -> tuple[_Graphs, _Specs, Any] | None:
    """Return the tool's graphs, their descriptions, and what compiles one; deepagents keeps them in closures."""
    func = getattr(tool, "func", None)
    graphs = nonlocals(func).get("subagent_graphs")
    prepare = nonlocals(nonlocals(func).get("_validate_and_prepare_state"))
    specs = prepare.get("subagents_by_name")
    compile_spec = nonlocals(prepare.get("_select_subagent")).get("_compile_spec")
    if not isinstance(graphs, dict) or not isinstance(specs, dict) or not callable(compile_spec):
        return None
    return cast("_Graphs", graphs), cast("_Specs", specs), compile_spec


def warn_of(loose: frozenset[str]) -> None:
    """Say loudly which subagents run without the guard."""
    if "*" in loose:
        log.warning(
            "the task tool is not as boathook knows it, so hooks do not see the tool calls of subagents. "
            "Give each subagent a HooksMiddleware of its own, or set unguarded_subagents='refuse'."
        )
        return
    for name in sorted(loose):
        log.warning(
            "the subagent %r is compiled already, so hooks do not see its tool calls. Compile it with a "
            "HooksMiddleware in its middleware, or set unguarded_subagents='refuse'.",
            name,
        )
