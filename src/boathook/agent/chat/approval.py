"""The card that asks for a permission, and what was permitted for good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from boathook.agent.chat.lines import Line, about_call, in_full, seen_from
from boathook.terms.tools import wire_name

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType

SHELL = "execute"


class Permits:
    """What the person approved for the rest of this session.

    A shell command is approved to the letter, since another one is another thing; any
    other tool by its name.
    """

    def __init__(self) -> None:
        self._kept: set[tuple[str, str]] = set()

    def add(self, name: str, args: Mapping[str, Any]) -> None:
        """Permit calls like this one from now on."""
        self._kept.add(_key(name, args))

    def cover(self, name: str, args: Mapping[str, Any]) -> bool:
        """Whether a call like this one was permitted before."""
        return _key(name, args) in self._kept


def _key(name: str, args: Mapping[str, Any]) -> tuple[str, str]:
    return name, json.dumps(args.get("command")) if name == SHELL else ""


class Card(Vertical, can_focus=True):
    """Asks about one tool call. Answers by a `Card.Answered`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer('approve')", "Approve"),
        ("a", "answer('always')", "Approve for this session"),
        ("n", "answer('reject')", "Reject"),
        ("r", "say_why", "Reject, and say why"),
        ("up", "look(-1)", "Look further up"),
        ("down", "look(1)", "Look further down"),
        ("pageup", "look(-6)", "Look further up"),
        ("pagedown", "look(6)", "Look further down"),
    ]

    class Answered(Message):
        """The person decided: ``approve``, ``always`` or ``reject``, with `words` for the model."""

        def __init__(self, card: Card, answer: str, words: str = "") -> None:
            super().__init__()
            self.card, self.answer, self.words = card, answer, words

    def __init__(
        self,
        action: Mapping[str, Any],
        decided: Future[dict[str, Any]],
        *,
        folder: str,
        attention: Callable[[], float],
    ) -> None:
        """Ask about an action of a request of LangChain's HumanInTheLoopMiddleware; `decided` is set by the app.

        Paths are shown as seen from `folder`. `attention` says in how many seconds the keyboard may be taken from what the person is typing.
        """
        super().__init__(id="card")
        self.tool, self.args = str(action["name"]), dict(action["args"])
        self._why = str(action.get("description") or "").partition("\n")[0]
        self.decided = decided
        self._folder, self._attention = folder, attention

    def compose(self) -> ComposeResult:
        """Show the call whole, and the keys."""
        args = seen_from(self._folder, self.args)
        self.border_title = f"Allow {wire_name(self.tool)}?"
        yield Line(f"{wire_name(self.tool)}  {about_call(self.tool, args)}", "call")
        if whole := in_full(self.tool, args):
            with VerticalScroll(can_focus=False):
                yield Line(whole, "args")
        yield Line(self._why, "why")
        yield Static("", classes="keys", markup=False)

    def on_resize(self) -> None:
        """Say so where not all of the call can be seen at once."""
        always = "this command" if self.tool == SHELL else f"every {wire_name(self.tool)} call"
        hidden = any(view.max_scroll_y for view in self.query(VerticalScroll))
        keys = f"y approve   n reject   r reject, and say why{'   ↑ ↓ see all of it' if hidden else ''}"
        self.query_one(".keys", Static).update(f"{keys}\na approve {always} for this session")

    def action_look(self, lines: int) -> None:
        """Scroll the call."""
        for view in self.query(VerticalScroll):
            view.scroll_relative(y=lines, animate=False)

    def on_mount(self) -> None:
        """Take the keyboard, once nobody is typing."""
        later = self._attention()
        if later > 0:
            self.set_timer(later, self.on_mount)
        else:
            self.focus()

    def action_answer(self, answer: str) -> None:
        """Answer."""
        self.post_message(self.Answered(self, answer))

    def action_say_why(self) -> None:
        """Ask for the reason, which the model reads."""
        if not self.query(Input):
            self.mount(why := Input(placeholder="Why not? Enter sends, Esc goes back", id="why-not"))
            why.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Reject with words."""
        event.stop()
        self.post_message(self.Answered(self, "reject", event.value.strip()))

    def step_back(self) -> bool:
        """Take the question for a reason away again; false where it was not there."""
        asked = self.query(Input)
        if asked:
            asked.remove()
            self.focus()
        return bool(asked)
