"""Add plugins, enable them, and see which events they hook.

A plugin is a folder with hooks in it. Adding one only remembers it; enabling it is the
consent to run its commands, with your permissions, in every session of yours.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from boathook.cli.show import paint, show_problems
from boathook.config import plugins
from boathook.config.scopes import count, project_root
from boathook.dialects.plugin_form import plugin_hooks
from boathook.terms.text import safe

if TYPE_CHECKING:
    import argparse

    from boathook.config.plugin_folder import Plugin
    from boathook.config.schema import Handler

ACTIONS = {
    "add": "remember a plugin and show what it hooks; on a terminal, ask whether to enable it",
    "list": "show the plugins that were added",
    "enable": "show what a plugin hooks, and run its hooks from now on",
    "disable": "run a plugin's hooks no more",
    "remove": "forget a plugin; its folder stays as it is",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's actions and their options."""
    parser.epilog = (
        "examples:\n"
        "  boathook plugin add ~/plugins/guard       # show it, and ask whether to enable it\n"
        "  boathook plugin add --yes ~/plugins/guard # enable it, too, without asking\n"
        "  boathook plugin disable ~/plugins/guard\n"
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, words in ACTIONS.items():
        action = actions.add_parser(name, help=words, description=f"{words}.")
        if name != "list":
            action.add_argument("folder", metavar="DIR", type=Path, help="the plugin's folder")
        if name == "add":
            action.add_argument("--yes", action="store_true", help="enable it, too, without asking")


def main(args: argparse.Namespace) -> int:
    """Do one of the actions."""
    if args.action == "list":
        return _list()
    folder: Path = args.folder
    if args.action == "add":
        return _add(folder, yes=args.yes)
    if args.action == "enable":
        _show(_look(folder))
    if args.action == "remove":
        plugins.remove(folder)
    else:
        plugins.enable(folder, on=args.action == "enable")
    print(f"{args.action.removesuffix('e')}ed: {safe(str(folder))}")
    return 0


def _add(folder: Path, *, yes: bool) -> int:
    _show(_look(folder))
    plugins.add(folder)
    if yes or _asked():
        plugins.enable(folder, on=True)
        print(f"added and enabled: {safe(str(folder))}")
    else:
        print(
            f"added, not enabled: {safe(str(folder))}. To run its hooks: boathook plugin enable {safe(str(folder))}"
        )
    return 0


def _asked() -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return input("Enable it, so that these commands run in your sessions? [y/N] ").strip().lower() in {
        "y",
        "yes",
    }


def _list() -> int:
    known = plugins.added()
    if not known:
        print("no plugin was added. To add one: boathook plugin add DIR")
    for each in known:
        state = paint("enabled ", "green") if each.enabled else paint("disabled", "dim")
        events = _events(each.root) if Path(each.root).is_dir() else "its folder is gone"
        print(f"{state}  {safe(each.root)}  {events}")
    return 0


def _events(root: str) -> str:
    from boathook.config.plugin_folder import read_plugin

    project = project_root(Path.cwd())
    return ", ".join(read_plugin(root, project, plugin_hooks(project)).events) or "no hooks"


def _look(folder: Path) -> Plugin:
    project = project_root(Path.cwd())
    return plugins.look(folder, project, plugin_hooks(project))


def _show(plugin: Plugin) -> None:
    """Show what enabling a plugin would run."""
    handlers = [handler for document in plugin.documents for handler in document.handlers]
    print(
        f"{paint(safe(plugin.name), 'bold')} hooks {count(len(plugin.events), 'event')} with {count(len(handlers), 'command')}:"
    )
    for handler in handlers:
        print(f"  {', '.join(handler.events)}{_matched(handler)}")
        print(f"      {safe(handler.shown)}")
    show_problems(problem for document in plugin.documents for problem in document.problems)


def _matched(handler: Handler) -> str:
    return "" if handler.matcher.everything else f"  ({safe(handler.matcher.text)})"
