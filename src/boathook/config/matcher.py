"""Matcher text → a compiled `Matcher`, or the reason why it cannot be one (contract section 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from boathook.terms.events import nearest
from boathook.terms.tools import KNOWN_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boathook.terms.events import Event

DECISION_SECONDS: Final = 0.1
"""How long one expression may take to decide; after that it counts as matching."""

_NAMES = re.compile(r"[\w\- ,|]*")
_MCP_TOOL = re.compile(r"mcp__.+?__.")
_SPLIT = re.compile(r"[|,]")
_RULE = re.compile(r"(\w+)\(.*\)", re.DOTALL)


class MatcherError(ValueError):
    """The matcher does not compile, or can match nothing."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """One compiled matcher: everything, one of some exact names, or an expression."""

    text: str
    names: frozenset[str] | None = None
    pattern: Any = field(default=None, compare=False)

    @property
    def everything(self) -> bool:
        """Whether this matches without looking."""
        return self.names is None and self.pattern is None

    def matches(self, name: str, *others: str) -> bool | None:
        """Whether `name` is matched; None where that cannot be decided in time.

        `others` are more names of the same thing, which only lists of exact names know:
        an expression is searched in `name` alone.
        """
        if self.names is not None:
            return name in self.names or any(other in self.names for other in others)
        if self.pattern is None:
            return True
        try:
            return self.pattern.search(name, timeout=DECISION_SECONDS, concurrent=True) is not None
        except TimeoutError:
            return None


MATCH_ALL: Final = Matcher("")


def compile_matcher(text: str) -> Matcher:
    """Compile a matcher's text, or raise `MatcherError` in words for its author."""
    if text in {"", "*"}:
        return MATCH_ALL
    if _NAMES.fullmatch(text):
        names = frozenset(name for part in _SPLIT.split(text) if (name := part.strip()))
        if not names:
            raise MatcherError(f"the matcher {text!r} names nothing")
        return Matcher(text, names=names)
    import regex  # only files that hold an expression pay for it

    try:
        return Matcher(text, pattern=regex.compile(text))
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        ruled = _ruled(text)
        hint = f"; a matcher is compared with tool names only, so write {ruled!r}" if ruled else ""
        raise MatcherError(f"the matcher {text!r} is not a regular expression: {error}{hint}") from None


def doubts(matcher: Matcher, event: Event) -> Iterator[tuple[str, str, str]]:
    """Yield (code, found, advice) for what a matcher probably does not mean."""
    ruled = _ruled(matcher.text) if event.matched == "tool_name" else None
    if matcher.pattern is not None and ruled is not None:
        yield (
            "matcher-rule",
            f"the matcher {matcher.text!r} looks like a permission rule, but a matcher is compared with the tool name only.",
            f'Write "{ruled}" and look at `tool_input` in the handler.',
        )
    for name in sorted(matcher.names or ()):
        yield from _doubts_of_name(name, event)


def _ruled(text: str) -> str | None:
    """Return the tool that a permission rule in a matcher is about, None where there is no such rule."""
    rules = (_RULE.fullmatch(part.strip()) for part in (text, *_SPLIT.split(text)))
    names = [rule.group(1) for rule in rules if rule]
    return next((name for name in names if name in KNOWN_TOOLS or name.startswith("mcp__")), None)


def _doubts_of_name(name: str, event: Event) -> Iterator[tuple[str, str, str]]:
    if event.values and name not in event.values:
        yield from _doubts_of_value(name, event)
    elif event.matched == "tool_name" and name.startswith("mcp__") and not _MCP_TOOL.match(name):
        yield (
            "matcher-server",
            f"the matcher {name!r} is an exact name, and no tool of that server is called so.",
            f'Write "{name.rstrip("_")}__.*" for every tool of the server.',
        )
    elif event.matched == "tool_name" and name not in KNOWN_TOOLS:
        known = {tool.lower(): tool for tool in sorted(KNOWN_TOOLS)}.get(name.lower())
        if known:
            yield (
                "matcher-case",
                f"the matcher {name!r} differs from the tool {known!r} only in case, and names are case-sensitive.",
                f'Write "{known}".',
            )


def _doubts_of_value(name: str, event: Event) -> Iterator[tuple[str, str, str]]:
    known = nearest(name, event.values)
    same = known is not None and known.lower() == name.lower()
    yield (
        "matcher-case" if same else "matcher-value",
        f"the matcher {name!r} is none of the values that `{event.matched}` has on {event.name}: {', '.join(event.values)}.",
        f'Did you mean "{known}"?' if known else "",
    )
