"""Handlers that were written for other agents: started with their words, and read in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boathook.dialects import carry
from boathook.dialects.applying import heard
from boathook.dialects.dialect import Said
from boathook.run.answer import read_exit
from boathook.terms.wire import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.config.schema import Handler
    from boathook.dialects.dialect import Heard
    from boathook.run.process import Command, Exit
    from boathook.terms.events import Event
    from boathook.terms.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Foreign:
    """One run of such a handler: `told` is what it hears, in its own words."""

    heard: Heard
    told: Mapping[str, Any]

    @classmethod
    def of(cls, handler: Handler, row: Event, payload: Mapping[str, Any], root: str) -> Foreign:
        """Put an event of ours into the handler's words."""
        said = heard(handler, row, payload, root)
        return cls(said, carry.payload(said))

    def command(self, command: Command) -> Command:
        """Return the command with what this handler reads, and finds in its environment."""
        env = {**command.env, **self.heard.dialect.variables(self.heard)}
        return replace(command, stdin=encode(self.told), env=env)

    def outcome(self, command: Command, ended: Exit, waited: float) -> Outcome:
        """Return what the run came to; the exit status that is shown is the handler's own."""
        understood, said = self._understood(command, ended)
        handler, row = self.heard.handler, self.heard.row
        outcome = read_exit(handler, row, command, understood, self.told, waited)
        noted = tuple(
            replace(
                problem, handler=handler.name, file=handler.source, pointer=handler.pointer, line=handler.line
            )
            for problem in said.problems
        )
        return replace(outcome, exit_code=ended.code, problems=(*noted, *outcome.problems))

    def _understood(self, command: Command, ended: Exit) -> tuple[Exit, Said]:
        said = Said(ended.code, ended.stdout, ended.stderr)
        repeated = ended.stdout.strip() == command.stdin.strip()
        if ended.code is None or ended.timed_out or ended.cancelled or ended.stdout_cut or repeated:
            return ended, said
        said = self.heard.dialect.answer(self.heard, said)
        return replace(ended, code=said.code, stdout=said.stdout, stderr=said.stderr), said
