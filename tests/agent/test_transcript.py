"""The transcript as a hook reads it."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from boathook.agent.transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path


def transcript(path: Path) -> Transcript:
    return Transcript(path, session_id="s", cwd="/w")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


TALK = [
    SystemMessage("be brief", id="0"),
    HumanMessage("hi", id="1"),
    AIMessage("look", id="2", tool_calls=[{"name": "ls", "args": {"path": "/w"}, "id": "c"}]),
    ToolMessage("a.py", id="3", name="ls", tool_call_id="c", status="error"),
    AIMessage("done", id="4"),
]


def test_each_message_is_one_object_a_line_in_the_shape_that_stop_hooks_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.jsonl"
    transcript(path).sync(TALK)
    rows = lines(path)
    assert [row["type"] for row in rows] == ["system", "user", "assistant", "user", "assistant"]
    assert [row["message"]["role"] for row in rows] == [row["type"] for row in rows]
    assert [row["message"]["content"] for row in rows] == [
        [{"type": "text", "text": "be brief"}],
        [{"type": "text", "text": "hi"}],
        [
            {"type": "text", "text": "look"},
            {"type": "tool_use", "id": "c", "name": "ls", "input": {"path": "/w"}},
        ],
        [{"type": "tool_result", "tool_use_id": "c", "content": "a.py", "is_error": True}],
        [{"type": "text", "text": "done"}],
    ]
    assert {(row["sessionId"], row["cwd"]) for row in rows} == {("s", "/w")}
    assert all(row["timestamp"].endswith("Z") for row in rows)


def test_it_is_for_its_owner_alone(tmp_path: Path) -> None:
    transcript(tmp_path / "s" / "t.jsonl").sync(TALK)
    assert (tmp_path / "s" / "t.jsonl").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700


def test_messages_are_written_once_however_often_they_are_handed_over(tmp_path: Path) -> None:
    written = transcript(tmp_path / "t.jsonl")
    for count in (1, 3, 3, 5, 5):
        written.sync(TALK[:count])
    assert [row["uuid"] for row in lines(tmp_path / "t.jsonl")] == ["0", "1", "2", "3", "4"]


def test_a_file_of_an_earlier_run_is_continued_and_a_torn_line_forgiven(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    transcript(path).sync(TALK[:3])
    path.write_text(path.read_text() + '{"type": "us\n')
    transcript(path).sync(TALK)
    assert [line for line in path.read_text().splitlines() if "us\n" in line] == []
    assert len(path.read_text().splitlines()) == 6


def test_messages_without_ids_are_told_apart_by_place_and_words(tmp_path: Path) -> None:
    written = transcript(tmp_path / "t.jsonl")
    written.sync([HumanMessage("same"), HumanMessage("same")])
    written.sync([HumanMessage("same"), HumanMessage("same")])
    assert len(lines(tmp_path / "t.jsonl")) == 2


def test_lines_of_many_threads_are_never_torn(tmp_path: Path) -> None:
    written = transcript(tmp_path / "t.jsonl")
    threads = [
        threading.Thread(
            target=written.sync, args=([HumanMessage("x" * 9000, id=f"{n}-{k}") for k in range(20)],)
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(tmp_path / "t.jsonl")) == 160


def test_what_json_or_a_terminal_could_trip_over_stays_one_ascii_line(tmp_path: Path) -> None:
    transcript(tmp_path / "t.jsonl").sync([HumanMessage("a\nb\x1b[2J\u2028\ud800", id="1")])
    raw = (tmp_path / "t.jsonl").read_bytes()
    assert raw.isascii()
    assert raw.count(b"\n") == 1
    assert b"\x1b" not in raw
