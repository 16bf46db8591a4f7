"""The demo's first and last words around the timeline."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boathook.agent.demo.story import Promise
    from boathook.agent.demo.timeline import Style


def title(root: Path, style: Style) -> str:
    """Return the heading: what is about to be seen, and where."""
    head = style.paint("  boathook demo", "title")
    about = "a scripted agent, a broken project, and the hooks between them"
    return f"\n{head}  {about}\n  {style.paint(str(root), 'dim')}"


def checked(promises: Sequence[Promise], style: Style) -> str:
    """Return the list of what the story promised, each kept or broken."""
    lines = ["", style.paint("  What you just saw, checked", "title")]
    for promise in promises:
        mark = style.symbol("✓", "ok") if promise.kept else style.symbol("✗", "NOT")
        lines.append(f"    {style.paint(mark, 'good' if promise.kept else 'bad')} {promise.words}")
    return "\n".join(lines)


def farewell(root: Path, style: Style, *, keep: bool) -> str:
    """Return where the files are and what to try with them."""
    if not keep:
        return f"\n  Removed again: {root}\n"
    call = '{"tool_name":"Bash","tool_input":{"command":"rm -rf old-tables"}}'
    commands = (
        f"cd {shlex.quote(str(root))}",
        "cat .deepagents/hooks.json .deepagents/hooks/guard-shell.sh",
        "boathook list --config .deepagents/hooks.json",
        f"echo '{call}' |\n      boathook fire PreToolUse --config .deepagents/hooks.json",
        'boathook run --trust-project-hooks --model PROVIDER:MODEL "Add a test"',
    )
    lines = [
        "",
        style.paint("  Look around, and try next", "title"),
        *(f"    {line}" for line in commands),
        "",
    ]
    return "\n".join(lines)
