"""Many outcomes into one decision: contract section 7. Pure."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest

from boathook.settle import settle
from boathook.terms.events import EVENTS, Block, Verdict
from boathook.terms.outcome import SILENT, Answer, Outcome
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Permission

STRICTNESS: dict[Permission | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}
ALLOW, ASK = Answer(permission="allow", reason="A"), Answer(permission="ask", reason="K")
DENY = Answer(permission="deny", blocks=True, reason="D")


def settled(event: str, *answers: Answer) -> Decision:
    outcomes = [Outcome(f"h{index}", "f", "ok", answer=answer) for index, answer in enumerate(answers)]
    return settle(EVENTS[event], "0" * 64, outcomes)


@pytest.mark.parametrize("event", EVENTS)
def test_silence_decides_nothing(event: str) -> None:
    for answers in ((), (SILENT,), (SILENT, SILENT)):
        decision = settled(event, *answers)
        assert (decision.continue_, decision.permission, decision.block, decision.reason) == (
            True,
            None,
            False,
            None,
        )
        assert len(decision.handlers) == len(answers)


@pytest.mark.parametrize("order", list(permutations([ALLOW, ASK, DENY, SILENT])))
def test_deny_beats_ask_beats_allow_in_every_order(order: tuple[Answer, ...]) -> None:
    for size in range(1, 5):
        chosen = order[:size]
        strictest = max((answer.permission for answer in chosen), key=lambda vote: STRICTNESS[vote])
        decision = settled("PreToolUse", *chosen)
        assert decision.permission == strictest
        assert decision.block is (strictest == "deny")
        assert decision.reason == {"deny": "D", "ask": "K", "allow": "A", None: None}[strictest]


def test_the_first_reason_among_the_winners_is_the_reason() -> None:
    mute = Answer(permission="deny", blocks=True, fallback="mute refused")
    assert (
        settled("PreToolUse", ASK, mute, DENY, Answer(permission="deny", blocks=True, reason="E")).reason
        == "D"
    )
    assert settled("PreToolUse", ASK, mute, ALLOW).reason == "mute refused"


def test_an_allow_or_ask_without_a_reason_has_none() -> None:
    assert settled("PreToolUse", Answer(permission="allow", fallback="F")).reason is None
    assert settled("PreToolUse", Answer(permission="ask", fallback="F"), ALLOW).reason is None


@pytest.mark.parametrize("event", EVENTS)
def test_a_stop_beats_every_decision_of_its_event(event: str) -> None:
    row = EVENTS[event]
    stop = Answer(stop=True, stop_reason="S")
    block = DENY if row.block is Block.DENY else Answer(blocks=row.block.refuses, reason="D")
    for answers in permutations([stop, ALLOW if row.verdict is not Verdict.NONE else SILENT, block]):
        decision = settled(event, *answers)
        assert not decision.continue_
        assert decision.stop_reason == "S"
        assert decision.permission in {None, "deny"}
        if row.block is Block.CONTINUE:
            assert (decision.block, decision.reason, decision.feedback) == (False, None, ())
        else:
            assert decision.block is row.block.refuses


def test_a_stop_alone_refuses_what_can_be_refused() -> None:
    for event, row in EVENTS.items():
        decision = settled(event, Answer(stop=True))
        assert decision.block is (row.block.refuses and row.block is not Block.CONTINUE), event
        assert decision.permission is None


def test_the_first_stop_reason_in_configured_order_is_kept() -> None:
    answers = (
        Answer(stop=True),
        Answer(stop_reason="no stop"),
        Answer(stop=True, stop_reason="S"),
        Answer(stop=True, stop_reason="T"),
    )
    assert settled("Stop", *answers).stop_reason == "S"


def test_words_are_kept_in_configured_order() -> None:
    answers = [Answer(context=(f"c{n}", f"d{n}"), feedback=f"f{n}", notice=f"n{n}") for n in range(3)]
    decision = settled("PostToolUse", *answers)
    assert decision.context == ("c0", "d0", "c1", "d1", "c2", "d2")
    assert decision.feedback == ("f0", "f1", "f2")
    assert decision.notices == ("n0", "n1", "n2")
    assert decision.reason == "f0"


def test_only_a_deny_interrupts() -> None:
    interrupting = Answer(permission="deny", blocks=True, reason="D", interrupt=True)
    assert settled("PermissionRequest", ALLOW, interrupting).interrupt
    assert not settled("PermissionRequest", Answer(permission="allow", interrupt=True)).interrupt


def test_problems_and_handlers_stand_in_the_decision() -> None:
    problem = Problem("run-exit", "found")
    outcome = Outcome("h", "f", "failed", problems=(problem,))
    decision = settle(EVENTS["Stop"], "id", [outcome], [problem])
    assert decision.handlers == (outcome,)
    assert decision.diagnostics == (problem,)
    assert decision.snapshot == "id"
    assert decision.event == "Stop"


ANSWERS = [
    SILENT,
    ALLOW,
    ASK,
    DENY,
    Answer(blocks=True, reason="B"),
    Answer(context=("c",)),
    Answer(feedback="f"),
]


@pytest.mark.parametrize("event", EVENTS)
def test_one_more_handler_never_makes_an_outcome_laxer(event: str) -> None:
    """Settling is monotone, but for a stop, which ends a turn that would have gone on."""
    row = EVENTS[event]
    possible = [a for a in ANSWERS if row.verdict is not Verdict.NONE or a.permission is None]
    for answers in product(possible, repeat=2):
        before = settled(event, *answers)
        for more, place in product(possible, range(3)):
            after = settled(event, *answers[:place], more, *answers[place:])
            assert after.block >= before.block
            if before.permission in {"ask", "deny"}:
                assert STRICTNESS[after.permission] >= STRICTNESS[before.permission]
