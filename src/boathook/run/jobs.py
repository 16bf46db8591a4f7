"""Handlers + one payload → the jobs that run them, each coming to an `Outcome`."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boathook.run import pins
from boathook.run.answer import broken, read_exit, unrun
from boathook.run.environment import base_environment, with_passed
from boathook.run.process import Cancel, Command, Exit
from boathook.terms.outcome import Outcome
from boathook.terms.report import HandlerEnded, HandlerStarted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Handler
    from boathook.run.foreign import Foreign
    from boathook.terms.events import Event
    from boathook.terms.problem import Problem
    from boathook.terms.report import Observer, Report

Starter = Callable[[Command, Cancel | None], Exit]
"""Runs one command to its end; the seam at which tests hand over a plain function."""

Job = Callable[[Cancel, float], Outcome]
"""Runs one handler, given its cancel and the seconds that it had to wait for a place."""

log = logging.getLogger("boathook")
_keys = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Occasion:
    """One event about to run: its handlers, and what all of them share.

    `root` is the project's, `folder` where handlers start: the same, as long as the root
    exists. `problems` are those of the occasion itself.
    """

    event: str
    row: Event | None
    payload: Mapping[str, Any]
    data: bytes
    root: str
    folder: str
    handlers: tuple[Handler, ...]
    problems: tuple[Problem, ...]
    start: Starter
    observe: Observer | None

    def jobs(self) -> list[Job]:
        """Return one job per handler, in order."""
        if not self.handlers:
            return []
        base = base_environment(self.root, self.event, str(self.payload.get("session_id") or ""))
        return [
            self._job(handler, self._command(handler, base), self._foreign(handler))
            for handler in self.handlers
        ]

    def outcomes(self, results: Sequence[Outcome | Exception]) -> list[Outcome]:
        """Return the outcomes of the jobs; one that could not even begin is a failure."""
        pairs = zip(self.handlers, results, strict=True)
        return [
            broken(handler, self.row, result) if isinstance(result, Exception) else result
            for handler, result in pairs
        ]

    def _command(self, handler: Handler, base: Mapping[str, str]) -> Command:
        argv = handler.argv or ("/bin/sh", "-c", handler.command or "")
        env = with_passed(base, handler.pass_env) if handler.pass_env else base
        if handler.env:
            env = {**env, **dict(handler.env)}
        return Command(argv=argv, cwd=self.folder, env=env, stdin=self.data, timeout=handler.timeout)

    def _foreign(self, handler: Handler) -> Foreign | None:
        if handler.dialect is None or self.row is None:
            return None
        from boathook.run.foreign import Foreign  # only sessions with such handlers pay for it

        return Foreign.of(handler, self.row, self.payload, self.root)

    def _job(self, handler: Handler, command: Command, foreign: Foreign | None) -> Job:
        command = command if foreign is None else foreign.command(command)

        def job(cancel: Cancel, waited: float) -> Outcome:
            key = next(_keys)
            name, source, words = handler.name, handler.source, handler.status_message
            tell(self.observe, lambda: HandlerStarted(self.event, name, source, words, key))
            try:
                changed = pins.changed(handler) if handler.pinned else None
                if changed is None:
                    ended = self.start(command, cancel)
                    outcome = (
                        read_exit(handler, self.row, command, ended, self.payload, waited)
                        if foreign is None
                        else foreign.outcome(command, ended, waited)
                    )
                else:
                    outcome = unrun(handler, self.row, changed)
            except Exception as error:
                log.exception("%s: Boathook failed to run it", name)
                outcome = broken(handler, self.row, error)
            tell(self.observe, lambda: HandlerEnded(self.event, outcome, key))
            return outcome

        return job


def tell(observe: Observer | None, report: Callable[[], Report]) -> None:
    """Hand a report to the host's observer; what that raises is its own affair."""
    if observe is None:
        return
    try:
        observe(report())
    except Exception:
        log.exception("an observer failed")
