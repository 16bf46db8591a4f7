"""What a person and what a program see of a session, without any agent."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from boathook import Hooks
from boathook.agent.demo.timeline import Record, Style, Timeline
from boathook.agent.jsonlines import JsonSurface
from boathook.agent.output import Output
from boathook.agent.plain import PlainSurface
from boathook.agent.surface import Moment, Surface, Watched, logging_to
from boathook.agent.words import did, lasting, subject
from boathook.terms.decision import Decision
from boathook.terms.outcome import Answer, Outcome, Status
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.terms.outcome import Permission

BELL = "\x1b[2Jboo\x07"
CALL = Moment(7, "PreToolUse", {"tool_name": "execute", "tool_input": {"command": "ls"}})


def ended(
    answer: Answer | None = None, status: Status = "ok", name: str = "guard.sh", **more: Any
) -> Outcome:
    return Outcome(name, "/w/hooks.json", status, answer=answer or Answer(), duration_ms=12.4, **more)


def decision(*outcomes: Outcome, event: str = "PreToolUse", **more: Any) -> Decision:
    return Decision(event, "0" * 64, handlers=outcomes, **more)


class Streams:
    """Both output streams of a surface, and what was written to them."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()

    def plain(self, *, colour: bool = False, approve_all: bool = False) -> PlainSurface:
        return PlainSurface(Output(self.out), Output(self.err), colour=colour, approve_all=approve_all)

    def json(self) -> JsonSurface:
        return JsonSurface(Output(self.out), Output(self.err))

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("event", "outcome", "words"),
    [
        ("PreToolUse", ended(Answer(permission="deny", reason="no")), ("denied", "no")),
        ("PreToolUse", ended(Answer(permission="deny", fallback="the engine's")), ("denied", "")),
        ("PreToolUse", ended(Answer(permission="allow", fallback="none")), ("allowed", "")),
        ("PreToolUse", ended(Answer(permission="ask", reason="sure?")), ("asks", "sure?")),
        ("Stop", ended(Answer(blocks=True, reason="tests"), "blocked"), ("not done yet", "tests")),
        ("UserPromptSubmit", ended(Answer(blocks=True, reason="rude"), "blocked"), ("refused", "rude")),
        ("PostToolUse", ended(Answer(feedback="lint")), ("tells the model", "lint")),
        ("SessionStart", ended(Answer(context=("a", "b"))), ("added context", "a\nb")),
        ("Stop", ended(Answer(stop=True, stop_reason="enough")), ("stopped everything", "enough")),
        ("Stop", ended(Answer(notice="for the person")), ("ok", "")),
        ("Stop", ended(status="timeout"), ("timed out", "")),
        ("Stop", ended(status="failed", problems=(Problem("run-exit", "exit 9"),)), ("failed", "exit 9")),
        ("tool.use", ended(), ("ok", "")),
    ],
)
def test_what_a_handler_did_is_told_in_few_words(
    event: str, outcome: Outcome, words: tuple[str, str]
) -> None:
    assert did(event, outcome) == words


@pytest.mark.parametrize(
    ("approve_all", "permission", "told"),
    [
        (False, None, ["! Bash  refused: no hook allowed it; --approve all would"]),
        (False, "allow", []),
        (True, None, []),
    ],
)
def test_a_call_that_nobody_allowed_is_told_with_how_to_allow_it(
    approve_all: bool, permission: Permission | None, told: list[str]
) -> None:
    streams = Streams()
    surface = streams.plain(approve_all=approve_all)
    asked = replace(CALL, event="PermissionRequest")
    surface.decided(asked, decision(event="PermissionRequest", permission=permission), 1)
    assert streams.err.getvalue().splitlines() == told


def test_durations_are_for_people() -> None:
    assert [lasting(ms) for ms in (0.4, 12.4, 999.4, 1240, 61000)] == [
        "0 ms",
        "12 ms",
        "999 ms",
        "1.2 s",
        "61.0 s",
    ]


def test_a_moment_is_about_its_tool_under_its_wire_name() -> None:
    assert subject(CALL.payload) == "Bash"
    assert subject({"source": "startup"}) == "startup"
    assert subject({}) == ""


