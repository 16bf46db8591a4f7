"""OPEN FIRST. The way of one event, from the host's payload to the decision that it obeys.

::

    host ─ payload ─▶ moment ─▶ match ─▶ run (jobs, process, answer) ─▶ settle ─▶ Decision
                                  ▲
         files ─▶ config ─▶ snapshot      (once per session)

The way is a generator: it yields each batch of running handlers and is sent what they
came to. `boathook.hooks` drives it from async and from blocking code alike.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from boathook import match, moment
from boathook.run import environment, fanout
from boathook.run.jobs import Occasion, Starter, tell
from boathook.settle import settle
from boathook.terms.decision import Decision
from boathook.terms.events import NOTIFICATIONS, Event, Notification
from boathook.terms.problem import Problem, located
from boathook.terms.report import MomentDecided, MomentOpened, Observer
from boathook.terms.wire import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Handler
    from boathook.run.jobs import Job
    from boathook.run.pool import Pool
    from boathook.run.process import Cancel
    from boathook.snapshot import Snapshot
    from boathook.terms.outcome import Outcome

log = logging.getLogger("boathook")

Way = Generator["fanout.Batch[Any]", "list[Any]", Decision]


@dataclass(slots=True)
class Engine:
    """What the events of one session share.

    `search` is where slow matchers are decided; handlers in the background run in `aside`, and
    are among the `unawaited` until they have ended.
    """

    snapshot: Snapshot
    root: str
    session_id: str
    pool: Pool
    search: Pool
    aside: Pool
    unawaited: fanout.Forgotten
    start: Starter
    observe: Observer | None
    reported: set[tuple[str | None, ...]] = field(default_factory=set)

    def moment(self, event: str, payload: Mapping[str, Any]) -> Way:
        """Take one event of either vocabulary its whole way."""
        began = time.monotonic()
        row = moment.row_of(event)
        if isinstance(row, Event):
            decision = yield from self._lifecycle(row, moment.checked(event, payload))
        else:
            decision = yield from self._notification(row, moment.checked(event, payload))
        tell(self.observe, lambda: MomentDecided(event, decision, (time.monotonic() - began) * 1000))
        return decision

    def notice(self, row: Notification, payload: Mapping[str, Any]) -> Occasion:
        """Return a notification ready to run; its answer says nothing, its failures are logged."""
        whole = moment.notification_payload(row, payload)
        return self._occasion(row.name, None, whole, self.snapshot.by_event[row.name])

    def forgotten(self, row: Notification, payload: Mapping[str, Any]) -> list[Job]:
        """Return the jobs of a notification that nobody waits for; each logs its own failure (S0)."""
        return self._logging(self.notice(row, payload))

    def _logging(self, occasion: Occasion) -> list[Job]:
        """Return the jobs of an occasion whose outcomes nobody sees, but for the log."""
        _log(occasion.event, occasion.problems)

        def logged(job: Job, cancel: Cancel, waited: float) -> Outcome:
            outcome = job(cancel, waited)
            _log(occasion.event, self._first_time([outcome]))
            return outcome

        return [partial(logged, job) for job in occasion.jobs()]

    def _lifecycle(self, row: Event, payload: Mapping[str, Any]) -> Way:
        snapshot = self.snapshot
        selection = yield from self._select(snapshot, row, payload)
        heard = NOTIFICATIONS[row.announces] if row.announces else None
        heard = heard if heard and snapshot.by_event[heard.name] else None
        unsaid = match.nothing_to_compare(snapshot, row, payload)
        if not (selection.handlers or unsaid or heard):
            return snapshot.quiet[row.name]
        whole = moment.lifecycle_payload(row, payload, self.session_id, self.root)
        handlers = self._applying(selection.handlers, row, whole)
        own = self._occasion(row.name, row, whole, self._awaited(handlers, row, whole))
        facts = moment.announced(heard, payload, self.session_id) if heard else {}
        derived = self.notice(heard, facts) if heard else None
        outcomes, noticed = yield from self._run(own, derived if heard and not heard.after else None)
        noted = own.problems or (derived.problems if derived else ())
        problems = (*unsaid, *selection.problems, *noted, *self._first_time(outcomes))
        decision = settle(row, snapshot.id, outcomes, problems)
        if heard and heard.after and derived and not decision.block:
            noticed, _ = yield from self._run(derived, None)
        return _with_notices(decision, noticed, self._first_time(noticed))

    def _notification(self, row: Notification, payload: Mapping[str, Any]) -> Way:
        if not self.snapshot.by_event[row.name]:
            return self.snapshot.quiet[row.name]
        occasion = self.notice(row, payload)
        outcomes, _ = yield from self._run(occasion, None)
        decision = Decision(row.name, self.snapshot.id, diagnostics=occasion.problems)
        return _with_notices(decision, outcomes, self._first_time(outcomes))

    def _select(
        self, snapshot: Snapshot, row: Event, payload: Mapping[str, Any]
    ) -> Generator[fanout.Batch[Any], list[Any], match.Selection]:
        value = match.compared(row, payload)
        known = match.remembered(snapshot, row.name, value)
        if known is not None:
            return known
        if not match.needs_search(snapshot, row.name):
            return match.select(snapshot, row, value)
        (selection,) = yield fanout.start(
            self.search, [lambda _cancel, _waited: match.select(snapshot, row, value)]
        )
        if isinstance(selection, Exception):
            raise selection
        found: match.Selection = selection
        return found

    def _awaited(
        self, handlers: tuple[Handler, ...], row: Event, payload: Mapping[str, Any]
    ) -> tuple[Handler, ...]:
        """Start the handlers that run in the background, and return the others."""
        background = tuple(handler for handler in handlers if handler.background)
        if not background:
            return handlers
        jobs = self._logging(self._occasion(row.name, row, payload, background))
        if jobs:
            self.unawaited.add(fanout.start(self.aside, jobs))
        return tuple(handler for handler in handlers if not handler.background)

    def _applying(
        self, handlers: tuple[Handler, ...], row: Event, payload: Mapping[str, Any]
    ) -> tuple[Handler, ...]:
        if all(handler.dialect is None for handler in handlers):
            return handlers
        from boathook.dialects.applying import applying

        return applying(handlers, row, payload, self.root)

    def _occasion(
        self, event: str, row: Event | None, payload: Mapping[str, Any], handlers: Sequence[Handler]
    ) -> Occasion:
        problems: tuple[Problem, ...] = ()
        if handlers and environment.depth() >= environment.DEPTH_LIMIT:
            found = f"this process is already {environment.depth()} handlers deep, so none of {len(handlers)} ran."
            handlers, problems = (
                (),
                (Problem("depth-limit", found, "A handler must not start its own agent."),),
            )
        folder = environment.existing_folder(self.root) if handlers else self.root
        if folder != self.root:
            found = f"the project root {self.root} is gone, so handlers start in {folder}."
            problems = (Problem("root-missing", found),)
        data = encode(payload)
        return Occasion(
            event, row, payload, data, self.root, folder, tuple(handlers), problems, self.start, self.observe
        )

    def _run(
        self, occasion: Occasion, along: Occasion | None
    ) -> Generator[fanout.Batch[Any], list[Any], tuple[list[Outcome], list[Outcome]]]:
        """Run one occasion and another along with it, at the same time."""
        both = (occasion,) if along is None else (occasion, along)
        for each in both:
            tell(self.observe, partial(MomentOpened, each.event, each.payload, len(each.handlers)))
        jobs = [job for each in both for job in each.jobs()]
        results = (yield fanout.start(self.pool, jobs)) if jobs else []
        count = len(occasion.handlers)
        return occasion.outcomes(results[:count]), along.outcomes(results[count:]) if along else []

    def _first_time(self, outcomes: Sequence[Outcome]) -> tuple[Problem, ...]:
        """Return the outcomes' problems; of failures, each cause only once in a session (section 6)."""
        fresh = []
        for outcome in outcomes:
            causes = {each: (each.code, each.file, each.pointer, each.handler) for each in outcome.problems}
            again = self.reported if outcome.status in {"failed", "timeout"} else ()
            fresh += [problem for problem, cause in causes.items() if cause not in again]
            self.reported.update(causes.values())
        return tuple(fresh)


def _log(event: str, problems: Sequence[Problem]) -> None:
    for problem in problems:
        level = logging.INFO if problem.severity == "info" else logging.WARNING
        log.log(level, "%s: %s", event, located(problem))


def _with_notices(decision: Decision, outcomes: Sequence[Outcome], problems: Sequence[Problem]) -> Decision:
    """Add the runs of a notification, whose failures are logged and change nothing (S0)."""
    _log(decision.event, problems)
    if not outcomes:
        return decision
    handlers = (*decision.handlers, *outcomes)
    return replace(decision, handlers=handlers, diagnostics=(*decision.diagnostics, *problems))
