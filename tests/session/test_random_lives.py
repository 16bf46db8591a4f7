"""Random lives of a session, checked against what was written down: by a fake, and by real handlers."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from boathook.session import Session, SessionOrderError, State
from boathook.session.life import is_ordered
from boathook.terms.events import EVENTS, NOTIFICATIONS
from session_recording import Recording, blocking, load, read_log

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from boathook.session import HooksLike
    from boathook.terms.decision import Decision

MOMENTS = ("UserPromptSubmit", "Stop", "PreCompact", "PermissionRequest", "Notification", "context.offload")
BESIDE = ("PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop")
ENDS = ("succeeded", "failed", "rejected", "cancelled")

Heard = list[tuple[str, dict[str, Any]]]


class Lives(RuleBasedStateMachine):
    """Drives one session at random, tasks, calls, crashes and cancellations, until it ends.

    `mark` numbers the moments in the order of their calls, so that the log alone tells
    whether that order was kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.hooks = self.open_hooks()
        self.session = Session(self.hooks, session_id="life")
        self.mark = 0
        self.marked: dict[int, str] = {}
        self.refused: set[int] = set()
        self.struck: set[int] = set()
        self.cancelled: set[int] = set()
        self.tasks: dict[int, asyncio.Task[object]] = {}
        self.calls: dict[str, str] = {}  # id → how it ended, "" while it is open
        self.unmatched = 0
        self.began = False

    def open_hooks(self) -> HooksLike:
        raise NotImplementedError

    def heard(self) -> Heard:
        raise NotImplementedError

    def run(self, work: Awaitable[object]) -> object:
        return self.loop.run_until_complete(work)

    def spawn(self, event: str, payload: Mapping[str, Any], slow: int = 0) -> int:
        """Call for a moment in a task of its own, which runs up to its first wait."""
        self.mark += 1
        mark = self.mark
        self.marked[mark] = event

        async def moment() -> None:
            try:
                await self.session.dispatch(event, {**payload, "slow": slow, "mark": mark})
            except SessionOrderError:
                self.refused.add(mark)
            except asyncio.CancelledError:
                self.cancelled.add(mark)

        self.tasks[mark] = self.loop.create_task(moment())
        self.run(asyncio.sleep(0))
        return mark

    def settle(self) -> None:
        self.run(asyncio.wait_for(asyncio.gather(*self.tasks.values()), 30))
        self.tasks.clear()

    @initialize(early=st.booleans())
    def begin(self, early: bool) -> None:
        if early:
            mark = self.spawn("UserPromptSubmit", {"prompt": "too early"})
            self.settle()
            assert mark in self.refused
            return
        self.start()

    @precondition(lambda self: not self.began and self.session.state is State.NEW)
    @rule()
    def start(self) -> None:
        self.spawn("SessionStart", {"source": "startup"})
        self.began = True

    @precondition(lambda self: self.began)
    @rule(event=st.sampled_from((*MOMENTS, *BESIDE)), slow=st.integers(0, 2))
    def moment(self, event: str, slow: int) -> None:
        own = {"prompt": ""} if event == "UserPromptSubmit" else {"tool_name": "ls", "tool_input": {}}
        self.spawn(event, own, slow)

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.cancel_once(data.draw(st.sampled_from(sorted(self.tasks))))
        self.run(asyncio.sleep(0))

    def cancel_once(self, mark: int) -> None:
        # A second cancelling is force: the engine then no longer waits until the handler is gone.
        if mark not in self.struck:
            self.struck.add(mark)
            self.tasks[mark].cancel()

    @precondition(lambda self: self.tasks)
    @rule()
    def wait(self) -> None:
        self.settle()

    @precondition(lambda self: self.began and self.session.state is not State.NEW)
    @rule(pieces=st.integers(1, 3), late=st.booleans())
    def call(self, pieces: int, late: bool) -> None:
        tool_id = f"call-{len(self.calls)}"
        text = f'{{"of": "{tool_id}"}}'
        cuts = [len(text) * at // pieces for at in range(pieces + 1)]
        first = {"index": 0, "id": None if late else tool_id, "name": "ls", "args": ""}
        body = [{"index": 0, "args": text[a:b]} for a, b in itertools.pairwise(cuts)]
        self.session.tools.feed([first, *body, {"index": 0, "id": tool_id, "args": None}])
        self.session.tools.finish()
        self.calls[tool_id] = ""

    @precondition(lambda self: self.began and self.session.state is not State.NEW)
    @rule()
    def call_that_never_parses(self) -> None:
        self.session.tools.feed([{"index": 0, "id": f"broken-{self.mark}", "name": "ls", "args": '{"of'}])
        self.session.tools.finish()
        self.session.tools.failed("ls", f"broken-{self.mark}", "bad arguments")
        self.unmatched += 1

    @precondition(lambda self: "" in self.calls.values())
    @rule(data=st.data(), how=st.sampled_from(ENDS))
    def end_of_call(self, data: st.DataObject, how: str) -> None:
        tool_id = data.draw(st.sampled_from([one for one, ended in self.calls.items() if not ended]))
        getattr(self.session.tools, how)("ls", tool_id, "output")
        self.calls[tool_id] = how

    def teardown(self) -> None:
        try:
            self.end_somehow()
            self.check(self.heard())
        finally:
            self.loop.close()
            self.clean_up()

    def clean_up(self) -> None:
        pass

    def end_somehow(self) -> None:
        """Leave as a host does that is cancelled: the end overlaps the cancelling, asked for twice."""

        async def leave() -> None:
            ending = self.session.begin_end()
            for mark in self.tasks:
                if mark % 2:
                    self.cancel_once(mark)
            await asyncio.gather(ending, self.session.end("clear"), *self.tasks.values())

        self.run(asyncio.wait_for(leave(), 50))
        late = self.spawn("Stop", {})
        self.run(self.tasks.pop(late))
        assert late in self.refused

    def check(self, heard: Heard) -> None:
        self.check_order(heard)
        self.check_calls(heard)
        started = [event for event, _ in heard if event == "SessionStart"]
        ended = [event for event, _ in heard if event == "SessionEnd"]
        if not (self.cancelled & self.marks_of("SessionStart")):
            assert started == (["SessionStart"] if self.began else [])
        # A start that was cancelled may have begun: then it has an end, though no handler tells of it.
        assert len(ended) <= 1
        assert len(ended) >= len(started)

    def marks_of(self, event: str) -> set[int]:
        return {mark for mark, name in self.marked.items() if name == event}

    def check_order(self, heard: Heard) -> None:
        ordered = [(event, payload) for event, payload in heard if "mark" in payload and is_ordered(event)]
        marks = [payload["mark"] for _, payload in ordered]
        assert marks == sorted(set(marks))
        must = {mark for mark, event in self.marked.items() if is_ordered(event)}
        assert must - self.cancelled - self.refused <= set(marks)
        non_tool = [event for event, _ in heard if is_ordered(event) and event != "task.complete"]
        assert "SessionEnd" not in non_tool[:-1]

    def check_calls(self, heard: Heard) -> None:
        uses = {p["tool_id"]: p["tool_args"] for event, p in heard if event == "tool.use"}
        assert uses == {tool_id: {"of": tool_id} for tool_id in self.calls}
        assert len([event for event, _ in heard if event == "tool.use"]) == len(self.calls)
        results = [p for event, p in heard if event == "tool.result"]
        assert len(results) == len(self.calls) + self.unmatched  # also of those that nobody ended
        for payload in results:
            how = self.calls.get(payload["tool_id"], "failed")
            assert payload["tool_args"] == uses.get(payload["tool_id"], {})
            assert payload["tool_status"] == ("success" if how == "succeeded" else "error")
        errors = [p for p in results if p["tool_status"] == "error"]
        assert len([event for event, _ in heard if event == "tool.error"]) == len(errors)


class Slow(Recording):
    """Takes as many rounds of the loop as the payload asks for."""

    async def dispatch(self, event: str, payload: Mapping[str, Any] | None = None) -> Decision:
        self._begin(event, payload)
        try:
            for _ in range(1 + 4 * (payload or {}).get("slow", 0)):
                await asyncio.sleep(0)
        finally:
            self.log.append(("end", event))
        return self.answer(event, payload or {})


class RecordedLives(Lives):
    """Over a fake: many lives."""

    def open_hooks(self) -> HooksLike:
        self.recording = Slow(blocking("Stop"))
        return self.recording

    def heard(self) -> Heard:
        return self.recording.payloads

    def check_order(self, heard: Heard) -> None:
        super().check_order(heard)
        ordered = [(what, event) for what, event in self.recording.log if is_ordered(event)]
        begins, ends = ordered[::2], ordered[1::2]
        assert all(what == "begin" for what, _ in begins)  # so none began before another had ended
        assert [event for _, event in begins] == [event for _, event in ends]


class RealLives(Lives):
    """Over the real engine and real handlers that write a log: fewer lives."""

    def open_hooks(self) -> HooksLike:
        self.folder = Path(tempfile.mkdtemp())
        self.log = self.folder / "log"
        slowly = """case "$line" in *'"slow": 1'*) sleep 0.03;; *'"slow": 2'*) sleep 0.06;; esac"""
        write = f"""line=$(cat); {slowly}; printf '%s\\n' "$line" >> '{self.log}'"""
        tool_events = ["tool.use", "tool.result", "tool.error"]
        return load(
            self.folder,
            notifications=[(["/bin/sh", "-c", write], [*tool_events, "context.offload"])],
            lifecycle={event: {"command": write} for event in EVENTS},
        )

    def heard(self) -> Heard:
        return [(str(p.get("hook_event_name", p.get("event"))), p) for p in read_log(self.log)]

    def clean_up(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def limits(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


@pytest.mark.parametrize("event", [*MOMENTS, *BESIDE])
def test_the_random_lives_use_events_that_exist(event: str) -> None:
    assert event in EVENTS or event in NOTIFICATIONS


def _case(machine: type[Lives], examples: int, steps: int) -> Callable[[], None]:
    from hypothesis.stateful import run_state_machine_as_test

    return lambda: run_state_machine_as_test(machine, settings=limits(examples, steps))


def test_the_guarantees_hold_over_many_random_lives() -> None:
    _case(RecordedLives, examples=60, steps=25)()


def test_the_guarantees_hold_in_what_real_handlers_wrote_over_random_lives() -> None:
    _case(RealLives, examples=12, steps=25)()
