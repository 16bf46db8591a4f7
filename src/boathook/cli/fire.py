"""Run the configured handlers for real on one event, and show the decision.

The payload is one JSON object on standard input; what a host always says
(`session_id`, `cwd` …) is filled in where it is missing. The handlers really run.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from boathook.cli.options import add_hooks_options, load_hooks
from boathook.cli.show import show_decision
from boathook.moment import row_of
from boathook.terms.events import NOTIFICATIONS
from boathook.terms.problem import PayloadError, Problem
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse

    from boathook.terms.decision import Decision


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = (
        "examples:\n"
        '  echo \'{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}\' | boathook fire PreToolUse\n'
        '  echo \'{"thread_id": "t1"}\' | boathook fire session.start --config hooks.json --json\n'
        "  boathook fire Stop --exit-code < payload.json   # exits with 2 when the answer is to block\n"
    )
    parser.add_argument(
        "event", metavar="EVENT", help="a lifecycle event (PreToolUse) or a notification (tool.use)"
    )
    add_hooks_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--exit-code", action="store_true", help="exit with 2, and the reason on stderr, on a block"
    )


def main(args: argparse.Namespace) -> int:
    """Fire one event."""
    row_of(args.event)
    payload = read_payload(sys.stdin.buffer.read() if sys.stdin else b"")
    hooks = load_hooks(args)
    decision = hooks.dispatch_sync(args.event, payload)
    hooks.drain_background()
    early = (*hooks.problems, *_other_event(args.event, payload))
    decision = replace(decision, diagnostics=(*early, *decision.diagnostics))
    if args.json:
        json.dump(decision.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        show_decision(decision, hooks.snapshot)
    return _exit_code(decision) if args.exit_code else 0


def read_payload(data: bytes) -> dict[str, Any]:
    """Read the event's JSON object, or raise `PayloadError`."""
    try:
        payload = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        hint = " An event without payload is {}." if not data.strip() else ""
        raise PayloadError(f"the payload on standard input is not JSON: {error}.{hint}") from None
    if not isinstance(payload, dict):
        raise PayloadError("the payload on standard input is JSON, but not an object.")
    return payload


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _other_event(event: str, payload: dict[str, Any]) -> tuple[Problem, ...]:
    named = payload.get("event" if event in NOTIFICATIONS else "hook_event_name", event)
    if named == event:
        return ()
    found = f"the payload is of {str(named)[:80]!r}, but {event} was fired; handlers read {event}."
    return (Problem("payload-event", found),)


def _exit_code(decision: Decision) -> int:
    if not decision.block:
        return 0
    sys.stderr.write(f"{safe(decision.reason or decision.stop_reason or 'blocked')}\n")
    return 2
