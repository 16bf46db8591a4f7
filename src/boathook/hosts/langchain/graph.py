"""What else is in the running graph: a HumanInTheLoopMiddleware, summaries, the task tool.

LangChain offers a middleware no way to see its neighbours, and they are what makes
hooks work without anything to remember: an `interrupt_on=` that a hook's allow can
answer, a compaction that a hook can refuse, subagents that are guarded. So this looks
into LangGraph's own objects, in this one module, and finds nothing where they changed.
"""

from __future__ import annotations

import logging
import types
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langgraph.config import get_config
from langgraph.prebuilt import ToolNode

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

log = logging.getLogger("boathook")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Neighbours:
    """The other parts of one agent. `human_comes_first`: it asks only after we have given calls back."""

    human: HumanInTheLoopMiddleware[Any, Any, Any] | None = None
    human_comes_first: bool = False
    middleware: tuple[AgentMiddleware[Any, Any, Any], ...] = ()
    tools: Mapping[str, BaseTool] | None = None


NOBODY = Neighbours()
_known: weakref.WeakKeyDictionary[Any, Neighbours] = weakref.WeakKeyDictionary()


def neighbours(ours: AgentMiddleware[Any, Any, Any]) -> Neighbours:
    """Return the neighbours in the graph whose node or tool is running; looked up once a graph."""
    nodes = running_nodes()
    model = nodes.get("model")
    if model is None:
        return NOBODY
    found = _known.get(model)
    if found is None:
        found = _known[model] = _look(nodes, ours)
    return found


def running_nodes() -> Mapping[str, Any]:
    """Return the nodes of the graph that is running here, or nothing where they cannot be seen."""
    try:
        call = get_config()["configurable"]["__pregel_call"]
        nodes = call.keywords["schedule_task"].__self__.nodes
    except (RuntimeError, KeyError, AttributeError):
        return {}
    return nodes if isinstance(nodes, Mapping) else {}


def holds(graph: object, kind: type) -> bool:
    """Whether an agent's graph, however wrapped, has a middleware of that kind among its nodes."""
    while (inner := getattr(graph, "bound", None)) is not None and not hasattr(graph, "nodes"):
        graph = inner
    nodes = getattr(graph, "nodes", None)
    return isinstance(nodes, Mapping) and any(isinstance(_owner(node), kind) for node in nodes.values())


def _look(nodes: Mapping[str, Any], ours: AgentMiddleware[Any, Any, Any]) -> Neighbours:
    owners = [_owner(node) for name, node in nodes.items() if name.endswith(".after_model")]
    human = next((owner for owner in owners if isinstance(owner, HumanInTheLoopMiddleware)), None)
    first = human in owners and ours in owners and owners.index(human) < owners.index(ours)
    if first:
        log.warning(
            "HumanInTheLoopMiddleware stands before HooksMiddleware: it asks about calls that a hook has "
            "decided already. List HooksMiddleware first."
        )
    tools = getattr(nodes.get("tools"), "bound", None)
    return Neighbours(
        human=human,
        human_comes_first=first,
        middleware=tuple({id(each): each for each in _all_middleware(nodes)}.values()),
        tools=tools.tools_by_name if isinstance(tools, ToolNode) else None,
    )


def _owner(node: object) -> object:
    bound = getattr(node, "bound", None)
    method = getattr(bound, "func", None) or getattr(bound, "afunc", None)
    return getattr(method, "__self__", None)


def _all_middleware(nodes: Mapping[str, Any]) -> Iterator[AgentMiddleware[Any, Any, Any]]:
    for node in nodes.values():
        owner = _owner(node)
        if isinstance(owner, AgentMiddleware):
            yield owner
    # Middleware that only wraps the model's call is no node; it is inside the model node's function.
    bound = getattr(nodes.get("model"), "bound", None)
    yield from _bound_in(getattr(bound, "func", None), set())
    yield from _bound_in(getattr(bound, "afunc", None), set())


def _bound_in(value: object, seen: set[int]) -> Iterator[AgentMiddleware[Any, Any, Any]]:
    """Walk the closures of a function for the methods of middleware that it was composed of."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, types.MethodType):
        if isinstance(value.__self__, AgentMiddleware):
            yield value.__self__
        yield from _bound_in(value.__func__, seen)
    elif isinstance(value, types.FunctionType):
        yield from _bound_in(getattr(value, "__wrapped__", None), seen)
        for inner in nonlocals(value).values():
            yield from _bound_in(inner, seen)


def nonlocals(function: object) -> dict[str, Any]:
    """Return a function's closed-over variables by name, without those not yet set."""
    code, closure = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    found = {}
    for name, cell in zip(getattr(code, "co_freevars", ()), closure or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # an empty cell
            continue
    return found
