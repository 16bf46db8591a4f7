"""Questions that stand before everything else: a name, a trust, a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from boathook.agent.chat.lines import Line
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

T = TypeVar("T")


class Question(ModalScreen[T], Generic[T]):
    """A box in the middle of the screen."""


class AskName(Question[str]):
    """Asks once how the person wants to be called; an empty answer passes the question over."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "skip", "Skip")]

    def compose(self) -> ComposeResult:
        """Show the question."""
        with Vertical() as box:
            box.border_title = "Welcome aboard"
            yield Static("How may the assistant call you?")
            yield Input(placeholder="Your name", id="name")
            yield Static("Enter keeps it   Esc skips", classes="keys")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the answer."""
        self.dismiss(event.value.strip())

    def action_skip(self) -> None:
        """Pass over."""
        self.dismiss("")


class AskTrust(Question[str]):
    """Shows what a project's hooks would run, and asks: ``session``, ``always`` or ``no``."""

    AUTO_FOCUS = "VerticalScroll"  # which the arrow keys scroll
    BINDINGS: ClassVar[list[BindingType]] = [
        ("s", "answer('session')", "This session"),
        ("a", "answer('always')", "Always"),
        ("n,escape", "answer('no')", "No"),
    ]

    def __init__(self, description: str) -> None:
        super().__init__()
        self._description = description

    def compose(self) -> ComposeResult:
        """Show everything that an approval rests on."""
        with Vertical() as box:
            box.border_title = "This project brings hooks along"
            with VerticalScroll():
                yield Line(self._description, "description")
            yield Static("s run them in this session   a always, until they change   n no", classes="keys")

    def action_answer(self, answer: str) -> None:
        """Answer."""
        self.dismiss(answer)


class Pick(Question[str | None]):
    """Offers (id, words) to choose from; None where nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "Leave")]

    def __init__(self, title: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title, self._choices = title, choices

    def compose(self) -> ComposeResult:
        """Show the choices."""
        with Vertical() as box:
            box.border_title = self._title
            options = [Option(excerpt(words, 110), id=key) for key, words in self._choices]
            yield OptionList(*options, markup=False)
            yield Static("Enter chooses   Esc leaves", classes="keys")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the choice."""
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)
