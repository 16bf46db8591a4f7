"""One plugin's folder → the hooks documents that it contributes."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config import records
from boathook.config.parse import Lines, ParseError, parse
from boathook.config.placeholders import in_argument, in_shell
from boathook.config.read import read_bytes, read_file, read_hooks
from boathook.config.reading import Reading
from boathook.config.schema import Document
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boathook.config.parse import Member, Node
    from boathook.config.read import HooksReader
    from boathook.config.schema import Handler

MANIFESTS: Final = (Path(".claude-plugin", "plugin.json"), Path(".codex-plugin", "plugin.json"))
HOOKS_FILE: Final = Path("hooks", "hooks.json")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin as it is on disk: what it is called, and its hooks with its folders filled in.

    `files` are all the files that decide what its hooks are, there or not.
    """

    root: Path
    name: str
    documents: tuple[Document, ...]
    files: tuple[str, ...]

    @property
    def events(self) -> tuple[str, ...]:
        """The events that it hooks, each once, in the order of its files."""
        return tuple(
            dict.fromkeys(
                event
                for document in self.documents
                for handler in document.handlers
                for event in handler.events
            )
        )


def read_plugin(folder: str | Path, project: str | Path, hooks: HooksReader = read_hooks) -> Plugin:
    """Read a plugin's hooks, for a session of the project at `project`.

    They come from `hooks/hooks.json`, and from the `hooks` of its manifest: a path, a list of
    them, or the hooks themselves; `hooks` reads what they say. What is wrong stands in the documents' problems.
    """
    root = Path(os.path.realpath(folder))
    manifest = next((root / each for each in MANIFESTS if (root / each).is_file()), None)
    name = root.name
    found: list[Document] = []
    if (root / HOOKS_FILE).exists():
        found.extend(_named(root, str(HOOKS_FILE), "hooks/hooks.json", hooks))
    if manifest is not None:
        name, more = _manifest(root, manifest, hooks)
        known = {os.path.realpath(document.path) for document in found}
        found.extend(each for each in more if os.path.realpath(each.path) not in known)
    env = _folders(root, name)
    values = {**env, "CLAUDE_PROJECT_DIR": str(project)}
    documents = tuple(
        replace(document, handlers=tuple(_placed(handler, env, values) for handler in document.handlers))
        for document in found
    )
    files = [root / HOOKS_FILE, *(root / each for each in MANIFESTS), *(Path(each.path) for each in found)]
    return Plugin(root, name, documents, tuple(dict.fromkeys(map(str, files))))


def _folders(root: Path, name: str) -> dict[str, str]:
    data = str(data_folder(root, name))
    return {
        "CLAUDE_PLUGIN_ROOT": str(root),
        "PLUGIN_ROOT": str(root),
        "CLAUDE_PLUGIN_DATA": data,
        "PLUGIN_DATA": data,
    }


def data_folder(root: Path, name: str) -> Path:
    """Return where a plugin keeps what should outlive its updates; it may not be there yet."""
    key = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    word = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "plugin"
    return records.home() / "plugin-data" / f"{word}-{key}"


def make_data_folder(plugin: Plugin) -> None:
    """See to it that a plugin finds its folder for data."""
    with suppress(OSError):
        data_folder(plugin.root, plugin.name).mkdir(mode=0o700, parents=True, exist_ok=True)


def _placed(handler: Handler, env: dict[str, str], values: dict[str, str]) -> Handler:
    """Fill in a plugin's folders: as text into arguments, as variables for a shell."""
    argv = None if handler.argv is None else tuple(in_argument(word, values) for word in handler.argv)
    command = None if handler.command is None else in_shell(handler.command)
    return replace(handler, argv=argv, command=command, env=tuple(sorted(env.items())))


def _manifest(root: Path, path: Path, hooks: HooksReader) -> tuple[str, list[Document]]:
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
        node = parse(text)
    except (OSError, UnicodeDecodeError, ParseError):
        return root.name, [replace(read_file(path, "plugin"), handlers=(), usable=False)]
    reading = Reading(str(path), "plugin", Lines(text))
    members = {member.key: member for member in node.members}
    found = list(_hooks(root, reading, members["hooks"], hooks)) if "hooks" in members else []
    name = members["name"].node.value if "name" in members else None
    inline = replace(reading.document(usable=True), sha256=hashlib.sha256(data).hexdigest())
    return name if isinstance(name, str) and name else root.name, [*found, inline]


def _hooks(root: Path, reading: Reading, member: Member, hooks: HooksReader) -> Iterator[Document]:
    """Read the `hooks` of a manifest; what stands in it goes to `reading`, files become documents."""
    several = member.node.kind == "array" and any(item.kind == "string" for item in member.node.items)
    for node in member.node.items if several else (member.node,):
        if isinstance(node.value, str):
            for problem in _outside(root, node.value):
                reading.problem("plugin-path", problem, "That file is not read.", "/hooks", node.offset)
                break
            else:
                yield _read(root / node.value, hooks)
        else:
            hooks(reading, _inner(node))


def _inner(node: Node) -> Node:
    """Return the hooks of an inline document, which may be wrapped as in a file of its own."""
    inner = [member.node for member in node.members if member.key == "hooks"]
    return inner[0] if inner else node


def _read(path: Path, hooks: HooksReader) -> Document:
    return read_file(path, "plugin", lambda data, name, scope: read_bytes(data, name, scope, hooks))


def _named(root: Path, name: str, shown: str, hooks: HooksReader) -> Iterator[Document]:
    found = _outside(root, name)
    if not found:
        yield _read(root / name, hooks)
        return
    problem = Problem("plugin-path", found[0], "That file is not read.", file=str(root / shown))
    yield Document(str(root / shown), "plugin", problems=(problem,))


def _outside(root: Path, name: str) -> list[str]:
    """Say why a path does not stay inside the plugin; empty where it does."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        return [f"{name!r} is not a path inside the plugin: it must be relative, and without `..`."]
    real = Path(os.path.realpath(root / path))
    if not real.is_relative_to(root):
        return [f"{name!r} leads out of the plugin, to {real}."]
    return []
