"""What a line that begins with a slash means."""

from __future__ import annotations

from typing import Final

COMMANDS: Final = {
    "/help": "show this",
    "/hooks": "show which hooks are loaded, from where, which are not and why, and how they ran",
    "/clear": "end this session and begin a new one",
    "/compact": "put a summary in the place of the history; words after it say what matters",
    "/resume": "go on with an earlier session",
    "/quit": "end the session and leave",
}
"""Command → its one line of help."""

AT_ANY_TIME: Final = frozenset({"/help", "/hooks", "/quit"})
"""Commands that need not wait until a turn is over."""

KEYS: Final = {
    "Enter": "send",
    "Ctrl+J, Alt+Enter": "new line",
    "Up, Down": "earlier prompts, at the edges of the text",
    "Esc": "cancel the turn",
    "Ctrl+C": "cancel the turn; again within two seconds: quit; once more: force",
    "Ctrl+Q, Ctrl+D": "quit; Ctrl+D while the box is empty",
    "Tab, Enter": "go to a line, and open it",
}


def parse(text: str) -> tuple[str, str] | None:
    """Return (command, the rest) of a slash command; None for a prompt, and for a path or anything else unknown."""
    word, _, rest = text.partition(" ")
    return (word, rest.strip()) if word in COMMANDS else None


def looks_like_one(text: str) -> bool:
    """Whether a text was probably meant to be a command: one word that begins with the only slash in it."""
    word = text.split(maxsplit=1)[0] if text.split() else ""
    return word.startswith("/") and word.count("/") == 1 and word[1:].isalpha() and "\n" not in text


def help_text() -> str:
    """Return the help, for 80 columns."""
    rows = [f"{name:<20}{words}" for name, words in (*COMMANDS.items(), *KEYS.items())]
    return "\n".join(rows)
