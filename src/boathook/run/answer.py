"""One `Exit` → one `Outcome`: exit code and output read by the event's row (contract section 6).

Pure, but for looking at files in order to explain a failure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from boathook.run import diagnose
from boathook.run.fields import Judged, blocking, judge, reason_in, shown
from boathook.run.process import Exit
from boathook.run.reply import Printed, read_reply
from boathook.terms.events import Block
from boathook.terms.outcome import Answer, Outcome, Status
from boathook.terms.problem import Problem
from boathook.terms.text import cut, excerpt, safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.schema import Handler
    from boathook.run.process import Command
    from boathook.terms.events import Event

NOTICED_WAIT: Final = 0.001
"""Seconds of waiting for a place that are worth reporting."""


def read_exit(
    handler: Handler,
    row: Event | None,
    command: Command,
    ended: Exit,
    payload: Mapping[str, Any],
    waited: float,
) -> Outcome:
    """Read how one handler ended; `row` is None for a notification, whose answer says nothing.

    `waited` is in seconds: the time before the start, spent waiting for a free place.
    """
    problem = diagnose.failure(handler, command, ended)
    if problem is not None:
        judged = Judged(failure=problem)
    elif row is None:
        judged = _heard(ended)
    elif ended.code == 2:
        judged = _exit_two(handler, row, command, ended)
    else:
        judged = _exit_zero(handler, row, command, ended, payload)
    return _outcome(handler, row, ended, judged, waited)


def broken(handler: Handler, row: Event | None, error: BaseException) -> Outcome:
    """Return the outcome of a run that Boathook itself failed to carry out."""
    found = f"Boathook failed to run it ({type(error).__name__}: {excerpt(str(error))})."
    return unrun(handler, row, Problem("internal", found, "Please report this."))


def unrun(handler: Handler, row: Event | None, failure: Problem) -> Outcome:
    """Return the outcome of a handler that was not run: a failure like any other."""
    return _outcome(handler, row, Exit(), Judged(failure=failure), 0.0)


def _heard(ended: Exit) -> Judged:
    if ended.code == 2:
        found = "it ended with exit status 2, but a notification only hears: that changes nothing."
        return Judged(failure=Problem("run-exit", found))
    return Judged()


def _exit_two(handler: Handler, row: Event, command: Command, ended: Exit) -> Judged:
    missing = diagnose.unread_script(handler, command, ended)
    if missing is not None and row.block in (Block.CONTINUE, Block.CONTEXT):
        return Judged(failure=missing)  # a turn must not be sent back again and again by a typing error
    reply = None if ended.stdout_cut else read_reply(ended.stdout)
    reason = shown(ended.stderr.decode("utf-8", "replace")) or reason_in(reply)
    if missing is not None:
        reason = f"{_who(handler)}: {missing.message}"
    answer, problems = blocking(row, reason or None, _fallback(handler, reply))
    return Judged(answer, problems if missing is None else (missing, *problems))


def _exit_zero(
    handler: Handler, row: Event, command: Command, ended: Exit, payload: Mapping[str, Any]
) -> Judged:
    if ended.stdout_cut:
        found = f"it printed more than is kept, so its answer was not read. It began: {excerpt(ended.stdout[:400].decode('utf-8', 'replace'))}"
        return Judged(failure=Problem("answer-cut", found, "Print one JSON object and nothing else."))
    if ended.stdout.strip() == command.stdin.strip():
        return Judged()  # `cat`, whatever the payload holds
    match read_reply(ended.stdout):
        case None:
            return Judged()
        case Problem() as problem:
            return Judged(failure=problem)
        case str(text) if row.text:
            return Judged(Answer(context=(cut(text),)))
        case str(text):
            found = (
                f"it printed text that is no JSON object, which says nothing on {row.name}: {excerpt(text)}"
            )
            return Judged(problems=(Problem("answer-text", found, "Words for a person belong on stderr."),))
        case Printed() as reply:
            return judge(reply, row, payload, _fallback(handler, None))


def _outcome(handler: Handler, row: Event | None, ended: Exit, judged: Judged, waited: float) -> Outcome:
    answer, problems = _failed(handler, row, judged) if judged.failure else (judged.answer, judged.problems)
    if problems:
        problems = tuple(_placed(handler, problem) for problem in problems)
    if waited >= NOTICED_WAIT:
        found = f"it waited {waited * 1000:.0f} ms for a free place before it started."
        problems = (*problems, _placed(handler, Problem("run-waited", found)))
    return Outcome(
        name=handler.name,
        source=handler.source,
        status=_status(judged, ended),
        exit_code=ended.code,
        signal=None if ended.signal is None else diagnose.signal_name(ended.signal),
        duration_ms=ended.duration * 1000,
        waited_ms=waited * 1000,
        stderr=safe(ended.stderr.decode("utf-8", "replace")) if ended.stderr else "",
        answer=answer,
        problems=problems,
    )


def _status(judged: Judged, ended: Exit) -> Status:
    if ended.timed_out:
        return "timeout"
    if judged.failure is not None:
        return "failed"
    refused = judged.answer.blocks or judged.answer.feedback is not None or ended.code == 2
    return "blocked" if refused else "ok"


def _failed(handler: Handler, row: Event | None, judged: Judged) -> tuple[Answer, tuple[Problem, ...]]:
    """A failure counts as its handler's `onFailure` says, where the event can block at all."""
    failure, answer = judged.failure, judged.answer
    assert failure is not None
    if row is not None and handler.on_failure == "block" and row.block.refuses and not answer.blocks:
        words = f"{_who(handler)} failed, and it is set to block then: {failure.message} {diagnose.switch_off(handler)}"
        blocked, _ = blocking(row, cut(words), cut(words))
        answer = replace(answer, permission=blocked.permission, blocks=True, reason=blocked.reason)
    return answer, (failure, *judged.problems)


def _placed(handler: Handler, problem: Problem) -> Problem:
    """Say whose run a problem is about, and where that handler is configured."""
    return replace(
        problem, handler=handler.name, file=handler.source, pointer=handler.pointer, line=handler.line
    )


def _who(handler: Handler) -> str:
    return f"{handler.name} ({handler.source})"


def _fallback(handler: Handler, reply: object) -> str:
    printed = f" It printed: {excerpt(reply)}" if isinstance(reply, str) else ""
    return f"{_who(handler)} refused this and gave no reason.{printed}"
