"""A host's whole session: it says what happens, and the guarantees hold (contract section 11)."""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import uuid
from typing import TYPE_CHECKING, Any, Literal, Self

from boathook.session.ending import PATIENCE, Ending, end_budget, within
from boathook.session.life import State, check_allowed, check_not_derived, is_ordered
from boathook.session.order import Line, Place, resolved
from boathook.session.toolcalls import ToolCalls
from boathook.session.turn import Turn
from boathook.terms.events import EVENTS, NOTIFICATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future
    from types import TracebackType

    from boathook.session.hooks_like import HooksLike
    from boathook.terms.decision import Decision

Surface = Literal["headless", "interactive"]
Source = Literal["startup", "resume", "clear", "compact"]
Trigger = Literal["manual", "auto"]
Reason = Literal["clear", "resume", "prompt_input_exit", "other"]

log = logging.getLogger("boathook")


class Session:
    """One session of a host, from any thread and any event loop. Offers what `Hooks` offers, and more.

    The awaited notifications and the lifecycle events keep program order: callers that
    come at once are served in the order in which they called. The events of tool calls
    and subagents wait for nobody. ``SessionEnd`` comes once, see `begin_end`; as a
    context manager, sync or async, the session ends on every way out of the block.

    `transcript_path`, `cwd`, `model` and `permission_mode` may be set anew at any time.
    `tools` is for the chunks of a model's stream and for the ends of its tool calls.
    """

    def __init__(
        self,
        hooks: HooksLike,
        *,
        session_id: str | None = None,
        cwd: str | None = None,
        transcript_path: str | None = None,
        model: str | None = None,
        permission_mode: str | None = None,
        surface: Surface = "headless",
        end_budget: float | None = None,
    ) -> None:
        """Describe a session that has not started yet; await `start`.

        `session_id` defaults to a new one. `end_budget` is in seconds and replaces the
        one that follows from the handlers.
        """
        self.hooks = hooks
        self.session_id = session_id or uuid.uuid4().hex
        self.cwd = cwd
        self.transcript_path = transcript_path
        self.model = model
        self.permission_mode = permission_mode
        self.surface = surface
        self.tools = ToolCalls(self.notify)
        self._end_budget = end_budget
        self._lock = threading.Lock()
        self._line = Line()
        self._turn = Turn()
        self._started = self._sealed = self._ended = False
        self._ending: Ending | None = None
        self._background: set[Future[None]] = set()

    @property
    def state(self) -> State:
        """Where the session stands."""
        if self._ended:
            return State.ENDED
        if self._ending:
            return State.ENDING
        if not self._started:
            return State.NEW
        return State.IDLE if self._turn.over else State.TURN

    @property
    def prompt_id(self) -> str | None:
        """The id of the prompt that is being worked on, or was last."""
        return self._turn.prompt_id

    @property
    def stop_hook_active(self) -> bool:
        """Whether the turn at hand goes on only because a handler of ``Stop`` wanted it."""
        return self._turn.stop_hook_active

    # What `Hooks` offers too.

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Run the handlers of a moment when its turn has come, and return what they came to.

        ``SessionEnd`` is `end`, ``Stop`` is counted. Raises `SessionOrderError` for what
        is impossible at this point, and what `Hooks.dispatch` raises.
        """
        given = payload or {}
        if event == "SessionEnd":
            return await self.end(given.get("reason", "other"))
        with self._place(event, given) as place:
            await resolved(place.called)
            decision = await self.hooks.dispatch(event, whole := self._opened(event, given))
            settled = self._settled(event, whole, decision)
            if settled is not decision:  # an overruled stop: the engine took the turn to go on
                await self.hooks.dispatch("task.complete", {"thread_id": self.session_id})
            return settled

    def dispatch_sync(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        """Do the same, blocking the calling thread; no event loop is needed."""
        given = payload or {}
        if event == "SessionEnd":
            return self.end_sync(given.get("reason", "other"))
        with self._place(event, given) as place:
            place.called.result()
            decision = self.hooks.dispatch_sync(event, whole := self._opened(event, given))
            settled = self._settled(event, whole, decision)
            if settled is not decision:
                self.hooks.dispatch_sync("task.complete", {"thread_id": self.session_id})
            return settled

    def notify(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        """Announce a notification and return at once.

        One that keeps program order is delivered in its turn, in the background. After
        the end nothing is delivered any more: then this is logged and forgotten, because
        a call that is being cancelled may report late.
        """
        given = payload or {}
        check_not_derived(event)
        if event not in NOTIFICATIONS:
            self.hooks.notify(event, given)  # which says why not
        elif is_ordered(event):
            self._notify_in_turn(event, given)
        elif self.state is State.ENDED:
            log.info("%s came after the end of the session and was dropped", event)
        else:
            check_allowed(self.state, event, given)
            self.hooks.notify(event, given)

    async def drain(self) -> None:
        """Wait until everything that was fired and forgotten has been delivered."""
        for gone in list(self._background):
            await resolved(gone)
        await self.hooks.drain()

    def drain_sync(self, timeout: float | None = None) -> bool:
        """Do the same, blocking; false when `timeout` seconds were not enough."""
        from concurrent.futures import wait

        late = wait(list(self._background), timeout).not_done
        return not late and self.hooks.drain_sync(timeout)

    # What hosts say.

    async def start(self, source: Source = "startup") -> Decision:
        """The session opens, or goes on after a compaction (source ``compact``)."""
        return await self.dispatch("SessionStart", {"source": source})

    async def prompt(self, text: str) -> Decision:
        """The user submits a prompt. Unless it is refused, a new turn begins, with a new `prompt_id`."""
        return await self.dispatch("UserPromptSubmit", {"prompt": text})

    async def stop(self, last_message: str) -> Decision:
        """The model wants to end the turn; it goes on while the decision's `block` is true.

        Eight continuations in a row are allowed; the next stop comes back with `block`
        false and a notice, whatever its handlers said.
        """
        return await self.dispatch("Stop", {"last_assistant_message": last_message})

    async def compact(self, trigger: Trigger, custom_instructions: str = "") -> Decision:
        """The context is about to be compacted, unless the decision's `block` is true."""
        return await self.dispatch(
            "PreCompact", {"trigger": trigger, "custom_instructions": custom_instructions}
        )

    async def input_required(self) -> None:
        """The user is asked for something: awaited on the interactive surface, else fired and forgotten (S0)."""
        if self.surface == "interactive":
            await self.dispatch("input.required")
        else:
            self.notify("input.required")

    def name_set(self, name: str, assistant_id: str) -> bool:
        """Onboarding was answered; whether there was a name to announce (S0: only a non-empty one)."""
        name = name.strip()
        if name:
            self.notify("user.name.set", {"name": name, "assistant_id": assistant_id})
        return bool(name)

    # The end.

    def begin_end(self, reason: Reason = "other") -> Ending:
        """Begin the end and return at once, so that the host can clean up meanwhile; then await it.

        On a thread of its own, ``SessionEnd`` is dispatched after everything that was
        dispatched before (waiting at most `PATIENCE` for it), once, within the budget.
        From now on no moment that keeps order is accepted; tool calls that are being
        cancelled may still report. Asked again, it returns the same `Ending`.
        """
        with self._lock:
            if self._ending:
                return self._ending
            ending = self._ending = Ending(reason)
            earlier = self._line.close()
        ending.begin(lambda: self._last_moments(ending, earlier))
        return ending

    async def end(self, reason: Reason = "other") -> Decision:
        """Begin the end, unless it has begun, and wait for it."""
        return await self.begin_end(reason)

    def end_sync(self, reason: Reason = "other") -> Decision:
        """Do the same, blocking the calling thread."""
        ending = self.begin_end(reason)
        ending.wait()
        return ending.decision

    def end_at_exit(self) -> None:
        """End the session when the interpreter exits, for hosts that cannot use a ``with`` block."""
        atexit.register(self.end_sync)

    async def __aenter__(self) -> Self:
        """Enter the block that the session lives in; it starts with `start`."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session, whatever happened."""
        await self.end()

    def __enter__(self) -> Self:
        """Enter the block that the session lives in; it starts with ``SessionStart``."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session, whatever happened."""
        self.end_sync()

    # How one moment is opened and settled.

    def _place(self, event: str, given: Mapping[str, Any]) -> Place:
        check_not_derived(event)
        known = event in EVENTS or event in NOTIFICATIONS
        if known and is_ordered(event):
            if self._ending:
                check_allowed(self.state, event, given)
            return self._line.join()
        if known:
            check_allowed(self.state, event, given)
        return self._line.walk_beside()

    def _opened(self, event: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check an event whose turn has come, and return its payload as of now."""
        if event in EVENTS and is_ordered(event):
            check_allowed(self._state_in_turn(), event, given)
        if event == "SessionStart":
            self._started = True
        return {**self._common(), **given, **self._own(event)} if event in EVENTS else given

    def _state_in_turn(self) -> State:
        """Return the state as an event sees it that was there before the end began, and is still served."""
        if self._sealed:
            return State.ENDED
        return State.IDLE if self._started else State.NEW

    def _common(self) -> dict[str, Any]:
        known = {
            "transcript_path": self.transcript_path,
            "cwd": self.cwd,
            "permission_mode": self.permission_mode,
            "prompt_id": self.prompt_id,
        }
        return {key: value for key, value in known.items() if value is not None}

    def _own(self, event: str) -> dict[str, Any]:
        """Return what the session knows better than its host."""
        own: dict[str, Any] = {"session_id": self.session_id}
        if event == "SessionStart" and self.model is not None:
            own["model"] = self.model
        if event == "UserPromptSubmit":
            own["prompt_id"] = uuid.uuid4().hex
        if event == "Stop":
            own["stop_hook_active"] = self._turn.stop_hook_active
        return own

    def _settled(self, event: str, payload: Mapping[str, Any], decision: Decision) -> Decision:
        if event == "Stop":
            return self._turn.stopped(decision)
        if event == "UserPromptSubmit" and decision.continue_ and not decision.block:
            self._turn = Turn(payload["prompt_id"], over=False)
        return decision

    def _notify_in_turn(self, event: str, given: Mapping[str, Any]) -> None:
        check_allowed(self.state, event, given)
        place = self._line.join()
        self._background.add(place.left)
        place.left.add_done_callback(self._background.discard)
        threading.Thread(target=self._deliver, args=(place, event, given), daemon=True).start()

    def _deliver(self, place: Place, event: str, given: Mapping[str, Any]) -> None:
        with place:  # whoever waits for the place to be left finds a failure in the log already
            try:
                place.called.result()
                self.hooks.dispatch_sync(event, given)
            except Exception:
                log.exception("%s could not be delivered", event)

    async def _last_moments(self, ending: Ending, earlier: list[Future[None]]) -> None:
        try:
            if not await within(PATIENCE, asyncio.gather(*(resolved(left) for left in earlier))):
                log.warning("the session ends although earlier moments are still running")
            self._sealed = True
            self._line.dismiss()
            await within(PATIENCE, self.hooks.drain())
            if self._started:
                await self._dispatch_end(ending)
        finally:
            self.tools.cancel_open()
            self._ended = True
            atexit.unregister(self.end_sync)
        await within(PATIENCE, self.hooks.drain())

    async def _dispatch_end(self, ending: Ending) -> None:
        budget = self._end_budget or end_budget(self.hooks)
        payload = {**self._common(), **self._own("SessionEnd"), "reason": ending.reason}
        try:
            ending.decision = await asyncio.wait_for(self.hooks.dispatch("SessionEnd", payload), budget)
        except TimeoutError:
            log.warning("the handlers of SessionEnd did not end within %g s and were killed", budget)
        else:
            ending.delivered = True