def test_each_handler_is_one_quiet_line_on_stderr_and_stdout_stays_the_agents() -> None:
    streams = Streams()
    surface = streams.plain()
    surface.said("Hel")
    surface.said("lo")
    surface.said_all()
    outcomes = (ended(Answer(permission="deny", reason="no\nway"), "blocked"), ended(name="second"))
    surface.decided(CALL, decision(*outcomes), 20)
    surface.heard("tool.use", ended(name="log.sh"))
    assert streams.out.getvalue() == "Hello\n"
    assert streams.err.getvalue().splitlines() == [
        "· PreToolUse Bash  guard.sh  denied: no way  12 ms",
        "· PreToolUse Bash  second  ok  12 ms",
        "· tool.use  log.sh  ok  12 ms",
    ]


def test_a_moment_without_handlers_is_silent() -> None:
    streams = Streams()
    streams.plain().opened(CALL)
    streams.plain().decided(CALL, decision(), 1)
    assert (streams.out.getvalue(), streams.err.getvalue()) == ("", "")


def test_notices_and_warnings_are_shown_and_infos_are_not() -> None:
    streams = Streams()
    problems = (Problem("run-exit", "It exited with 9."), Problem("run-waited", "It waited."))
    streams.plain().decided(CALL, decision(notices=("mind the tide",), diagnostics=problems), 1)
    assert streams.err.getvalue().splitlines() == ["! mind the tide", "! It exited with 9. [run-exit]"]


@pytest.mark.parametrize("colour", [True, False])
def test_nothing_that_a_handler_says_is_obeyed_by_a_terminal(colour: bool) -> None:
    streams = Streams()
    surface = streams.plain(colour=colour)
    outcome = ended(Answer(permission="deny", reason=BELL), name=BELL, stderr=BELL)
    surface.decided(CALL, decision(outcome, notices=(BELL,), diagnostics=(Problem("run-exit", BELL),)), 1)
    surface.warned(BELL)
    assert "\x07" not in streams.err.getvalue()
    assert "\x1b[2J" not in streams.err.getvalue()
    assert ("\x1b[" in streams.err.getvalue()) is colour


def test_json_is_one_object_a_line_and_numbers_pair_what_belongs_together() -> None:
    streams = Streams()
    surface = streams.json()
    surface.opened(CALL)
    surface.decided(CALL, decision(ended(), permission="deny", reason=BELL), 20.04)
    surface.heard("tool.use", ended(name="log.sh"))
    surface.said("Hel")
    surface.said("lo\n")
    surface.said_all()
    surface.said_all()
    rows = streams.rows()
    assert [row["type"] for row in rows] == ["moment", "handler", "decision", "handler", "assistant"]
    assert [row.get("moment") for row in rows] == [7, 7, 7, None, None]
    assert rows[0]["payload"] == CALL.payload
    assert (rows[1]["name"], rows[1]["status"], rows[1]["duration_ms"]) == ("guard.sh", "ok", 12.4)
    assert (rows[2]["decision"]["permission"], rows[2]["decision"]["reason"]) == ("deny", BELL)
    assert rows[2]["duration_ms"] == 20.0
    assert rows[4]["text"] == "Hello\n"
    assert "\x1b" not in streams.out.getvalue()


def test_json_keeps_words_for_people_off_stdout() -> None:
    streams = Streams()
    streams.json().warned(BELL)
    assert streams.out.getvalue() == ""
    assert streams.err.getvalue() == "boathook: \\x1b[2Jboo\\x07\n"


def test_an_output_whose_reader_has_gone_swallows_the_rest() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        output = Output(stream)
        os.close(reading)
        for _ in range(3):
            output.line("x" * 100_000)


def test_an_output_shows_what_its_encoding_lacks() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Output(stream).line("ä✓\ud800")
    assert raw.getvalue() == b"\\xe4\\u2713\\ud800\n"


