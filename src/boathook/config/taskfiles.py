"""What files of other tools say is run: the scripts of a package.json, the rules of a makefile."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Rules = dict[str, tuple[list[str], list[str]]]
"""Target → what it needs, and the lines of its recipe."""


def package_scripts(package: Path) -> dict[str, str]:
    """Return the scripts of a package.json, empty where it has none or cannot be read."""
    try:
        data: Any = json.loads(package.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return (
        {name: text for name, text in scripts.items() if isinstance(text, str)}
        if isinstance(scripts, dict)
        else {}
    )


_RULE = re.compile(r"^([\w./%-][\w./% -]*?)\s*::?(?!=)\s*([^#;=]*)(?:;(.*))?$")
_INCLUDE = re.compile(r"^[-s]?include\s+(.+)$")


def make_rules(path: Path) -> tuple[Rules, list[str]]:
    """Read a makefile's rules, target → what it needs and its recipe, and the makefiles it includes."""
    try:
        text = path.read_text("utf-8", "replace").replace("\\\n", " ")
    except OSError:
        return {}, []
    rules: Rules = {}
    included: list[str] = []
    current: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("\t"):
            for recipe in current:
                recipe.append(line.strip().lstrip("@-+").replace("$$", "$"))
        elif (include := _INCLUDE.match(line)) is not None:
            included.extend(include.group(1).split())
        elif (rule := _RULE.match(line)) is not None:
            current = [_rule(rules, name, rule) for name in rule.group(1).split()]
        elif line.strip() and not line.startswith("#"):
            current = []
    return rules, included


def _rule(rules: Rules, name: str, rule: re.Match[str]) -> list[str]:
    needs, recipe = rules.setdefault(name, ([], []))
    needs.extend(rule.group(2).split())
    if rule.group(3):
        recipe.append(rule.group(3).strip())
    return recipe
