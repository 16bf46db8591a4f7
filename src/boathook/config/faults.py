"""What of a handler's command would fail when it runs, as far as that can be told without running it.

Silence means only that nothing was found. Whatever depends on the moment of running, on a
condition or on an earlier command is passed over: a false alarm is worse than a fault that
is reported when it happens.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.scripts import Fault, missing_program, missing_script, on_path, read_by_shell, started
from boathook.config.shell import ShellError, literal, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boathook.config.schema import Handler
    from boathook.config.shell import Simple, Word

SYNTAX_SECONDS: Final = 5.0
"""How long the shell may take to parse a command; after that nothing is said about it."""

_NESTING_LIMIT: Final = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHELLS: Final = _words("sh bash dash zsh ksh ash")
_INTERPRETERS: Final = _words("ruby perl php lua Rscript fish")
_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_BUILTINS: Final = _words(
    "[ [[ alias bg bind builtin caller cd command compgen declare dirs disown echo enable eval exec exit export false fc fg "
    "getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set "
    "shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait . : break continue"
)
_SPEAKERS: Final = _words("echo printf : true")
"""Programs to which it is no harm when an argument falls apart."""

_TURNING: Final = _words(
    "if case for while until select function [ [[ test which type hash alias eval . source break return"
)
"""Words after which nothing is certain: what comes may never run, or mean something else."""

_WRAPPERS: Final = _words("exec command nohup setsid time ! {")
"""Words that are followed by the command itself."""

# Whatever makes it uncertain whether a command runs, or what its name means.
_UNCERTAIN = re.compile(r"\|\||\(\(|\bfunction\b|[\w-]+\s*\(\s*\)")
_UNEXPANDED = re.compile(r"~(?:/|$)|\$\{?[A-Za-z_]")
_OPTIONS: Final = re.compile(r"-[A-Za-z]+")


def faults(handler: Handler, root: str | Path, environ: Mapping[str, str] = os.environ) -> tuple[Fault, ...]:
    """Return what would fail of a handler of the project at `root`. Starts `/bin/sh -n`, and nothing else."""
    walk = _Walk.of(handler, Path(root).absolute(), environ)
    if handler.argv is not None:
        walk.argv(handler.argv)
    elif (broken := shell_syntax(handler.command or "")) is not None:
        return (broken,)
    else:
        walk.script(handler.command or "")
    return tuple(dict.fromkeys(walk.found))


def shell_syntax(command: str) -> Fault | None:
    """Return the fault of a command that the shell cannot parse. The shell reads it and runs nothing."""
    env = {"PATH": os.defpath, "LC_ALL": "C"}
    try:
        run = subprocess.run(
            ["/bin/sh", "-n", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            timeout=SYNTAX_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if run.returncode == 0:
        return None
    said = run.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    said = re.sub(r"^(?:/bin/)?sh: (?:-c: )?(?:line )?(?:\d+: )?", "", said)
    return Fault("command-syntax", f"the shell cannot parse this command: {said}.", "Look at its quotes.")


@dataclass(slots=True)
class _Walk:
    """A walk along a command line. `base` is the folder that a step is in, None where unknown."""

    base: Path | None
    variables: dict[str, str]
    path: str | None
    by_shell: bool = False
    found: list[Fault] = field(default_factory=list)
    level: int = 0

    @classmethod
    def of(cls, handler: Handler, root: Path, environ: Mapping[str, str]) -> _Walk:
        own = dict(handler.env)
        known = {"HOME": environ.get("HOME", str(Path.home())), "PWD": str(root)}
        known |= dict.fromkeys(("CLAUDE_PROJECT_DIR", "DEEPAGENTS_PROJECT_DIR"), str(root))
        return cls(root, known | own, own.get("PATH", environ.get("PATH")))

    # ------------------------------------------------------------------ without a shell

    def argv(self, argv: Sequence[str]) -> None:
        """Look at a command that is run directly."""
        for word in argv[: 2 if _runs_scripts(Path(argv[0]).name) else 1]:
            if _UNEXPANDED.match(word) and not Path(self.base or "/", word).exists():
                self._fault(_unexpanded(word))
                return
        if "/" not in argv[0] and not on_path(argv[0], self.path):
            self._fault(missing_program(argv[0]))
        else:
            self.run(literal(argv))

    # ------------------------------------------------------------------ with a shell

    def script(self, text: str) -> None:
        """Look at a shell command, up to where it stops being certain."""
        if self.level >= _NESTING_LIMIT or _UNCERTAIN.search(text):
            return
        try:
            commands = parse(text)
        except ShellError:
            return
        outer, by_shell, self.by_shell, self.level = [self.base], self.by_shell, True, self.level + 1
        for command in commands:
            while len(outer) > command.depth + 1:
                self.base = outer.pop()
            while len(outer) < command.depth + 1:
                outer.append(self.base)
            if not self.run(command):
                break
        self.by_shell, self.level = by_shell, self.level - 1

    def run(self, command: Simple) -> bool:
        """Look at one simple command; false where what follows it is not certain."""
        words = list(command.words)
        while words and words[0].assigns and "=" in words[0].raw:
            if not self._assign(words.pop(0)):
                return False
        if not words or words[0].raw == "}":
            return True
        name = words[0].raw
        if name in _TURNING or words[0].pattern:
            return False
        if name not in _WRAPPERS:
            return self._program(words)
        if words[1:] and words[1].raw.startswith("-"):
            return False  # `command -v`, and options that may take a word
        return self.run(replace(command, words=tuple(words[1:]))) and name != "exec"

    def _assign(self, word: Word) -> bool:
        """Follow an assignment; false for PATH, after which no program can be looked for."""
        name = word.raw.partition("=")[0].rstrip("+")
        value = self._value(word)
        self.variables.pop(name, None)
        if value is not None and not word.raw.startswith(f"{name}+"):
            self.variables[name] = value.partition("=")[2]
        return name != "PATH"

    def _value(self, word: Word) -> str | None:
        """Return a word's value; a default counts only where the variable is known anyway."""
        if any(part.kind == "variable" and part.text not in self.variables for part in word.parts):
            return None
        return word.value(self.variables)

    def _program(self, words: list[Word]) -> bool:
        if self._splits(words):
            return True
        program = self._value(words[0])
        if program is None or not program:
            return True
        name = program if "/" not in program else Path(program).name
        if name == "cd":
            return self._cd(words)
        if name in _BUILTINS:
            return name not in {"exit", "export"} or (name == "export" and "PATH" not in words[-1].raw)
        if not self._starts(program, words):
            return True
        if name == "env":
            return self._env(words)
        self._reads(name, words)
        return True

    def _starts(self, program: str, words: Sequence[Word]) -> bool:
        """Note what keeps a program from being started; true where nothing does."""
        fault = None
        if "/" not in program:
            fault = None if on_path(program, self.path) else missing_program(program)
        elif (path := self._located(program)) is not None:
            fault = started(path, self.path, by_shell=self.by_shell)
            if fault is not None and fault.code == "script-missing":
                fault = self._torn(words) or fault
        if fault is not None:
            self._fault(fault)
        return fault is None

    def _cd(self, words: Sequence[Word]) -> bool:
        targets = [word for word in words[1:] if not word.raw.startswith("-")]
        target = self._value(targets[0]) if targets else self.variables.get("HOME")
        self.base = (
            None if target is None or self.base is None else Path(os.path.normpath(self.base / target))
        )
        return True

    def _env(self, words: list[Word]) -> bool:
        rest = words[1:]
        while rest and re.match(r"[A-Za-z_]\w*=", rest[0].raw):
            if not self._assign(rest.pop(0)):
                return True
        if rest and not rest[0].raw.startswith("-"):
            self._program(rest)
        return True

    # ------------------------------------------------------------------ interpreters

    def _reads(self, name: str, words: Sequence[Word]) -> None:
        """Look at the script that an interpreter is handed, or at the command that a shell is."""
        if name in _SHELLS:
            self._shell(words)
        elif _PYTHON.fullmatch(name):
            self._python(words)
        elif _runs_scripts(name) and words[1:] and re.match(r"[^-].*[./]", words[1].raw):
            self._script(name, words, 1)

    def _shell(self, words: Sequence[Word]) -> None:
        at = 1
        while at < len(words) and _OPTIONS.fullmatch(words[at].raw):
            if "s" in words[at].raw:
                return  # it reads its standard input
            if "c" in words[at].raw:
                text = self._value(words[at + 1]) if at + 1 < len(words) else None
                if text is not None:
                    _nested(self, text)
                return
            at += 2 if words[at].raw.endswith(("o", "O")) else 1
        if at < len(words) and not words[at].raw.startswith(("-", "+")):
            self._script("sh", words, at)

    def _python(self, words: Sequence[Word]) -> None:
        at = 1
        while at < len(words) and re.fullmatch(r"-(?:[bBdEiIOPqRsSuvx]+|[XW])", words[at].raw):
            at += 2 if words[at].raw in {"-X", "-W"} else 1
        if at < len(words) and not words[at].raw.startswith("-"):
            self._script("python", words, at)

    def _script(self, name: str, words: Sequence[Word], at: int) -> None:
        text = self._value(words[at])
        path = self._located(text) if text else None
        if path is None or text is None or words[at].pattern or text.startswith(("/dev/", "/proc/")):
            return
        if not _there(name, path, text, self.path):
            self._fault(self._torn(words[at:]) or missing_script(path))
        elif name == "sh" and (fault := read_by_shell(path)) is not None:
            self._fault(fault)

    # ------------------------------------------------------------------ words and files

    def _located(self, text: str) -> Path | None:
        if "\0" in text or (self.base is None and not text.startswith("/")):
            return None
        return Path(os.path.normpath(Path(self.base or "/", text)))

    def _torn(self, words: Sequence[Word]) -> Fault | None:
        """Look whether words that follow each other are one path that is there."""
        texts: list[str] = []
        for word in words[:20] if self.by_shell else ():
            text = self._value(word)
            if text is None:
                break
            texts.append(text)
            path = self._located(" ".join(texts))
            if len(texts) > 1 and path is not None and path.is_file():
                return _apart(" ".join(texts))
        return None

    def _splits(self, words: Sequence[Word]) -> bool:
        """Note a variable outside of quotes whose value the shell would take apart."""
        if not self.by_shell or words[0].raw in _SPEAKERS:
            return False
        for word in words:
            for name in () if word.assigns else _unquoted(word.raw):
                value = self.variables.get(name, "")
                if re.search(r"\s", value):
                    found = f"${name} stands outside quotes, and its value contains a space: {value}"
                    self._fault(Fault("command-quoting", found, f'Write "{word.raw}", with double quotes.'))
                    return True
        return False

    def _fault(self, fault: Fault) -> None:
        self.found.append(fault)


