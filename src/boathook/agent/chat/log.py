"""The conversation on the screen: words, tool calls and what hooks did, as the feed brings them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from textual.containers import VerticalScroll

from boathook.agent.chat.lines import HookLine, Notice, Said, ToolLine
from boathook.agent.words import subject
from boathook.terms.problem import located
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from boathook.agent.chat.running import Running
    from boathook.agent.surface import Moment
    from boathook.terms.decision import Decision
    from boathook.terms.outcome import Outcome
    from boathook.terms.report import HandlerStarted

LINES: Final = 400
"""Lines that are kept on the screen; all that was said is in the transcript."""


class Log(VerticalScroll):
    """What was said and done; the `Screen` of a `Feed`.

    `running` shows the handlers that still run, `command_of` knows a handler's command by
    its name and its file.
    """

    def __init__(self, running: Running, command_of: Callable[[str, str], str]) -> None:
        super().__init__(id="log")
        self._at_work, self._command_of = running, command_of
        self._lines: deque[Widget] = deque()  # children are removed with a delay
        self._saying: Said | None = None
        self._is_away = False
        self._tools: dict[str | None, ToolLine] = {}

    def on_mount(self) -> None:
        """Stay at the end, unless the person scrolls away from it."""
        self.anchor()

    def release_anchor(self) -> None:
        """The person scrolls."""
        super().release_anchor()
        self._is_away = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """See whether the person came back to the end."""
        super().watch_scroll_y(old_value, new_value)
        if new_value >= self.max_scroll_y:
            self._is_away = False

    def watch_virtual_size(self) -> None:
        """See to it that the last line is seen; the anchor alone goes by what the height was before."""
        self.call_after_refresh(self._follow)

    def on_resize(self) -> None:
        """Do the same where a card takes some of the room."""
        self.call_after_refresh(self._follow)

    def return_to_end(self) -> None:
        """Show the end again, wherever the person had scrolled to."""
        self._is_away = False
        self.scroll_end(animate=False)

    def _follow(self) -> None:
        if not self._is_away and self.scroll_y < self.max_scroll_y:
            self.scroll_end(animate=False)

    def add(self, line: Widget) -> None:
        """Add a line at the end; the oldest ones go when there are too many."""
        self.mount(line)
        self._lines.append(line)
        if len(self._lines) > LINES:
            self._lines.popleft().remove()

    def tell(self, words: str, kind: str = "notice") -> None:
        """Add words for the person; `kind` is ``notice``, ``warning`` or ``quiet``."""
        self.add(Notice(words, kind))

    async def clear(self) -> None:
        """Take everything away."""
        self._tools.clear()
        self._lines.clear()
        self._saying = None
        await self.remove_children()

    def show_moment(self, moment: Moment) -> None:
        """Show a tool call that begins or ends."""
        payload = moment.payload
        if moment.event == "tool.use":
            self.show_words_end()
            self._tools[payload["tool_id"]] = line = ToolLine(payload["tool_name"], payload["tool_args"])
            self.add(line)
        elif moment.event == "tool.result":
            known = self._tools.pop(payload["tool_id"], None)
            line = known or ToolLine(payload["tool_name"], payload["tool_args"])
            if known is None:
                self.add(line)
            line.end(payload["tool_status"], payload["tool_output"])

    def show_decision(self, moment: Moment, decision: Decision) -> None:
        """Show a line for each handler, notice and diagnostic."""
        about = f"{moment.event} {subject(moment.payload)}".rstrip()
        for outcome in decision.handlers:
            self._add_hook(about, moment.event, outcome)
        for notice in decision.notices:
            self.tell(f"! {notice}")
        for problem in decision.diagnostics:
            if problem.severity != "info":
                self.tell(f"! {excerpt(located(problem), 600)}", "warning")

    def show_outcome(self, event: str, outcome: Outcome) -> None:
        """Show a line for the handler of a notification."""
        self._add_hook(event, event, outcome)

    def show_words(self, piece: str) -> None:
        """Show what the agent says, as it says it."""
        if self._saying is None:
            self._saying = Said()
            self.add(self._saying)
        self._saying.add(piece)

    def show_words_end(self) -> None:
        """Close the agent's message."""
        self.draw_words()
        self._saying = None

    def show_warning(self, words: str) -> None:
        """Show what the person should know."""
        self.tell(words, "warning")

    def show_running(self, started: HandlerStarted) -> None:
        """Follow a handler."""
        self._at_work.add(started)

    def show_ran(self, key: int) -> None:
        """Follow it no more."""
        self._at_work.drop(key)

    def _add_hook(self, about: str, event: str, outcome: Outcome) -> None:
        self.add(HookLine(about, event, outcome, self._command_of(outcome.name, outcome.source)))

    def draw_words(self) -> None:
        """Show at once what was said so far."""
        if self._saying is not None:
            self._saying.draw()
