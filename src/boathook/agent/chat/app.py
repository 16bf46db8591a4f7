"""OPEN FIRST. The terminal application: what is on the screen, and what keys and hooks do to it."""

from __future__ import annotations

import asyncio
import signal
import traceback
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import App
from textual.binding import Binding
from textual.widgets import Static

from boathook.agent.chat import archive, commands, loaded
from boathook.agent.chat.approval import Card
from boathook.agent.chat.chats import Chats
from boathook.agent.chat.driver import SteadyDriver
from boathook.agent.chat.feed import Feed
from boathook.agent.chat.lines import Asked
from boathook.agent.chat.log import Log
from boathook.agent.chat.prompt_box import History, PromptBox
from boathook.agent.chat.questions import AskName, AskTrust, Pick
from boathook.agent.chat.running import Running
from boathook.agent.conversation import state_folder
from boathook.agent.signals import exit_status
from boathook.agent.surface import logging_to
from boathook.config import trust
from boathook.config.trust_words import describe
from boathook.hosts.langchain.gates import HOOK_ASKS
from boathook.hosts.langchain.words import is_ours
from boathook.loading import project_documents
from boathook.terms.problem import BoathookError, located
from boathook.terms.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping, Sequence

    from textual.app import ComposeResult

    from boathook.agent.conversation import Halt, Setup
    from boathook.config.trust import Approval
    from boathook.session.session import Reason
    from boathook.terms.problem import Problem

AGAIN: Final = 2.0
"""Seconds within which a second Ctrl-C quits."""

GRACE: Final = 1.0
"""Seconds that a cancelled turn has for its last words, before the session's end begins beside it."""

FORCED: Final = 1.5
"""Seconds that a forced end may still take."""

TYPING: Final = 0.7
"""Seconds after a key in the box within which more may come, although a card has opened meanwhile."""

REPEATING: Final = 0.4
"""Seconds after an answer within which the same key may come again, and answer the next card unread."""

INTERRUPTED: Final = exit_status(signal.SIGINT)


@dataclass(frozen=True, slots=True)
class Left:
    """How a chat ended: the exit status, what nobody had the time to read, and the session, if it can be resumed."""

    status: int
    last_words: Sequence[str]
    session_id: str | None


