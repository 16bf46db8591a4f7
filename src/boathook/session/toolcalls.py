"""Tool calls from a stream: when to say ``tool.use``, and what goes with each ``tool.result`` (S0)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final

from boathook.session.complete import NotJSON, Scanner
from boathook.session.payloads import (
    CANCELLED,
    REJECTED,
    ToolStatus,
    permission_request_payload,
    post_tool_use_failure_payload,
    post_tool_use_payload,
    pre_tool_use_payload,
    tool_args,
    tool_error_payload,
    tool_output,
    tool_result_payload,
    tool_use_payload,
)
from boathook.terms.problem import PayloadError

__all__ = [
    "ToolCalls",
    "permission_request_payload",
    "post_tool_use_failure_payload",
    "post_tool_use_payload",
    "pre_tool_use_payload",
    "tool_args",
    "tool_error_payload",
    "tool_output",
    "tool_result_payload",
    "tool_use_payload",
]

REMEMBERED: Final = 4_096
"""Ids of calls that ended, or never parsed, that are kept: a message that is sent again announces nothing."""

log = logging.getLogger("boathook")

Emit = Callable[[str, dict[str, Any]], None]


class _Call:
    """One call as far as its chunks have told."""

    __slots__ = ("given", "name", "pieces", "said", "tool_id")

    def __init__(self, name: str = "", tool_id: str = "") -> None:
        self.name = name
        self.tool_id = tool_id
        self.pieces = Scanner()
        self.given: Mapping[str, Any] | None = None  # arguments that came whole, among chunks
        self.said = False  # announced, or known never to be

    @property
    def has_args(self) -> bool:
        return self.given is not None or self.pieces.complete

    def is_another(self, tool_id: str, name: str, args: object) -> bool:
        """Whether a chunk with these, at the index of this call, begins a new one."""
        if tool_id and self.tool_id:
            return tool_id != self.tool_id
        if not (name and self.name):
            return False
        return (name != self.name and not self.pieces.empty) or bool(tool_id and args and self.has_args)

    def take_name(self, name: str) -> None:
        """Take a name, or a further piece of it; some providers repeat it with every chunk."""
        if not self.name or (name != self.name and self.pieces.empty):
            self.name += name

    def take_args(self, args: object) -> None:
        if isinstance(args, Mapping):
            self.given = args
        elif isinstance(args, str):
            self.pieces.add(args)

    def args(self) -> object:
        """Return the arguments as they stand, or raise `NotJSON`."""
        return self.pieces.value() if self.given is None else self.given


class _Message:
    """The calls of one message under way, and which of them came last."""

    __slots__ = ("by_id", "by_index", "last")

    def __init__(self) -> None:
        self.by_index: dict[Hashable, _Call] = {}
        self.by_id: dict[str, _Call] = {}
        self.last: _Call | None = None

    def begin(self, index: Hashable) -> _Call:
        self.last = self.by_index[index] = _Call()
        return self.last


class ToolCalls:
    """Turns what a host sees of its model's tool calls into ``tool.use``, ``tool.result`` and ``tool.error``.

    `emit` is called with the event and its payload, in order, from whichever thread
    brought the news; it must return at once. Feed chunks as they come and `finish` each
    message, or hand over whole calls with `whole`; then say how each call ended.

    A call is announced once per id, as soon as its arguments are one complete JSON value
    and its id and name are known. One that was streamed is judged by its stream alone.
    """

    def __init__(self, emit: Emit) -> None:
        """Begin with no calls."""
        self._emit = emit
        self._lock = threading.RLock()
        self._messages: dict[Hashable, _Message] = {}
        self._open: dict[str, tuple[str, dict[str, Any] | None]] = {}
        self._remembered: dict[str, None] = {}
        self._cancelled: set[str] = set()

    def feed(self, chunks: Iterable[Mapping[str, Any]], message: Hashable = None) -> None:
        """Take chunks of streamed calls: mappings with ``index``, ``id``, ``name`` and ``args``.

        ``args`` is a piece of JSON text; each of the four may be missing or None. Chunks
        with the same index belong to one call, unless a new id says otherwise. `message`
        tells messages apart that stream at the same time.
        """
        with self._lock:
            for chunk in chunks:
                self._take(self._messages.setdefault(message, _Message()), chunk)

    def finish(self, message: Hashable = None) -> None:
        """The message is complete: a bare number is, too, and no arguments at all are ``{}``."""
        with self._lock:
            under_way = self._messages.pop(message, _Message())
            for call in under_way.by_index.values():
                self._conclude(call)

    def whole(self, name: str, tool_id: str | None, args: object) -> None:
        """A call as a whole, from a provider that does not stream, or after its stream.

        `args` is what the model sent, parsed; or its JSON text. Announces nothing if the
        call has no id, was announced before, or if its streamed arguments never parsed.
        """
        with self._lock:
            if not tool_id or self._is_known(tool_id) or self._is_streaming(tool_id):
                return
            call = _Call(name, tool_id)
            if isinstance(args, str):
                call.take_args(args)
                self._conclude(call)
            else:
                self._announce(call, args)

    def broken_off(self, message: Hashable = None) -> None:
        """The message will not be completed: what it announced is cancelled, what it began is forgotten."""
        with self._lock:
            for tool_id in self._messages.pop(message, _Message()).by_id:
                if tool_id in self._open:
                    self.cancelled(self._open[tool_id][0], tool_id)

    def announced_before(self, name: str, tool_id: str | None, args: Mapping[str, Any]) -> None:
        """A call that an earlier process announced: announces nothing, and its end is told with `args`.

        Has no effect on a call that is known here.
        """
        with self._lock:
            if tool_id and not self._is_known(tool_id):
                self._open[tool_id] = (name, tool_args(args))

    def succeeded(self, name: str, tool_id: str | None, output: object) -> None:
        """The call returned `output`."""
        self._end(name, tool_id, "success", output)

    def failed(self, name: str, tool_id: str | None, output: object) -> None:
        """The call raised, or returned an error; `output` is what the model reads of it."""
        self._end(name, tool_id, "error", output)

    def rejected(self, name: str, tool_id: str | None, output: object = REJECTED) -> None:
        """A person or a hook refused the call, so it never ran."""
        self._end(name, tool_id, "error", output)

    def cancelled(self, name: str, tool_id: str | None, output: object = CANCELLED) -> None:
        """The call was cancelled before or while it ran."""
        self._end(name, tool_id, "error", output)

    def cancel_open(self) -> None:
        """Every call that was announced and has not ended is cancelled; what it reports later is dropped."""
        with self._lock:
            self._messages.clear()
            for tool_id, (name, _) in list(self._open.items()):
                self.cancelled(name, tool_id)
                self._cancelled.add(tool_id)

    def _take(self, message: _Message, chunk: Mapping[str, Any]) -> None:
        tool_id, name, args = chunk.get("id") or "", chunk.get("name") or "", chunk.get("args")
        call = message.last = self._call_at(message, chunk.get("index"), tool_id, name, args)
        if call.said:
            return
        if tool_id:
            call.tool_id = tool_id
            message.by_id[tool_id] = call
            call.said = self._is_known(tool_id)
        call.take_name(name)
        call.take_args(args)
        if call.has_args:
            self._conclude(call)

    def _call_at(self, message: _Message, index: Hashable, tool_id: str, name: str, args: object) -> _Call:
        """Return the call that a chunk belongs to; one that it displaces gets no more arguments."""
        if index is None:
            return self._call_without_index(message, tool_id, name)
        call = message.by_index.get(index)
        if call and not call.is_another(tool_id, name, args):
            return call
        if call:
            self._conclude(call)
        return message.begin(index)

    def _call_without_index(self, message: _Message, tool_id: str, name: str) -> _Call:
        """A chunk that has no index goes by its id; without one, it goes on with the last call."""
        if tool_id in message.by_id:
            return message.by_id[tool_id]
        if message.last is None or tool_id or name:
            return message.begin(object())
        return message.last

    def _conclude(self, call: _Call) -> None:
        """Announce a call whose arguments are all there, or never."""
        if call.said or not (call.tool_id and call.name):
            return
        try:
            args = call.args()
        except NotJSON:
            call.said = True
            self._remember(call.tool_id)
        else:
            self._announce(call, args)

    def _announce(self, call: _Call, args: object) -> None:
        call.said = True
        if self._is_known(call.tool_id):
            return
        payload = tool_use_payload(call.name, call.tool_id, args)
        try:
            self._emit("tool.use", payload)
        except PayloadError as error:
            log.warning("tool.use of %s was dropped: %s", call.name, error)
            self._remember(call.tool_id)
        else:
            self._open[call.tool_id] = (call.name, payload["tool_args"])

    def _is_known(self, tool_id: str) -> bool:
        return tool_id in self._open or tool_id in self._remembered

    def _is_streaming(self, tool_id: str) -> bool:
        calls = (message.by_id.get(tool_id) for message in self._messages.values())
        return any(call and not call.pieces.empty for call in calls)

    def _end(self, name: str, tool_id: str | None, status: ToolStatus, output: object) -> None:
        with self._lock:
            if tool_id in self._cancelled:
                return
            _, args = self._open.pop(tool_id or "", (name, None))
            if tool_id:
                self._remember(tool_id)
            self._emit("tool.result", tool_result_payload(name, tool_id, args, status, output))
            if status == "error":
                self._emit("tool.error", tool_error_payload(name))

    def _remember(self, tool_id: str) -> None:
        self._remembered[tool_id] = None
        while len(self._remembered) > REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
