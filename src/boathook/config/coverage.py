"""Which files inside a project a handler's command names, and what of it cannot be told.

The command line is read as a shell would read it. Files that it names are *covered*: their
bytes belong to an approval. What depends on the moment of running is put into words.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.imports import imported, is_python
from boathook.config.shell import ShellError, Simple, literal, parse
from boathook.config.taskfiles import make_rules, package_scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boathook.config.schema import Handler
    from boathook.config.shell import Word

NESTING_LIMIT: Final = 20
TREE_LIMIT: Final = 2000
"""Files of one named folder that are covered; more are said to be too many."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEYWORDS: Final = _words("if then else elif fi do done while until ! { } time")
_SHELLS: Final = _words("sh bash dash zsh ksh ash fish")
_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_INTERPRETERS: Final = _words("node ruby perl php lua Rscript deno bun tsx ts-node osascript pwsh")
_BUILTINS: Final = _words(
    "[ [[ alias bg bind break builtin case cd command continue declare dirs echo enable esac eval exec exit export false fg "
    "for function getopts hash help history in jobs kill let local printf pwd read readonly return set shift shopt "
    "source test times trap true type typeset ulimit umask unalias unset wait . :"
)
_WRITERS: Final = _words("tee touch rm mkdir rmdir truncate logger")
"""Programs whose arguments are written or removed, not run."""

