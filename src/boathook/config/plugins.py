"""Which plugins a user has added and enabled, and the hooks that the enabled ones bring (contract section 2)."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boathook.config import exposure, records
from boathook.config.plugin_folder import Plugin, make_data_folder, read_plugin
from boathook.config.read import read_hooks
from boathook.config.schema import Document, Skipped
from boathook.terms.problem import BoathookError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from boathook.config.read import HooksReader


class PluginError(BoathookError):
    """A folder that is no plugin, or one that was never added."""


@dataclass(frozen=True, slots=True)
class Added:
    """A plugin that a user added: its folder, links resolved."""

    root: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Enabled:
    """The documents of the enabled plugins, and all places that decide which they are."""

    documents: tuple[Document, ...] = ()
    places: tuple[str, ...] = ()


def record() -> records.RecordFile:
    """Return the file that says which plugins were added: folder → enabled, and since when."""
    return records.RecordFile(records.home() / "plugins.json", "plugins")


def added() -> tuple[Added, ...]:
    """Return the plugins in the order in which they were added, or raise `RecordError`."""
    entries = {root: entry for root, entry in record().read().items() if isinstance(entry, dict)}
    ordered = sorted(entries.items(), key=lambda item: (str(item[1].get("added")), item[0]))
    return tuple(Added(root, entry.get("enabled") is True) for root, entry in ordered)


def read_enabled(root: Path, hooks: HooksReader = read_hooks) -> Enabled:
    """Read the hooks of every enabled plugin, for a session in `root`; of the others, what is left out.

    `hooks` reads what their files say. A plugin that cannot be used costs only itself; its faults are problems of its documents.
    """
    path = str(record().path)
    try:
        known = added()
    except records.RecordError as error:
        problem = Problem("trust-store", str(error), file=path)
        return Enabled((Document(path, "plugin", problems=(problem,)),), ())
    read = [(each, _read(each, root, hooks)) for each in known]
    documents = tuple(
        _costs_itself(document) if each.enabled else _left_out(document, each)
        for each, plugin in read
        for document in plugin.documents
    )
    places = tuple(place for each, plugin in read if each.enabled for place in plugin.files)
    return Enabled(documents, places)


def _left_out(document: Document, each: Added) -> Document:
    words = f"its plugin is disabled. To enable it: boathook plugin enable {shlex.quote(each.root)}"
    skipped = tuple(Skipped(handler, "plugin-disabled", words) for handler in document.handlers)
    return Document(document.path, "plugin", skipped=skipped)


def _read(each: Added, project: Path, hooks: HooksReader) -> Plugin:
    if not each.enabled:
        return read_plugin(each.root, project, hooks)
    if not Path(each.root).is_dir():
        found = f"the folder of the enabled plugin {each.root} is gone, so its hooks are not loaded."
        problem = Problem(
            "plugin-unusable", found, f"Run: boathook plugin remove {shlex.quote(each.root)}", file=each.root
        )
        return Plugin(Path(each.root), "", (Document(each.root, "plugin", problems=(problem,)),), ())
    plugin = read_plugin(each.root, project, hooks)
    make_data_folder(plugin)
    documents = tuple(exposure.refused(document, plugin.root, project) for document in plugin.documents)
    return replace(plugin, documents=documents)


def _costs_itself(document: Document) -> Document:
    if document.usable:
        return document
    found = f"{document.path} cannot be used, so the hooks of its plugin are not loaded."
    problem = Problem("plugin-unusable", found, "Mend it, or disable the plugin.", file=document.path)
    return replace(document, problems=(*document.problems, problem), usable=True)


def look(folder: str | Path, project: str | Path, hooks: HooksReader = read_hooks) -> Plugin:
    """Read a plugin before it is enabled, or raise `PluginError`."""
    if not Path(folder).is_dir():
        raise PluginError(f"{folder} is not a folder.")
    plugin = read_plugin(folder, project, hooks)
    if not plugin.documents:
        raise PluginError(
            f"{folder} brings no hooks: it has neither hooks/hooks.json nor a manifest "
            "(.claude-plugin/plugin.json or .codex-plugin/plugin.json) with `hooks`."
        )
    return plugin


def add(folder: str | Path) -> None:
    """Remember a plugin, without enabling it; one that is enabled stays so."""

    def change(entries: dict[str, Any]) -> None:
        fresh = {"enabled": False, "added": datetime.now(UTC).isoformat()}
        entries.setdefault(os.path.realpath(folder), fresh)

    record().change(change)


def enable(folder: str | Path, *, on: bool) -> None:
    """Enable or disable a plugin that was added, or raise `PluginError`. Enabling is the consent."""
    _change_one(folder, lambda entries, root: entries[root].update(enabled=on))


def remove(folder: str | Path) -> None:
    """Forget a plugin, or raise `PluginError`. Nothing in its folder is touched."""
    _change_one(folder, lambda entries, root: entries.pop(root))


def _change_one(folder: str | Path, change: Callable[[dict[str, Any], str], object]) -> None:
    root = os.path.realpath(folder)

    def known(entries: dict[str, Any]) -> None:
        if not isinstance(entries.get(root), dict):
            raise PluginError(f"{root} was not added. To add it: boathook plugin add {root}")
        change(entries, root)

    record().change(known)