def _nested(walk: _Walk, text: str) -> None:
    broken = shell_syntax(text)
    if broken is not None:
        walk.found.append(broken)
        return
    base, by_shell, walk.by_shell = walk.base, walk.by_shell, True
    walk.script(text)
    walk.base, walk.by_shell = base, by_shell


def _runs_scripts(name: str) -> bool:
    return name in _SHELLS or name in _INTERPRETERS or name == "node" or _PYTHON.fullmatch(name) is not None


def _there(name: str, path: Path, text: str, search: str | None) -> bool:
    """Whether an interpreter would find a script, in the places where it looks."""
    if path.exists():
        return name != "sh" or not path.is_dir()
    if name == "sh" and "/" not in text:
        return any(Path(folder, text).is_file() for folder in (search or "").split(os.pathsep))
    return name == "node" and any(path.with_name(path.name + end).exists() for end in (".js", ".cjs", ".mjs"))


def _unquoted(raw: str) -> list[str]:
    """Return the names of the variables that stand outside of quotes in a word."""
    bare = re.sub(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\$\((?:[^()]|\([^()]*\))*\)""", "", raw)
    return [first or second for first, second in re.findall(r"\$(?:\{(\w+)\}|(\w+))", bare)]


def _apart(path: str) -> Fault:
    return Fault(
        "command-quoting",
        f"the path {path!r} contains a space and stands outside quotes, so the shell takes it apart.",
        "Put it in quotes.",
    )


def _unexpanded(word: str) -> Fault:
    what = "`~`" if word.startswith("~") else "the variable"
    return Fault(
        "argv-unexpanded",
        f"no shell reads this list, so {what} in {word!r} stays as it is.",
        'Write the whole path, or a "command" for the shell.',
    )
