"""Programs that run what their words say: what each of them makes of its command line.

To add one that runs another, add a row to a table; what needs a function of its own has it below.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boathook.config.taskfiles import make_rules, package_scripts
from boathook.config.wrappers import SHELLS, WRAPPERS, command_begins, sets_variable, shell_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boathook.config.command_walk import Step, Walk, Words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_INTERPRETERS: Final = _words("node ruby perl php lua Rscript deno bun tsx ts-node osascript pwsh")
_BUILTINS: Final = _words(
    "[ [[ alias bg bind break builtin case cd command continue declare dirs echo enable esac eval exec exit export false fg "
    "for function getopts hash help history in jobs kill let local printf pwd read readonly return set shift shopt "
    "source test times trap true type typeset ulimit umask unalias unset wait . :"
)
_DECLARING: Final = _words("export local declare readonly typeset")
_SETTING: Final = _words("read for unset getopts printf mapfile")
_WRITERS: Final = _words("tee touch rm mkdir rmdir truncate logger")
"""Programs whose arguments are written or removed, not run."""

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


def step(name: str) -> Step | None:
    """Return how the words of a program are read, None where they are only words."""
    if _PYTHON.fullmatch(name):
        return _python
    return _STEPS.get(name)


def _builtin(walk: Walk, words: Words, raws: list[str]) -> None:
    """Note which variables the shell itself sets; what else it does depends on no file's bytes."""
    for word, raw in zip(words[1:], raws[1:], strict=True):
        if raws[0] in _DECLARING:
            walk.assign(word, raw)
        elif raws[0] in _SETTING:
            walk.variables.pop(raw, None)


def _cd(walk: Walk, words: Words, raws: list[str]) -> None:
    target = next((word for word in words[1:] if word is None or not word.startswith("-")), "~")
    if target is None or walk.base is None:
        walk.base = None
        walk.doubt(f"where {' '.join(raws)} leads, and files that are named from there")
        return
    walk.base = Path(os.path.normpath(walk.base / target))
    walk.variables["PWD"] = str(walk.base)


def _eval(walk: Walk, words: Words, raws: list[str]) -> None:
    if None in words:
        walk.doubt(f"what {' '.join(raws)} runs, which is known only when it runs")
    else:
        walk.script(" ".join(word or "" for word in words[1:]))


def _source(walk: Walk, words: Words, raws: list[str]) -> None:
    if len(words) > 1:
        walk.target(words[1], raws[1])


def _writes(walk: Walk, words: Words, raws: list[str]) -> None:
    named = [raw for word, raw in zip(words[1:], raws[1:], strict=True) if not (word or "").startswith("-")]
    if named:
        walk.doubt(f"{' '.join(named)}, which {raws[0]} writes")


def _shell(walk: Walk, words: Words, raws: list[str]) -> None:
    found = shell_argument(words)
    if found is None:
        return
    index, text = found
    if text:
        _nested(walk, words[index:], raws[index:])
    else:
        walk.target(words[index], raws[index])
        walk.arguments(words[index + 1 :], raws[index + 1 :])


def _nested(walk: Walk, words: Words, raws: list[str]) -> None:
    if not words or words[0] is None:
        walk.doubt(f"what {raws[0] if raws else 'it'} runs, which is known only when it runs")
        return
    base = walk.base
    walk.script(words[0])
    walk.base = base
    walk.arguments(words[1:], raws[1:])


def _prefix(walk: Walk, words: Words, raws: list[str]) -> None:
    begin = command_begins(words)
    for index in range(1, begin):
        if sets_variable(words, index):
            key, _, value = (words[index] or "").partition("=")
            walk.variables[key] = value
    if words[begin:]:
        walk.program(words[begin:], raws[begin:])


def _python(walk: Walk, words: Words, raws: list[str]) -> None:
    index = 1
    while index < len(words):
        word = words[index]
        if word == "-m" and index + 1 < len(words):
            _module(walk, words[index + 1], raws[index + 1])
            walk.arguments(words[index + 2 :], raws[index + 2 :])
            return
        if word == "-c":
            walk.arguments(words[index + 2 :], raws[index + 2 :])
            return
        if word is None or not word.startswith("-") or word == "-":
            if word != "-":
                walk.target(word, raws[index])
            walk.arguments(words[index + 1 :], raws[index + 1 :])
            return
        index += 2 if word in {"-X", "-W"} else 1


def _module(walk: Walk, name: str | None, raw: str) -> None:
    if name is None or walk.base is None:
        walk.doubt(f"the module {raw}, which is known only when it runs")
        return
    parts = name.split(".")
    folders = [walk.base, *walk.python_path()]
    for folder in folders:
        path = folder.joinpath(*parts)
        module = path.with_suffix(".py")
        if not path.is_dir() and not module.is_file():
            continue
        if path.is_dir() or len(parts) > 1:
            walk.tree(folder / parts[0])
        walk.name(str(module), raw)
        for each in (module, path / "__init__.py", path / "__main__.py"):
            walk.imports(each, walk.base)
        return
    walk.doubt(f"the module {name}, which is not in the project but among Python's own or installed ones")


