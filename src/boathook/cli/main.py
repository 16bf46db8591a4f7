"""The command line: one error boundary, and exit codes that programs can rely on.

0 done · 64 wrong usage · 65 unusable payload or configuration · 70 a fault of Boathook, or a full disk.
Never 2 by accident: in this field 2 means *block*, and argparse would use it for a typo.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from boathook.terms.problem import BoathookError, ConfigError, PayloadError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE: Final = 64
DATA: Final = 65
FAULT: Final = 70
INTERRUPTED: Final = 130

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

COMMANDS: Final = {
    "chat": "talk with an agent in the terminal, under your hooks",
    "run": "run one agent session in a folder, under its hooks",
    "demo": "watch hooks at work in a small project, offline",
    "fire": "run the handlers of one event on a payload, and print the decision",
    "check": "find what is wrong with hooks files, before it matters",
    "list": "show which handlers are loaded, from where, and which are not",
    "trust": "see, approve and revoke the hooks that a project brings along",
    "plugin": "add, enable and remove plugins that bring hooks",
    "migrate": "write another agent's hooks as a file of your own",
    "schema": "print the JSON Schema of a hooks file, for editors",
}
"""Command → its one line of help. Each lives in the module of its name beside this one."""

EXTRAS: Final = {
    "deepagents": "agent",
    "aiosqlite": "agent",
    "langchain": "agent",
    "langchain_core": "agent",
    "langgraph": "agent",
    "textual": "agent",
}


class Parser(argparse.ArgumentParser):
    """An argument parser that ends with 64 on wrong usage."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and how to find out more."""
        sys.stderr.write(f"{self.prog}: {message}\nTry: {self.prog} --help\n")
        raise SystemExit(USAGE)


def parser() -> Parser:
    """Return the parser of the whole command line; a command's own module is asked only when it is named."""
    top = Parser(
        prog="boathook",
        description="Hooks for any Python agent.",
        epilog="examples:\n  boathook demo\n  boathook check .deepagents/hooks.json\n"
        '  echo \'{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}\' | boathook fire PreToolUse\n',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and end")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    named = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    for name, words in COMMANDS.items():
        sub = commands.add_parser(name, help=words, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == named:
            module = importlib.import_module(f"boathook.cli.{name}")
            sub.description = module.__doc__
            module.configure(sub)
    return top


def main() -> int:
    """Run the command line of this process and return its exit code."""
    top = parser()
    args = top.parse_args()
    if args.version:
        from boathook import __version__

        print(f"boathook {__version__}")
        return 0
    if args.command is None:
        top.print_help(sys.stderr)
        return USAGE
    code: int = importlib.import_module(f"boathook.cli.{args.command}").main(args)
    sys.stdout.flush()
    return code


def entry(argv: Sequence[str] | None = None) -> NoReturn:
    """Be the program: everything that goes wrong ends here, in words."""
    if argv is not None:
        sys.argv[1:] = argv
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us, as with `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open to our end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # no locale makes a message a crash
    raise SystemExit(_guarded())


def _guarded() -> int:
    try:
        return main()
    except (UnknownEventError, argparse.ArgumentError) as error:
        return _say(error, USAGE)
    except (ConfigError, PayloadError) as error:
        return _say(error, DATA)
    except BoathookError as error:
        return _say(error, DATA)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not complain about it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in _FULL:
            return _fault()
        # What is left in the buffer must not be tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _say(f"the output cannot be written: {error.strerror}.", FAULT)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            return _fault()
        return _say(f"this command needs more packages. Install them: pip install 'boathook[{extra}]'", USAGE)
    except Exception:
        return _fault()


def _say(words: object, code: int) -> int:
    from boathook.terms.text import safe

    sys.stderr.write(f"boathook: {safe(str(words))}\n")
    return code


def _fault() -> int:
    import traceback

    traceback.print_exc()
    return _say("this is a fault of Boathook; please report it with the lines above.", FAULT)


if __name__ == "__main__":
    entry()
