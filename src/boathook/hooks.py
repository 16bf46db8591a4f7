"""The public face: load the hooks of a session, dispatch its moments."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from boathook import loading, moment
from boathook.config.watch import Watch
from boathook.engine import Engine
from boathook.run import fanout, process
from boathook.run.pool import Pool
from boathook.terms.events import Event
from boathook.terms.problem import ConfigError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.trust import Approval
    from boathook.run.jobs import Starter
    from boathook.snapshot import Snapshot
    from boathook.terms.decision import Decision
    from boathook.terms.problem import Problem
    from boathook.terms.report import Observer


BACKGROUND_LIMIT: Final = 8
"""Handlers of a session that run in the background at once; more wait for a place."""


class Hooks:
    """The hooks of one session: load once, then dispatch every moment of the host.

    Safe to use from any thread and any event loop at once.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        root: str | Path,
        *,
        limit: int | None = None,
        observe: Observer | None = None,
        start: Starter = process.run,
    ) -> None:
        """Take a snapshot as it is; `Hooks.load` is the usual way.

        `limit` is how many handlers run at once over all events (default: the larger of 8
        and twice the cores). `start` runs one command and is replaced only in tests.
        """
        self.root = Path(root)
        self._forgotten = fanout.Forgotten()
        self._aside = fanout.Forgotten()
        self._engine = Engine(
            snapshot=snapshot,
            root=str(root),
            session_id=uuid.uuid4().hex,
            pool=Pool(limit or max(8, 2 * (os.cpu_count() or 1))),
            search=Pool(1),
            aside=Pool(BACKGROUND_LIMIT),
            unawaited=self._aside,
            start=start,
            observe=observe,
        )
        self._wanted: loading.Wanted | None = None
        self._watch = Watch({})

    @classmethod
    def load(
        cls,
        *,
        files: Sequence[str | Path] | None = None,
        project: str | Path | None = None,
        trust_project: bool = False,
        approved: Approval | None = None,
        managed: str | Path | None = None,
        compat: Sequence[str] = (),
        limit: int | None = None,
        observe: Observer | None = None,
    ) -> Hooks:
        """Read the configuration and take its snapshot.

        With `files`, they are read and nothing else; without, the managed, project, user and
        plugin files of the project at `project` (default: the one that the current folder
        belongs to). The project's are loaded as far as a person approved them, see
        `boathook.config.trust`: for good, or for this session with `approved`; or all of them,
        unseen, with `trust_project`. `compat` names other agents (`"claude"`) whose own files are
        read, too; with `files`, it names the one whose form they have. Raises `ConfigError` when a file cannot be used at all;
        whatever else is wrong stands in `problems`.
        """
        wanted = loading.Wanted.of(
            files, project, managed, approved, trust_project=trust_project, compat=compat
        )
        loaded = loading.load(wanted)
        hooks = cls(loaded.snapshot, wanted.root, limit=limit, observe=observe)
        hooks._wanted, hooks._watch = wanted, loaded.watch
        return hooks

    def reload(self) -> tuple[Problem, ...]:
        """Read the configuration again, aside, and take it in one step for all moments to come.

        Moments under way end as they began. When a file cannot be used, everything stays as it
        is, and the faults are returned; nothing is raised. An empty result means that the new
        snapshot counts; what was found in it stands in `problems`. Hooks that were not made
        by `load` have nothing to read.
        """
        if self._wanted is None:
            return ()
        try:
            loaded = loading.load(self._wanted)
        except ConfigError as error:
            return error.problems
        self._engine, self._watch = (
            replace(self._engine, snapshot=loaded.snapshot, reported=set()),
            loaded.watch,
        )
        return ()

    @property
    def snapshot(self) -> Snapshot:
        """What this session runs, whatever is on disk later."""
        return self._engine.snapshot

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was found while loading."""
        return self._engine.snapshot.problems

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Run the handlers of one moment and return what they came to.

        A lifecycle event also announces the notification that it stands for. Whatever a
        handler does is in the decision; only a caller's mistake raises
        (`UnknownEventError`, `PayloadError`). Cancelling kills the handlers, waits until
        they are gone and raises `CancelledError`.
        """
        way = self._engine.moment(event, {} if payload is None else payload)
        try:
            batch = next(way)
            while True:
                batch = way.send(await batch.gather())
        except StopIteration as end:
            decision: Decision = end.value
            return self._noticed(decision)

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Do the same as `dispatch`, blocking the calling thread; no event loop is needed."""
        way = self._engine.moment(event, {} if payload is None else payload)
        try:
            batch = next(way)
            while True:
                batch = way.send(batch.wait())
        except StopIteration as end:
            decision: Decision = end.value
            return self._noticed(decision)

    def _noticed(self, decision: Decision) -> Decision:
        """Add the one notice that a hooks file changed on disk (contract section 9)."""
        notice = self._watch.look()
        return decision if notice is None else replace(decision, diagnostics=(*decision.diagnostics, notice))

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        """Announce a notification and return at once; its failures are logged (S0)."""
        row = moment.row_of(event)
        if isinstance(row, Event):
            raise UnknownEventError(
                f"{event} may decide something, so it cannot be forgotten: await dispatch()."
            )
        payload = moment.checked(event, {} if payload is None else payload)
        engine = self._engine
        if engine.snapshot.by_event[event]:
            self._forgotten.add(fanout.start(engine.pool, engine.forgotten(row, payload)))

    async def drain(self) -> None:
        """Wait until every notification that was fired and forgotten has been delivered."""
        await self._forgotten.drain()

    def drain_sync(self, timeout: float | None = None) -> bool:
        """Do the same as `drain`, blocking; false when `timeout` seconds were not enough."""
        return self._forgotten.drain_sync(timeout)

    def drain_background(self, timeout: float | None = None) -> bool:
        """Block until the handlers that run in the background have ended; false when `timeout` seconds were not enough.

        Nobody has to: a session's end does not wait for them, and they end with this process.
        """
        return self._aside.drain_sync(timeout)