def _interpreter(walk: Walk, words: Words, raws: list[str]) -> None:
    for index in range(1, len(words)):
        word = words[index]
        if word in {"-e", "--eval", "-p", "eval"}:
            walk.arguments(words[index + 2 :], raws[index + 2 :])
            return
        if word == "run":
            continue
        if word is None or not word.startswith("-"):
            walk.target(word, raws[index])
            walk.arguments(words[index + 1 :], raws[index + 1 :])
            return


def _package(walk: Walk, words: Words, raws: list[str]) -> None:
    rest = [word for word in words[1:] if word is None or not word.startswith("-")]
    name = rest[1] if rest[:1] in (["run"], ["run-script"]) and len(rest) > 1 else (rest or [None])[0]
    package = None if walk.base is None else upwards(walk.base, walk.root, ("package.json",))
    if package is None or name is None:
        walk.doubt(f"what {' '.join(raws)} runs: there is no package.json in the project that says it")
        return
    walk.name(str(package), "package.json")
    scripts = package_scripts(package)
    if name not in scripts:
        if (Path(words[0] or "").name, rest[:1]) == ("bun", ["run"]):
            walk.target(name, name)
        else:
            walk.doubt(f"what {' '.join(raws)} runs: package.json has no script {name!r}")
        return
    base, walk.base = walk.base, package.parent
    for each in (f"pre{name}", name, f"post{name}"):
        if each in scripts:
            walk.script(scripts[each])
    walk.base = base


def _environment(walk: Walk, words: Words, raws: list[str]) -> None:
    tool = Path(words[0] or "").name
    _settings(walk, _ENVIRONMENT_RUNNERS[tool])
    walk.doubt(f"the packages that {tool} installs for it")
    if "run" not in words:
        walk.doubt(f"what {' '.join(raws)} runs")
        return
    index = words.index("run") + 1
    while index < len(words):
        word = words[index]
        if word in {"-m", "--module"} and index + 1 < len(words):
            _module(walk, words[index + 1], raws[index + 1])
            return
        if word is None or not word.startswith("-"):
            break
        index += 2 if word in _RUN_OPTIONS else 1
    if words[index:]:
        word = words[index]
        if tool == "uv" and word is not None and word.endswith(".py"):
            _python(walk, ["python", *words[index:]], ["python", *raws[index:]])
        else:
            walk.program(words[index:], raws[index:])


def _tasks(walk: Walk, words: Words, raws: list[str]) -> None:
    tool = Path(words[0] or "").name
    _settings(walk, _TASK_RUNNERS[tool])
    walk.doubt(f"what {tool} runs, fetches or reads by itself")
    walk.arguments(words[1:], raws[1:])


def _settings(walk: Walk, names: Sequence[str]) -> None:
    for name in names:
        found = None if walk.base is None else upwards(walk.base, walk.root, (name,))
        if found is not None:
            walk.name(str(found), name)


def _make(walk: Walk, words: Words, raws: list[str]) -> None:
    base, makefile, targets = walk.base, None, []
    index = 1
    while index < len(words):
        word = words[index]
        if word in {"-C", "-f"} and index + 1 < len(words):
            value = words[index + 1]
            if value is None or base is None:
                walk.doubt(f"what {' '.join(raws)} runs, which is known only when it runs")
                return
            base, makefile = (base / value, makefile) if word == "-C" else (base, value)
            index += 1
        elif word is not None and not word.startswith("-") and "=" not in word:
            targets.append(word)
        index += 1
    names = _MAKEFILES if makefile is None else (makefile,)
    path = None if base is None else next((base / each for each in names if (base / each).is_file()), None)
    if path is None:
        walk.doubt(f"what {' '.join(raws)} runs: there is no makefile")
        return
    walk.name(str(path), path.name)
    outer, walk.base = walk.base, base
    _recipes(walk, path, targets)
    walk.base = outer


def _recipes(walk: Walk, path: Path, targets: list[str]) -> None:
    rules, included = make_rules(path)
    for each in included:
        walk.name(each, each)
    wanted, seen = targets or list(rules)[:1], set[str]()
    while wanted:
        target = wanted.pop()
        if target in seen or target not in rules:
            continue
        seen.add(target)
        needs, lines = rules[target]
        wanted.extend(needs)
        for line in lines:
            base = walk.base
            walk.script(line)
            walk.base = base
    walk.doubt(f"what {path.name} makes of its variables, and other makefiles that it starts")


def upwards(folder: Path, root: Path, names: Sequence[str]) -> Path | None:
    """Find the nearest of some files in a folder or above it, without leaving the project."""
    for candidate in (folder, *folder.parents):
        for name in names:
            if (candidate / name).is_file():
                return candidate / name
        if candidate == root:
            break
    return None


_STEPS: Final[dict[str, Step]] = {
    **dict.fromkeys(_BUILTINS, _builtin),
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(_INTERPRETERS, _interpreter),
    **dict.fromkeys(_WRITERS, _writes),
    **dict.fromkeys(WRAPPERS, _prefix),
    **dict.fromkeys(_PACKAGE_RUNNERS, _package),
    **dict.fromkeys(_ENVIRONMENT_RUNNERS, _environment),
    **dict.fromkeys(_TASK_RUNNERS, _tasks),
    **dict.fromkeys(("make", "gmake"), _make),
    **dict.fromkeys((".", "source"), _source),
    "cd": _cd,
    "eval": _eval,
}
