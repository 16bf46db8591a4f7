"""Print the JSON Schema of a hooks file, for editors that complete and check.

Keep it beside a hooks file and name it there:
  boathook schema > hooks.schema.json
  {"$schema": "./hooks.schema.json", "hooks": {…}}
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments: it has none."""
    parser.epilog = "examples:\n  boathook schema > .deepagents/hooks.schema.json\n"


def main(args: argparse.Namespace) -> int:  # noqa: ARG001 - as every command
    """Print the schema."""
    from boathook.config.json_schema import hooks_schema

    json.dump(hooks_schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0