class ChatApp(App[int]):
    """A conversation in the terminal; made inside its event loop. `failure` is what kept it from beginning."""

    CSS_PATH = "chat.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "boathook chat"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("ctrl+c", "interrupt", "Cancel, quit, force", priority=True, show=False),
        Binding("ctrl+q", "leave", "Quit", priority=True, show=False),
        Binding("escape", "cancel", "Cancel", show=False),
    ]

    def __init__(self, setup: Setup, *, resume: str | None = None, theme: str | None = None) -> None:
        """Prepare a chat; with `resume`, the session of that id goes on."""
        super().__init__(driver_class=SteadyDriver)
        self._setup, self._resume = setup, resume
        if theme:
            self.theme = theme
        self.failure: Exception | None = None
        self._work: asyncio.Task[None] | None = None
        self._end: asyncio.Task[None] | None = None
        self._status = 0
        self._pressed = self._answered = 0.0
        # Kept, and not looked up: a question's screen may stand before the one that they are on.
        self.running = Running()
        self.log_view = Log(self.running, self._command_of)
        self.feed = Feed(asyncio.get_running_loop(), self.log_view)
        self.chats = Chats(setup, self.feed, self._approve)
        self.box = PromptBox(History(state_folder() / "history.jsonl"))
        self._status_line = Static("", id="status", markup=False)

    def compose(self) -> ComposeResult:
        """Lay the screen out, from top to bottom."""
        yield from (self.log_view, self.running, self.box, self._status_line)

    async def on_mount(self) -> None:
        """Begin."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)
        self._tell_status("starting")
        self.run_worker(self._begin(), exit_on_error=False)

    def on_unmount(self) -> None:
        """The screen is gone: what still happens is not shown any more."""
        self.feed.close()

    @property
    def is_busy(self) -> bool:
        """Whether a turn, or anything else that can be cancelled, is under way."""
        return self._work is not None and not self._work.done()

    @property
    def takes_prompts(self) -> bool:
        """Whether a prompt can be sent: the session was opened, and nothing is under way."""
        return self._work is not None and self._work.done() and self._end is None

    # The beginning.

    async def _begin(self) -> None:
        try:
            await self.chats.open(await self._trusted(), self._resume)
            self._show_problems(self.chats.hooks.problems)
            await self._onboard()
            if self._resume:
                await self._show_history()
        except Exception as error:  # told by whoever called, when the screen is gone
            self.failure = error
            self.exit(1)
            return
        self._do(self._open_session())
        self.box.focus()

    async def _open_session(self) -> None:
        self._stopped(await self.chats.begin())

    def _show_problems(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if problem.severity != "info":
                self.log_view.show_warning(located(problem))

    async def _trusted(self) -> Approval | None:
        """Ask about the project's hooks where nobody did yet."""
        if self._setup.files is not None or self._setup.trust_project:
            return None
        root, compat = self._setup.root, self._setup.compat
        review = await asyncio.to_thread(lambda: trust.review(root, project_documents(root, compat)))
        if review.state not in {"new", "changed"} or review.problems:
            return None
        answer = await self.push_screen_wait(AskTrust(describe(review)))
        return None if answer == "no" else trust.grant(review, always=answer == "always")

    async def _onboard(self) -> None:
        if archive.preferred_name() is not None:
            return
        name = await self.push_screen_wait(AskName())
        if name:
            self.chats.introduce(name)
            self.log_view.tell(f"Welcome, {excerpt(name, 60)}.", "quiet")
        try:
            archive.keep_name(name)
        except OSError as error:
            self.log_view.show_warning(f"Your answer could not be kept, so you will be asked again: {error}")

    async def _show_history(self) -> None:
        for message in (await self.chats.conversation.history())[-20:]:
            if is_ours(message):
                continue
            if message.type == "human" and message.text:
                self.log_view.add(Asked(message.text))
            elif message.type == "ai" and message.text:
                self.log_view.show_words(message.text)
                self.log_view.show_words_end()

    # What the person does.

    def on_prompt_box_sent(self, event: PromptBox.Sent) -> None:
        """Take a prompt or a command; while something is under way, it stays in the box."""
        command = commands.parse(event.text)
        if not self.takes_prompts and not (command and command[0] in commands.AT_ANY_TIME):
            self.notify("Still working. Esc cancels." if self.is_busy else "Not ready yet.", markup=False)
            return
        if command is None and commands.looks_like_one(event.text):
            self.log_view.tell(f"No command is called {event.text.split()[0]}. /help shows them.", "warning")
            return
        self.log_view.return_to_end()
        self.box.past.add(event.text)
        self.box.put("")
        if command is None:
            self._do(self._ask(event.text))
        else:
            self._command(*command)

    def _command(self, name: str, rest: str) -> None:
        if name == "/help":
            self.log_view.tell(commands.help_text(), "quiet")
        elif name == "/hooks":
            self.log_view.tell(loaded.describe(self.chats.hooks.snapshot, self.feed), "quiet")
        elif name == "/clear":
            self._do(self._change("clear", None))
        elif name == "/compact":
            self._do(self._compact(rest))
        elif name == "/resume":
            self.run_worker(self._choose(rest), exit_on_error=False)
        else:
            self._leave("prompt_input_exit", 0)

    def on_prompt_box_left(self) -> None:
        """Quit."""
        self._leave("prompt_input_exit", 0)

    async def _ask(self, prompt: str) -> None:
        asked = Asked(prompt)
        self.log_view.add(asked)
        halt = await self.chats.ask(prompt)
        if halt and halt.refused:
            await asked.remove()
            self.log_view.tell(f"Refused: {halt.reason or 'a hook gave no reason.'}", "warning")
            self.box.put(prompt)
        else:
            self._stopped(halt)

    async def _compact(self, instructions: str) -> None:
        halt = await self.chats.compact(instructions)
        if halt and halt.refused:
            self.log_view.tell(f"Not compacted: {halt.reason or 'a hook refused it.'}", "warning")
            return
        if halt is None:
            self.log_view.tell("The history was compacted.", "quiet")
        self._stopped(halt)

    async def _change(self, reason: Reason, session_id: str | None) -> None:
        problems: Iterable[Problem] = ()
        try:
            problems = await self.chats.change(reason, session_id)
        finally:  # cancelled, too: the session that was left takes no prompts any more
            await self.log_view.clear()
            if session_id:
                await self._show_history()
            else:
                self.log_view.tell("A new session.", "quiet")
            self._show_problems(problems)
        self._stopped(await self.chats.begin())

    async def _choose(self, wanted: str) -> None:
        now = self.chats.conversation.session_id
        past = [each for each in archive.earlier(str(self._setup.cwd)) if each.session_id != now]
        if wanted:
            past = [each for each in past if each.session_id.startswith(wanted)]
        if not past:
            self.log_view.tell("No earlier session of this folder is there to be resumed.", "warning")
            return
        chosen: str | None = past[0].session_id
        if not wanted:
            rows = [
                (each.session_id, f"{each.session_id[:8]}  {each.ago:<8}  {each.title}") for each in past[:50]
            ]
            chosen = await self.push_screen_wait(Pick("Go on with", rows))
        if chosen:
            self._do(self._change("resume", chosen))

    def _stopped(self, halt: Halt | None) -> None:
        if halt:
            why = f": {halt.reason}" if halt.reason else "."
            self.log_view.tell(f"Stopped by a {halt.event} hook{why}", "warning")

    # Permissions.

    async def _approve(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [await self._approve_one(action) for action in request["action_requests"]]

    async def _approve_one(self, action: Mapping[str, Any]) -> dict[str, Any]:
        asked_by_a_hook = str(action.get("description", "")).startswith(HOOK_ASKS)
        if not asked_by_a_hook and self.chats.permits.cover(action["name"], action["args"]):
            return {"type": "approve"}  # permitted by the answer to a call beside this one
        decided = asyncio.get_running_loop().create_future()
        card = Card(action, decided, folder=str(self._setup.cwd), attention=self._attention)
        self.log_view.draw_words()
        await self.screen_stack[0].mount(card, before=self.box)
        try:
            return await card.decided
        finally:
            await card.remove()
            self.box.focus()

    def _attention(self) -> float:
        """Return the seconds until a card may take keys: none that was meant for something else is an answer."""
        now = monotonic()
        return max(self.box.typed + TYPING - now, self._answered + REPEATING - now, 0)

    def on_card_answered(self, event: Card.Answered) -> None:
        """Hand the answer to whoever waits for it."""
        card = event.card
        if card.decided.done():
            return
        self._answered = monotonic()
        if event.answer == "always":
            self.chats.permits.add(card.tool, card.args)
        reject = {"type": "reject", **({"message": event.words} if event.words else {})}
        card.decided.set_result(reject if event.answer == "reject" else {"type": "approve"})

    # Cancelling, quitting, forcing.

    def action_cancel(self) -> None:
        """Cancel the turn; or step back from the reason that a card asks for."""
        cards = self.screen_stack[0].query(Card)
        if cards and cards.first().step_back():
            return
        if self._work and self.is_busy:
            self._work.cancel()

    def action_interrupt(self) -> None:
        """Cancel the turn; quit if it is the second time within two seconds; force if it is the third."""
        again = monotonic() - self._pressed < AGAIN
        self._pressed = monotonic()
        if self._end:
            self._force()
        elif again:
            self._leave("prompt_input_exit", INTERRUPTED)
        elif self.is_busy:
            self.action_cancel()
            self.notify("Cancelled. Ctrl+C again quits.", markup=False)
        else:
            self.notify("Ctrl+C again quits.", markup=False)

    def action_leave(self) -> None:
        """Quit."""
        self._leave("prompt_input_exit", 0)

    def _on_signal(self, number: int) -> None:
        if self._end:
            self._force()
        else:
            self._leave("other", exit_status(number))

    def _leave(self, reason: Reason, status: int) -> None:
        if self._end is None:
            self._status = status
            self.feed.leave()
            self._end = asyncio.create_task(self._leaving(reason))

    async def _leaving(self, reason: Reason) -> None:
        """End the session while the turn is cancelled and the screen stays alive, then go."""
        self._tell_status("ending the session   Ctrl+C forces")
        try:
            if self._work and self.is_busy:
                self._work.cancel()
                await asyncio.wait([self._work], timeout=GRACE)
            await self.chats.end(reason)
        finally:
            self.exit(self._status)

    def _force(self) -> None:
        self._status = self._status or INTERRUPTED
        if self._end:
            self._end.cancel()  # which kills the handlers of SessionEnd
        self.set_timer(FORCED, lambda: self.exit(self._status))

    # One thing at a time.

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        self._work = asyncio.create_task(self._done(work))

    async def _done(self, work: Coroutine[Any, Any, None]) -> None:
        self._tell_status("working   Esc cancels")
        try:
            await work
        except asyncio.CancelledError:
            self.log_view.tell("Cancelled.", "warning")
        except Exception as error:  # the agent failed, and the chat goes on
            self.log_view.tell(self._told(error), "warning")
        finally:
            self.log_view.show_words_end()
            if self._end is None:
                self._tell_status("")

    def _told(self, error: Exception) -> str:
        if isinstance(error, BoathookError):
            return str(error)
        words = f"The agent failed: {type(error).__name__}: {error}"
        details = self.chats.conversation.folder / "error.txt"
        try:
            details.write_text(traceback.format_exc(), encoding="utf-8", errors="backslashreplace")
        except OSError:
            return words
        return f"{words} (details: {details})"

    def _command_of(self, name: str, source: str) -> str:
        return loaded.command_of(self.chats.hooks.snapshot, name, source)

    def _tell_status(self, doing: str) -> None:
        where = str(self._setup.cwd).replace(str(Path.home()), "~", 1)
        parts = (doing or "/help", excerpt(self._setup.model, 30), excerpt(where, 40))
        self._status_line.update("  ·  ".join(parts))
        self.box.border_subtitle = "" if not doing else "…"


def run(setup: Setup, *, resume: str | None = None, theme: str | None = None) -> Left:
    """Hold a chat to its end.

    Raises `ConfigError`, `ModelError`, `ScriptError` and `ArchiveError` for what kept it from beginning.
    """

    async def chat() -> Left:
        app = ChatApp(setup, resume=resume, theme=theme)
        with logging_to(app.feed):
            try:
                status = await app.run_async() or 0
            finally:
                await app.chats.end("other")
                await app.chats.close()
        if app.failure is not None:
            raise app.failure
        return Left(status, app.feed.last_words, app.chats.resumable)

    return asyncio.run(chat())
