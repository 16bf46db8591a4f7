"""Outcomes → one `Decision`: the strictest wins, ties go to the first in configured order. Pure.

`continue: false` beats everything that an event decides (contract section 7): then an
allow, an ask and a continued turn are void, and what can be refused is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boathook.terms.decision import Decision
from boathook.terms.events import Block, Verdict
from boathook.terms.outcome import SILENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boathook.terms.events import Event
    from boathook.terms.outcome import Answer, Outcome, Permission
    from boathook.terms.problem import Problem


def settle(
    event: Event, snapshot: str, outcomes: Sequence[Outcome], problems: Sequence[Problem] = ()
) -> Decision:
    """Settle the outcomes of one lifecycle event, given in configured order."""
    answers = [outcome.answer for outcome in outcomes if outcome.answer is not SILENT]
    if not answers:
        return Decision(event.name, snapshot, handlers=tuple(outcomes), diagnostics=tuple(problems))
    stop = any(answer.stop for answer in answers)
    permission = _permission(event, answers, stop=stop)
    blockers = [answer for answer in answers if answer.blocks]
    goes_on = event.block is Block.CONTINUE and bool(blockers) and not stop
    return Decision(
        event=event.name,
        snapshot=snapshot,
        continue_=not stop,
        stop_reason=next(
            (answer.stop_reason for answer in answers if answer.stop and answer.stop_reason), None
        ),
        permission=permission,
        reason=_reason(event, answers, permission, stop=stop),
        interrupt=permission == "deny" and any(answer.interrupt for answer in blockers),
        block=_blocks(event, bool(blockers), stop=stop),
        context=tuple(text for answer in answers for text in answer.context),
        feedback=tuple(_words(answer) for answer in blockers) if goes_on else _feedback(answers),
        notices=tuple(answer.notice for answer in answers if answer.notice),
        handlers=tuple(outcomes),
        diagnostics=tuple(problems),
    )


def _permission(event: Event, answers: Sequence[Answer], *, stop: bool) -> Permission | None:
    if event.verdict is Verdict.NONE:
        return None
    votes = {answer.permission for answer in answers}
    order: tuple[Permission, ...] = ("deny",) if stop else ("deny", "ask", "allow")
    return next((vote for vote in order if vote in votes), None)


def _blocks(event: Event, blocked: bool, *, stop: bool) -> bool:  # noqa: FBT001 - a private pair of facts
    if event.block is Block.CONTINUE:
        return blocked and not stop
    return event.block.refuses and (blocked or stop)


def _reason(
    event: Event, answers: Sequence[Answer], permission: Permission | None, *, stop: bool
) -> str | None:
    """Return the first reason among those with the winning decision, else the first one's fallback."""
    if event.verdict is not Verdict.NONE:
        winners = [answer for answer in answers if permission is not None and answer.permission == permission]
    elif event.block is Block.FEEDBACK:
        return next(iter(_feedback(answers)), None)
    else:
        winners = [
            answer for answer in answers if answer.blocks and not (stop and event.block is Block.CONTINUE)
        ]
    own = next((answer.reason for answer in winners if answer.reason), None)
    if own is not None or permission in {"allow", "ask"}:
        return own
    return _words(winners[0]) if winners else None


def _feedback(answers: Sequence[Answer]) -> tuple[str, ...]:
    return tuple(answer.feedback for answer in answers if answer.feedback)


def _words(answer: Answer) -> str:
    return answer.reason or answer.fallback or "refused"
