"""The headless surface for programs: one JSON object a line for every moment, handler and decision."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boathook.terms.text import safe

if TYPE_CHECKING:
    from boathook.agent.output import Output
    from boathook.agent.surface import Moment
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome


class JsonSurface:
    """Writes objects to `records`, told apart by ``type``; what a person should know goes to `notes`.

    ``moment`` has a number, the event and its payload; ``handler`` and ``decision`` carry the
    number of their moment, notifications' handlers none; ``assistant`` is a message of the agent.
    """

    def __init__(self, records: Output, notes: Output) -> None:
        self._records, self._notes = records, notes
        self._message: list[str] = []

    def opened(self, moment: Moment) -> None:
        """Write the moment."""
        self._write("moment", moment=moment.number, event=moment.event, payload=dict(moment.payload))

    def decided(self, moment: Moment, decision: Decision, duration_ms: float) -> None:
        """Write each handler in configured order, then the decision."""
        for outcome in decision.handlers:
            self._write("handler", moment=moment.number, event=moment.event, **outcome.as_dict())
        whole = decision.as_dict()
        del whole["handlers"]
        self._write("decision", moment=moment.number, **whole, duration_ms=round(duration_ms, 1))

    def heard(self, event: str, outcome: Outcome) -> None:
        """Write the handler of a notification."""
        self._write("handler", moment=None, event=event, **outcome.as_dict())

    def said(self, piece: str) -> None:
        """Keep the piece until the message is complete."""
        self._message.append(piece)

    def said_all(self) -> None:
        """Write the message."""
        text = "".join(self._message)
        self._message.clear()
        if text:
            self._write("assistant", text=text)

    def warned(self, words: str) -> None:
        """Write the words for a person."""
        self._notes.line(f"boathook: {safe(words)}")

    def _write(self, kind: str, **facts: Any) -> None:  # noqa: ANN401 - whatever JSON can say
        self._records.line(json.dumps({"type": kind, **facts}, default=str))
