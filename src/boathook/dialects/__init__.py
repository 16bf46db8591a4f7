"""Hooks files that were written for other agents: what each means, as one `Dialect` per agent.

A dialect's handlers run unchanged. Each reads the event in the words of the agent that it
was written for, and its answer is put into ours before anything else looks at it; choosing,
running and settling know nothing of dialects.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from boathook.terms.agents import NAMES, SPOKEN
from boathook.terms.problem import BoathookError

if TYPE_CHECKING:
    from boathook.dialects.dialect import Dialect

__all__ = ["NAMES", "UnknownDialectError", "named"]


class UnknownDialectError(BoathookError, ValueError):
    """The name of an agent whose files nothing here can read."""


@cache
def named(name: str) -> Dialect:
    """Return an agent's dialect, or raise `UnknownDialectError`. Only the module of its name is imported."""
    if name not in SPOKEN:
        raise UnknownDialectError(
            f"no agent is called {name!r} whose hooks files could be read. They are: {', '.join(NAMES)}."
        )
    found: Dialect = importlib.import_module(f"boathook.dialects.{name}").DIALECT
    return found
