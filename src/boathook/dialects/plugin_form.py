"""The hooks files of plugins: Claude Code's form, since that is what they are made for, and our own in it.

A handler with a field that only our own form has is read as one of ours; so is a list of
notifications. Every other handler hears and is read as Claude Code would have it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from boathook.config.entries import HANDLER_KEYS, read_handler
from boathook.config.groups import read_groups
from boathook.config.read import read_hooks
from boathook.dialects import named
from boathook.dialects.claude_file import ClaudeForm

if TYPE_CHECKING:
    from pathlib import Path

    from boathook.config.groups import Place
    from boathook.config.matcher import Matcher
    from boathook.config.parse import Node
    from boathook.config.read import HooksReader
    from boathook.config.reading import Fields, Reading
    from boathook.config.schema import Handler

OWN_KEYS: Final = ("argv", "passEnv", "enabled", "name", "dialect")
"""Fields that Claude Code's form does not have."""


def plugin_hooks(root: Path) -> HooksReader:
    """Return what reads the `hooks` of a plugin, in a session of the project at `root`."""
    claude = ClaudeForm(named("claude"), os.path.realpath(root))
    keys = tuple(dict.fromkeys((*claude.handler_keys, *HANDLER_KEYS)))
    form = _PluginForm(claude.dialect, claude.root, handler_keys=keys)

    def read(reading: Reading, node: Node) -> bool:
        if node.kind != "object":
            return read_hooks(reading, node)
        read_groups(reading, node, form)
        return True

    return read


class _PluginForm(ClaudeForm):
    """Claude Code's map shape, in which a handler may also be one of ours."""

    __slots__ = ()

    def handler(self, fields: Fields, place: Place, matcher: Matcher, name: str) -> Handler:
        """Return one handler, of whichever form its fields are."""
        failing = fields.get("onFailure")
        own = any(fields.get(key) is not None for key in OWN_KEYS)
        if own or (failing is not None and failing.value == "allow"):
            return read_handler(fields, place.event, matcher, name)
        return super().handler(fields, place, matcher, name)