_PREFIXES: Final[dict[str, frozenset[str]]] = {
    # Program → its options that take the word after them.
    "env": frozenset({"-u", "--unset", "-C", "--chdir"}),
    "exec": frozenset({"-a"}),
    "command": frozenset(),
    "builtin": frozenset(),
    "nohup": frozenset(),
    "setsid": frozenset(),
    "sudo": frozenset({"-u", "-g", "-C", "-h", "-p", "-D"}),
    "doas": frozenset({"-u", "-C"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d", "-a", "-s"}),
    "flock": frozenset({"-w", "-E"}),
}
_LEADING_WORDS: Final = {"timeout": 1, "flock": 1}
"""Words of its own that such a program wants before the command."""

_PACKAGE_RUNNERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_ENVIRONMENT_RUNNERS: Final[dict[str, tuple[str, ...]]] = {
    # Program with a `run` command → the files that say in what environment it runs.
    "uv": ("pyproject.toml", "uv.lock"),
    "poetry": ("pyproject.toml", "poetry.lock"),
    "pdm": ("pyproject.toml", "pdm.lock"),
    "hatch": ("pyproject.toml",),
    "rye": ("pyproject.toml", "requirements.lock"),
    "pipenv": ("Pipfile", "Pipfile.lock"),
}
_RUN_OPTIONS: Final = _words(
    "--with --with-editable --with-requirements --python -p --project --directory --group --extra --env-file --index "
    "--only-group --no-group --package --env -e"
)
_TASK_RUNNERS: Final[dict[str, tuple[str, ...]]] = {
    # Program → the files that say what it does; what those do in turn is not followed.
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
    "bundle": ("Gemfile", "Gemfile.lock"),
    "tox": ("tox.ini", "pyproject.toml"),
    "nox": ("noxfile.py",),
    "pre-commit": (".pre-commit-config.yaml",),
    "pytest": ("conftest.py", "pyproject.toml", "pytest.ini"),
    "cargo": ("Cargo.toml", "Cargo.lock"),
    "go": ("go.mod",),
    "gradle": ("build.gradle", "build.gradle.kts"),
    "mvn": ("pom.xml",),
    "docker": (),
    "podman": (),
    "npx": (),
    "bunx": (),
    "uvx": (),
    "pipx": (),
    "ssh": (),
    "find": (),
    "parallel": (),
    "watch": (),
}
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")


@dataclass(frozen=True, slots=True)
class Coverage:
    """The covered files, absolute as they are named, and in words what is not covered."""

    files: tuple[str, ...]
    uncovered: tuple[str, ...]


def cover(handler: Handler, root: str | Path, base: str | Path | None = None) -> Coverage:
    """Say what approving this handler of the project at `root` covers. Runs nothing, reads only inside it.

    `base` is the folder that it runs in, where that is not `root`.
    """
    walk = _Walk.at(Path(root).absolute(), Path(base or root).absolute())
    for name, value in handler.env:
        walk.variables[name] = value
    if handler.argv is not None:
        walk.run(literal(handler.argv))
    else:
        walk.script(handler.command or "")
    return Coverage(tuple(walk.files), tuple(walk.doubts))


@dataclass(slots=True)
class _Walk:
    """A walk along a command line. `base` is the folder that a step finds itself in, None when unknown."""

    root: Path
    base: Path | None
    variables: dict[str, str]
    files: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    level: int = 0

    @classmethod
    def at(cls, root: Path, base: Path) -> _Walk:
        variables = {"HOME": str(Path.home()), "PWD": str(base)}
        variables |= dict.fromkeys(("CLAUDE_PROJECT_DIR", "DEEPAGENTS_PROJECT_DIR"), str(base))
        return cls(root, base, variables)

    # ------------------------------------------------------------------ the shell's side

    def script(self, text: str) -> None:
        """Walk along a command line; where it goes in a sub-shell does not matter after it."""
        if self.level >= NESTING_LIMIT:
            self.doubt("it is nested too deeply to be followed")
            return
        try:
            commands = parse(text)
        except ShellError as error:
            self.doubt(f"it cannot be read as a shell command: {error}")
            return
        self.level += 1
        outer = [self.base]
        for command in commands:
            while len(outer) > command.depth + 1:
                self.base = outer.pop()
            while len(outer) < command.depth + 1:
                outer.append(self.base)
            self.run(command)
        self.base = outer[0] if len(outer) > 1 else self.base
        self.level -= 1

    def run(self, command: Simple) -> None:
        """Cover what one simple command names."""
        words = [self._word(word) for word in command.words]
        for word in command.reads:
            self._name(self._word(word)[0], word.raw)
        raws = [word.raw for word in command.words]
        while words and (raws[0] in _KEYWORDS or command.words[len(command.words) - len(words)].assigns):
            name, sign, _ = raws[0].partition("=")
            if sign and (value := words[0][0]) is not None:
                self.variables[name] = value.partition("=")[2]
            words, raws = words[1:], raws[1:]
        if command.fed:
            self.doubt("files that its here-document names, where a program runs that as a script")
        if words:
            self._program([text for text, _ in words], raws)
            self._patterns(words)

    def _word(self, word: Word) -> tuple[str | None, bool]:
        for source in word.nested:
            base = self.base
            self.script(source)
            self.base = base
        return word.value(self.variables), word.pattern

    def _patterns(self, words: Sequence[tuple[str | None, bool]]) -> None:
        for text, pattern in words:
            if pattern and text and self.base is not None and not text.startswith("-"):
                for found in sorted(self._matches(text)):
                    self._name(found, found)

    def _matches(self, text: str) -> list[str]:
        import glob

        return glob.glob(str(Path(self.base or self.root, text)))[:TREE_LIMIT]

    def _program(self, words: list[str | None], raws: list[str]) -> None:
        program = words[0]
        if program is None:
            self.doubt(f"the program {raws[0]}, which is known only when it runs")
            self._arguments(words[1:], raws[1:])
            return
        name = Path(program).name if program else ""
        self._start(program)
        step = self._step(name)
        if step is None:
            self._arguments(words[1:], raws[1:])
        else:
            step(words, raws)

    def _step(self, name: str) -> Callable[[list[str | None], list[str]], None] | None:
        """Return how the arguments of a program are read, where it runs what they say."""
        if name in _SHELLS:
            return self._shell
        if _PYTHON.fullmatch(name):
            return self._python
        if name in _PREFIXES:
            return self._prefix
        if name in _PACKAGE_RUNNERS:
            return self._package
        if name in _ENVIRONMENT_RUNNERS:
            return self._environment
        if name in _TASK_RUNNERS:
            return self._tasks
        if name in _INTERPRETERS:
            return self._interpreter
        if name in _WRITERS:
            return self._writes
        if name in _BUILTINS and name not in {"cd", "eval", "source", "."}:
            return self._builtin
        named = {"cd": self._cd, "eval": self._eval, "source": self._source, ".": self._source}
        return named.get(name, self._make if name in {"make", "gmake"} else None)

    def _builtin(self, words: list[str | None], raws: list[str]) -> None:
        """Do nothing: what the shell itself does with its arguments depends on no file's bytes."""

    def _cd(self, words: list[str | None], raws: list[str]) -> None:
        target = next((word for word in words[1:] if word is None or not word.startswith("-")), "~")
        if target is None or self.base is None:
            self.base = None
            self.doubt(f"where {' '.join(raws)} leads, and files that are named from there")
            return
        self.base = Path(os.path.normpath(self.base / target))
        self.variables["PWD"] = str(self.base)

    def _eval(self, words: list[str | None], raws: list[str]) -> None:
        if None in words:
            self.doubt(f"what {' '.join(raws)} runs, which is known only when it runs")
        else:
            self.script(" ".join(word or "" for word in words[1:]))

    def _source(self, words: list[str | None], raws: list[str]) -> None:
        if len(words) > 1:
            self._target(words[1], raws[1])

    def _writes(self, words: list[str | None], raws: list[str]) -> None:
        named = [
            raw for word, raw in zip(words[1:], raws[1:], strict=True) if not (word or "").startswith("-")
        ]
        if named:
            self.doubt(f"{' '.join(named)}, which {raws[0]} writes")

    def _shell(self, words: list[str | None], raws: list[str]) -> None:
        for index in range(1, len(words)):
            word = words[index]
            if word is not None and re.fullmatch(r"-\w*c", word):
                self._nested(words[index + 1 :], raws[index + 1 :])
                return
            if word is None or not word.startswith(("-", "+")):
                self._target(word, raws[index])
                self._arguments(words[index + 1 :], raws[index + 1 :])
                return

    def _nested(self, words: list[str | None], raws: list[str]) -> None:
        if not words or words[0] is None:
            self.doubt(f"what {raws[0] if raws else 'it'} runs, which is known only when it runs")
            return
        base = self.base
        self.script(words[0])
        self.base = base
        self._arguments(words[1:], raws[1:])

    # ------------------------------------------------------------------ programs that run what they are told

    def _prefix(self, words: list[str | None], raws: list[str]) -> None:
        name = Path(words[0] or "").name
        valued, own = _PREFIXES[name], _LEADING_WORDS.get(name, 0)
        index = 1
        while index < len(words):
            word = words[index]
            if word is not None and word.startswith("-") and len(word) > 1:
                index += 2 if word in valued else 1
            elif word is not None and name in {"env", "sudo"} and re.match(r"[A-Za-z_]\w*=", word):
                key, _, value = word.partition("=")
                self.variables[key] = value
                index += 1
            elif own:
                own -= 1
                index += 1
            else:
                break
        if words[index:]:
            self._program(words[index:], raws[index:])

    def _python(self, words: list[str | None], raws: list[str]) -> None:
        index = 1
        while index < len(words):
            word = words[index]
            if word == "-m" and index + 1 < len(words):
                self._module(words[index + 1], raws[index + 1])
                self._arguments(words[index + 2 :], raws[index + 2 :])
                return
            if word == "-c":
                self._arguments(words[index + 2 :], raws[index + 2 :])
                return
            if word is None or not word.startswith("-") or word == "-":
                if word != "-":
                    self._target(word, raws[index])
                self._arguments(words[index + 1 :], raws[index + 1 :])
                return
            index += 2 if word in {"-X", "-W"} else 1

    def _module(self, name: str | None, raw: str) -> None:
        if name is None or self.base is None:
            self.doubt(f"the module {raw}, which is known only when it runs")
            return
        parts = name.split(".")
        folders = [self.base, *self._python_path()]
        for folder in folders:
            path = folder.joinpath(*parts)
            module = path.with_suffix(".py")
            if not path.is_dir() and not module.is_file():
                continue
            if path.is_dir() or len(parts) > 1:
                self._tree(folder / parts[0])
            self._name(str(module), raw)
            for each in (module, path / "__init__.py", path / "__main__.py"):
                self._imports(each, self.base)
            return
        self.doubt(f"the module {name}, which is not in the project but among Python's own or installed ones")

    def _interpreter(self, words: list[str | None], raws: list[str]) -> None:
        for index in range(1, len(words)):
            word = words[index]
            if word in {"-e", "--eval", "-p", "eval"}:
                self._arguments(words[index + 2 :], raws[index + 2 :])
                return
            if word == "run":
                continue
            if word is None or not word.startswith("-"):
                self._target(word, raws[index])
                self._arguments(words[index + 1 :], raws[index + 1 :])
                return

    def _package(self, words: list[str | None], raws: list[str]) -> None:
        rest = [word for word in words[1:] if word is None or not word.startswith("-")]
        name = rest[1] if rest[:1] in (["run"], ["run-script"]) and len(rest) > 1 else (rest or [None])[0]
        package = None if self.base is None else _upwards(self.base, self.root, ("package.json",))
        if package is None or name is None:
            self.doubt(f"what {' '.join(raws)} runs: there is no package.json in the project that says it")
            return
        self._name(str(package), "package.json")
        scripts = package_scripts(package)
        if name not in scripts:
            if (Path(words[0] or "").name, rest[:1]) == ("bun", ["run"]):
                self._target(name, name)
            else:
                self.doubt(f"what {' '.join(raws)} runs: package.json has no script {name!r}")
            return
        base, self.base = self.base, package.parent
        for each in (f"pre{name}", name, f"post{name}"):
            if each in scripts:
                self.script(scripts[each])
        self.base = base

    def _environment(self, words: list[str | None], raws: list[str]) -> None:
        tool = Path(words[0] or "").name
        self._settings(_ENVIRONMENT_RUNNERS[tool])
        self.doubt(f"the packages that {tool} installs for it")
        if "run" not in words:
            self.doubt(f"what {' '.join(raws)} runs")
            return
        index = words.index("run") + 1
        while index < len(words):
            word = words[index]
            if word in {"-m", "--module"} and index + 1 < len(words):
                self._module(words[index + 1], raws[index + 1])
                return
            if word is None or not word.startswith("-"):
                break
            index += 2 if word in _RUN_OPTIONS else 1
        if words[index:]:
            word = words[index]
            if tool == "uv" and word is not None and word.endswith(".py"):
                self._python(["python", *words[index:]], ["python", *raws[index:]])
            else:
                self._program(words[index:], raws[index:])

    def _tasks(self, words: list[str | None], raws: list[str]) -> None:
        tool = Path(words[0] or "").name
        self._settings(_TASK_RUNNERS[tool])
        self.doubt(f"what {tool} runs, fetches or reads by itself")
        self._arguments(words[1:], raws[1:])

    def _settings(self, names: Sequence[str]) -> None:
        for name in names:
            found = None if self.base is None else _upwards(self.base, self.root, (name,))
            if found is not None:
                self._name(str(found), name)

    def _make(self, words: list[str | None], raws: list[str]) -> None:
        base, makefile, targets = self.base, None, []
        index = 1
        while index < len(words):
            word = words[index]
            if word in {"-C", "-f"} and index + 1 < len(words):
                value = words[index + 1]
                if value is None or base is None:
                    self.doubt(f"what {' '.join(raws)} runs, which is known only when it runs")
                    return
                base, makefile = (base / value, makefile) if word == "-C" else (base, value)
                index += 1
            elif word is not None and not word.startswith("-") and "=" not in word:
                targets.append(word)
            index += 1
        names = _MAKEFILES if makefile is None else (makefile,)
        path = (
            None if base is None else next((base / each for each in names if (base / each).is_file()), None)
        )
        if path is None:
            self.doubt(f"what {' '.join(raws)} runs: there is no makefile")
            return
        self._name(str(path), path.name)
        outer, self.base = self.base, base
        self._recipes(path, targets)
        self.base = outer

    def _recipes(self, path: Path, targets: list[str]) -> None:
        rules, included = make_rules(path)
        for each in included:
            self._name(each, each)
        wanted, seen = targets or list(rules)[:1], set[str]()
        while wanted:
            target = wanted.pop()
            if target in seen or target not in rules:
                continue
            seen.add(target)
            needs, lines = rules[target]
            wanted.extend(needs)
            for line in lines:
                base = self.base
                self.script(line)
                self.base = base
        self.doubt(f"what {path.name} makes of its variables, and other makefiles that it starts")

    # ------------------------------------------------------------------ files

    def doubt(self, words: str) -> None:
        """Say that something is not covered."""
        self.doubts[words] = None

    def _start(self, program: str) -> None:
        """Cover a program itself, when it lies in the project."""
        if "/" in program:
            self._target(program, program)
            return
        found = shutil.which(program)
        if found is not None and self._inside(Path(found)):
            self.files[found] = None
        elif found is None and program not in _BUILTINS | _KEYWORDS:
            self.doubt(f"the program {program}, which is not found on PATH")

    def _target(self, text: str | None, raw: str) -> None:
        """Cover a script that is about to run, and say so where that cannot be done."""
        path = self._path(text)
        if path is None:
            self.doubt(f"the script {raw}, which is known only when it runs")
        elif path.is_dir() and self._inside(path):
            self._tree(path)
        elif not path.is_file():
            self.doubt(f"the script {raw}, which is not there")
        elif not self._inside(path):
            self.doubt(f"{raw}, which lies outside the project")
        else:
            self.files[str(path)] = None
            if is_python(path):
                self._imports(path, path.parent)

    def _imports(self, script: Path, first: Path) -> None:
        """Cover the modules of the project that a script imports; `first` is where Python looks first."""
        folders = [first, *self._python_path()]
        self.files |= dict.fromkeys(str(path) for path in imported(script, folders) if self._inside(path))

    def _python_path(self) -> list[Path]:
        entries = self.variables.get("PYTHONPATH", "").split(":")
        return [Path(os.path.normpath(Path(self.base or self.root, each))) for each in entries if each]

    def _arguments(self, words: Sequence[str | None], raws: Sequence[str]) -> None:
        for word, raw in zip(words, raws, strict=True):
            self._name(word, raw)
            if word is not None and word.startswith("-") and "=" in word:
                self._name(word.partition("=")[2], raw)

    def _name(self, text: str | None, raw: str) -> None:
        """Cover a file that is named, if there is one."""
        path = self._path(text)
        if path is None:
            if text is None:
                self.doubt(f"{raw}, where it names a file: it is known only when it runs")
        elif _is_file(path) and self._inside(path):
            self.files[str(path)] = None

    def _path(self, text: str | None) -> Path | None:
        if text is None or not text or "\0" in text or (self.base is None and not text.startswith("/")):
            return None
        return Path(os.path.normpath(Path(self.base or "/", text)))

    def _inside(self, path: Path) -> bool:
        """Whether a path lies in the project, by its name; where its links lead belongs to the approval."""
        return path.is_relative_to(self.root) or Path(os.path.realpath(path)).is_relative_to(
            os.path.realpath(self.root)
        )

    def _tree(self, folder: Path) -> None:
        files = sorted(
            path for path in folder.rglob("*") if path.suffix not in {".pyc", ".pyo"} and path.is_file()
        )
        if len(files) > TREE_LIMIT:
            self.doubt(f"the folder {folder.name}, which holds more than {TREE_LIMIT} files")
            return
        self.files |= dict.fromkeys(str(path) for path in files)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _upwards(folder: Path, root: Path, names: Sequence[str]) -> Path | None:
    """Find the nearest of some files in a folder or above it, without leaving the project."""
    for candidate in (folder, *folder.parents):
        for name in names:
            if (candidate / name).is_file():
                return candidate / name
        if candidate == root:
            break
    return None
