"""What the middleware keeps in the graph's state, so that it survives a checkpoint and a new process.

Everything here is plain data: what was judged is never judged again because a node is run again.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from langchain.agents.middleware.types import AgentState, OmitFromInput, PrivateStateAttr

Verdict = Literal["run", "refuse", "ask", "ask-elsewhere", "answer"]
"""`ask` is ours to ask, `ask-elsewhere` is left to a HumanInTheLoopMiddleware; `answer`: a person answered."""


class CallRecord(TypedDict):
    """What was decided about one tool call.

    `judged` is the digest of the name and arguments that the verdict is about; it covers
    no others. `by` says who refused: a hook, the approval policy or a person. `edited`
    is what a person put in the call's place.
    """

    judged: str
    verdict: Verdict
    reason: str
    by: NotRequired[Literal["hook", "policy", "person"]]
    context: list[str]
    edited: NotRequired[dict[str, Any]]
    agent_id: NotRequired[str]
    agent_context: NotRequired[list[str]]


class TurnRecord(TypedDict):
    """The turn at hand. `seen` is the id of its last human message; `over` says that no Stop is due."""

    prompt_id: str
    seen: str | None
    continuations: int
    over: bool


class Stopped(TypedDict):
    """Why a hook ended the run: the event, and the words for the user. `fresh` begins a new run's."""

    event: str
    reason: str
    fresh: NotRequired[bool]


def first_stop(old: Stopped | None, new: Stopped | None) -> Stopped | None:
    """Keep the first of several that end a run; None begins anew."""
    return new if new is None or old is None or new.get("fresh") else old


class HooksState(AgentState[Any]):
    """The channels of the middleware; only `hooks_stopped` is seen in an agent's result."""

    hooks_calls: NotRequired[Annotated[dict[str, CallRecord], PrivateStateAttr]]
    hooks_held: NotRequired[Annotated[list[dict[str, Any]], PrivateStateAttr]]
    hooks_turn: NotRequired[Annotated[TurnRecord, PrivateStateAttr]]
    hooks_session: NotRequired[Annotated[str, PrivateStateAttr]]
    hooks_pending: NotRequired[Annotated[list[str], PrivateStateAttr]]
    hooks_refreshed: NotRequired[Annotated[list[str], PrivateStateAttr]]
    hooks_stopped: NotRequired[Annotated[Stopped | None, OmitFromInput, first_stop]]