def test_lines_of_many_threads_are_never_torn() -> None:
    streams = Streams()
    surface = streams.json()

    def hear() -> None:
        for _ in range(50):
            surface.heard("tool.use", ended())

    threads = [threading.Thread(target=hear) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(streams.rows()) == 400


class Told:
    """A surface that keeps what it is told."""

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []

    def opened(self, moment: Moment) -> None:
        self.log.append(("opened", moment.number, moment.event))

    def decided(self, moment: Moment, decision: Decision, duration_ms: float) -> None:
        self.log.append(
            ("decided", moment.number, [each.name for each in decision.handlers], duration_ms > 0)
        )

    def heard(self, event: str, outcome: Outcome) -> None:
        self.log.append(("heard", event, outcome.status))

    def said(self, piece: str) -> None: ...
    def said_all(self) -> None: ...
    def warned(self, words: str) -> None: ...


def watched(tmp_path: Path, surface: Surface, handlers: dict[str, Any], listeners: list[Any]) -> Watched:
    (tmp_path / "map.json").write_text(json.dumps({"hooks": handlers}))
    (tmp_path / "list.json").write_text(json.dumps({"hooks": listeners}))
    watched = Watched(surface)
    watched.hooks = Hooks.load(
        files=[tmp_path / "map.json", tmp_path / "list.json"], project=tmp_path, observe=watched.observe
    )
    return watched


STOP = {"Stop": [{"hooks": [{"type": "command", "name": "mine", "command": "true"}]}]}


@pytest.mark.parametrize("sync", [True, False])
def test_a_derived_notification_is_heard_once_and_is_no_handler_of_its_moment(
    tmp_path: Path, sync: bool
) -> None:
    told = Told()
    hooks = watched(tmp_path, told, STOP, [{"command": ["true"]}])
    payload = {"last_assistant_message": "done"}
    got = hooks.dispatch_sync("Stop", payload) if sync else asyncio.run(hooks.dispatch("Stop", payload))
    assert len(got.handlers) == 2
    assert told.log == [
        ("opened", 1, "Stop"),
        ("heard", "task.complete", "ok"),
        ("decided", 1, ["mine"], True),
    ]


def test_a_notification_of_its_own_is_a_moment_whose_handlers_are_heard(tmp_path: Path) -> None:
    told = Told()
    hooks = watched(tmp_path, told, {}, [{"command": ["false"], "events": ["tool.use"]}])
    hooks.notify("tool.use", {"tool_name": "ls", "tool_id": "1", "tool_args": {}})
    assert hooks.drain_sync(30)
    asyncio.run(hooks.drain())
    asyncio.run(hooks.dispatch("input.required"))
    assert told.log == [
        ("opened", 1, "tool.use"),
        ("heard", "tool.use", "failed"),
        ("opened", 2, "input.required"),
        ("decided", 2, [], True),
    ]


def test_the_projects_own_log_is_shown_but_for_what_outcomes_tell_anyway() -> None:
    streams, log = Streams(), logging.getLogger("boathook")
    with logging_to(streams.plain()):
        log.info("too quiet")
        log.warning("mind %s", BELL)
        try:
            raise RuntimeError("deep")
        except RuntimeError:
            log.exception("it broke")
        record = log.makeRecord("boathook", logging.WARNING, "engine.py", 1, "a handler failed", (), None)
        log.handle(record)
    log.debug("after")
    assert streams.err.getvalue().splitlines() == [
        "boathook: mind \\x1b[2Jboo\\x07",
        "boathook: it broke (RuntimeError: deep)",
    ]


def page(style: Style) -> tuple[Timeline, io.StringIO, Record]:
    written, record = io.StringIO(), Record()
    return Timeline(Output(written), style, record), written, record


def story(timeline: Timeline) -> None:
    edit = {"file_path": "/w/a.py", "old_string": "a = 1", "new_string": "a = 2"}
    timeline.opened(Moment(1, "UserPromptSubmit", {"prompt": "Go " * 40}))
    timeline.said(f"I go. {BELL}")
    timeline.said_all()
    timeline.opened(Moment(2, "PreToolUse", {"tool_name": "edit_file", "tool_input": edit}))
    timeline.decided(
        CALL, decision(ended(Answer(permission="deny", reason=f"{BELL}\n" + "no " * 60), "blocked")), 9
    )
    timeline.opened(Moment(3, "Stop", {}))
    again = ended(Answer(blocks=True, reason="tests"), "blocked", name="n" * 90)
    timeline.decided(Moment(3, "Stop", {}), decision(again, event="Stop", notices=("bye",)), 9)
    timeline.heard("tool.use", ended())
    timeline.warned("odd")


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("plain", [True, False])
def test_a_timeline_stays_within_its_width_and_obeys_nobody(width: int, plain: bool) -> None:
    timeline, written, record = page(Style(width=width, colour=False, symbols=not plain))
    story(timeline)
    text = written.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert ("✗ guard.sh       denied" in text) is not plain
    assert "- a = 1" in text
    assert "+ a = 2" in text
    assert "Edit  a.py" in text
    assert record.heard == {"tool.use": 1}
    assert [moment.event for moment, _ in record.moments] == ["PreToolUse", "Stop"]


def test_a_timeline_is_coloured_only_when_told_so() -> None:
    timeline, written, _ = page(Style(colour=True))
    story(timeline)
    assert "\x1b[31m✗\x1b[0m" in written.getvalue()
    assert "\x1b[2J" not in written.getvalue()
