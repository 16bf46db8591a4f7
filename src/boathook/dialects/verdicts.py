"""Our words for what a handler of another agent decided (contract section 6).

What such a handler *allows* before a call grants nothing here: its agent asks other questions
afterwards than ours, or none, and a permission must not come from a file that was written for other
rules. So an allow counts as no objection, and the question whether a call may happen is asked as
usual. Only where the event is that very question, on a permission request, does an allow count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from boathook.dialects.replies import as_stdout, object_of
from boathook.terms.events import Verdict
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from boathook.dialects.dialect import Heard, Said

INNER: Final = "hookSpecificOutput"


def answered(said: Said, reply: dict[str, Any], *problems: Problem) -> Said:
    """Return an answer of ours; an empty one says nothing."""
    return replace(
        said, code=0, stdout=as_stdout(reply) if reply else b"", problems=(*said.problems, *problems)
    )


def silent(said: Said, *problems: Problem) -> Said:
    """Return an answer that says nothing."""
    return answered(said, {}, *problems)


def blocked(heard: Heard, reply: dict[str, Any], reason: str) -> dict[str, Any]:
    """Add to an answer that what the event announces is not to happen; a blank reason is left out."""
    told = {key: value for key, value in reply.items() if key not in {"decision", "reason"}}
    inner = object_of(told.get(INNER))
    if heard.row.verdict is Verdict.TOOL:
        inner |= {"permissionDecision": "deny"}
        inner |= {"permissionDecisionReason": reason} if reason.strip() else {}
        return {**told, INNER: _named(heard, inner)}
    if heard.row.verdict is Verdict.PERMISSION:
        decision = {"behavior": "deny"} | ({"message": reason} if reason.strip() else {})
        return {**told, INNER: _named(heard, {**inner, "decision": decision})}
    return {**told, "decision": "block"} | ({"reason": reason} if reason.strip() else {})


def asking(heard: Heard, reply: dict[str, Any], reason: str) -> dict[str, Any]:
    """Add to an answer that a person should be asked; where only tools are asked about, else nothing."""
    if heard.row.verdict is not Verdict.TOOL:
        return reply
    inner = {**object_of(reply.get(INNER)), "permissionDecision": "ask"}
    inner |= {"permissionDecisionReason": reason} if reason.strip() else {}
    return {**reply, INNER: _named(heard, inner)}


def with_inner(heard: Heard, reply: dict[str, Any], **fields: object) -> dict[str, Any]:
    """Add fields to an answer's `hookSpecificOutput`; those that are None are left out."""
    given = {key: value for key, value in fields.items() if value is not None}
    return {**reply, INNER: _named(heard, {**object_of(reply.get(INNER)), **given})} if given else reply


def refuses(heard: Heard) -> bool:
    """Whether a handler of this event can keep something from happening."""
    return heard.row.block.refuses


def unreadable(heard: Heard, said: Said, what: str) -> Said:
    """Refuse on behalf of a guard whose answer cannot be read; elsewhere it says nothing."""
    found = f"its answer cannot be read: {what}."
    problem = Problem("answer-decision", found, f"Print what {heard.dialect.title} documents.")
    if not refuses(heard):
        return silent(said, problem)
    return answered(said, blocked(heard, {}, f"{heard.handler.name}: {found}"), problem)


def cannot_block(heard: Heard, said: Said, what: str) -> Said:
    """Return an answer that says nothing, and say that what was meant has no effect there either."""
    found = f"{what} changes nothing on {heard.called} in {heard.dialect.title}, nor here."
    return silent(said, Problem("answer-cannot-block", found))


def stderr_of(said: Said) -> str:
    """Return what a handler wrote for a person."""
    return said.stderr.decode("utf-8", "replace").strip()


def stdout_of(said: Said) -> str:
    """Return what a handler printed."""
    return said.stdout.decode("utf-8", "replace").strip().removeprefix("\ufeff").strip()


def _named(heard: Heard, inner: dict[str, Any]) -> dict[str, Any]:
    return {**inner, "hookEventName": heard.row.name}
