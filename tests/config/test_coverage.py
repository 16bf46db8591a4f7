"""Which files a command names, read as a shell would read it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boathook.config.coverage import Coverage, cover
from boathook.config.schema import Handler
from boathook.config.shell import ShellError, parse

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "guard.sh": "",
    "hooks/guard.py": "",
    "hooks/rules.json": "{}",
    "hooks/with space.sh": "",
    "hooks/$odd'name.sh": "",
    "hooks/filter.jq": ".",
    "pkg/__init__.py": "",
    "pkg/__main__.py": "",
    "pkg/deep/part.py": "",
    "single.py": "",
    "src/inner/__init__.py": "",
    "app/__main__.py": "",
    "tool/index.js": "",
    "package.json": json.dumps(
        {"scripts": {"lint": "node tool/index.js", "prelint": "sh guard.sh", "other": "vitest"}}
    ),
    "pyproject.toml": "",
    "uv.lock": "",
    "Makefile": "include more.mk\nall: other\ncheck: needed\n\t@sh guard.sh\nneeded: ; python3 single.py\nother:\n\ttrue\n",
    "more.mk": "",
    "sub/Makefile": "check:\n\tcat ../hooks/rules.json\n",
    "sub/run.sh": "",
    "justfile": "",
    "bin/tool": "#!/bin/sh\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path / "project"


def covered(root: Path, command: str | tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    shell = isinstance(command, str)
    handler = Handler(
        name="h",
        source="hooks.json",
        scope="project",
        pointer="",
        line=1,
        events=("Stop",),
        command=command if isinstance(command, str) else None,
        argv=None if shell else tuple(command),
        timeout=1,
    )
    found: Coverage = cover(handler, root)
    return sorted(os.path.relpath(file, root) for file in found.files), found.uncovered


PKG = ["pkg/__init__.py", "pkg/__main__.py", "pkg/deep/part.py"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        # interpreter and script
        ("./guard.sh", ["guard.sh"]),
        ("sh guard.sh", ["guard.sh"]),
        ("bash -eu ./guard.sh x", ["guard.sh"]),
        ("/bin/sh guard.sh", ["guard.sh"]),
        ("python3 hooks/guard.py --rules=hooks/rules.json", ["hooks/guard.py", "hooks/rules.json"]),
        ("python3.11 -W ignore -u hooks/guard.py", ["hooks/guard.py"]),
        ("node tool/index.js", ["tool/index.js"]),
        ("jq -f hooks/filter.jq", ["hooks/filter.jq"]),
        ('"$CLAUDE_PROJECT_DIR"/guard.sh', ["guard.sh"]),
        ("${DEEPAGENTS_PROJECT_DIR}/guard.sh", ["guard.sh"]),
        ("${HERE:-.}/guard.sh", ["guard.sh"]),
        ("$PWD/guard.sh", ["guard.sh"]),
        ("sh 'hooks/with space.sh'", ["hooks/with space.sh"]),
        (r"sh hooks/with\ space.sh", ["hooks/with space.sh"]),
        ('sh "hooks/\\$odd\'name.sh"', ["hooks/$odd'name.sh"]),
        (("sh", "hooks/$odd'name.sh"), ["hooks/$odd'name.sh"]),
        # modules
        ("python -m pkg", PKG),
        ("python3 -m pkg.deep.part", PKG),
        ("python -m single", ["single.py"]),
        ("PYTHONPATH=src python -m inner", ["src/inner/__init__.py"]),
        ("python app", ["app/__main__.py"]),
        # programs that run others
        ("env A=1 -u B ./guard.sh", ["guard.sh"]),
        ("exec nohup timeout -k 1 5 nice -n 3 ./guard.sh", ["guard.sh"]),
        ("sudo -u nobody sh guard.sh", ["guard.sh"]),
        ("xargs -n 1 ./guard.sh", ["guard.sh"]),
        ("flock /tmp/lock ./guard.sh", ["guard.sh"]),
        ("npm run lint", ["guard.sh", "package.json", "tool/index.js"]),
        ("cd hooks && pnpm run -s lint", ["guard.sh", "package.json", "tool/index.js"]),
        ("yarn lint", ["guard.sh", "package.json", "tool/index.js"]),
        ("uv run hooks/guard.py", ["hooks/guard.py", "pyproject.toml", "uv.lock"]),
        ("uv run --with rich python hooks/guard.py", ["hooks/guard.py", "pyproject.toml", "uv.lock"]),
        ("uv run -m pkg", [*PKG, "pyproject.toml", "uv.lock"]),
        ("poetry run ./guard.sh", ["guard.sh", "pyproject.toml"]),
        ("make check", ["Makefile", "guard.sh", "more.mk", "single.py"]),
        ("make", ["Makefile", "more.mk"]),
        ("make -C sub check", ["hooks/rules.json", "sub/Makefile"]),
        ("make -f sub/Makefile", ["sub/Makefile"]),
        ("just check", ["justfile"]),
        # the shell's own ways
        ("sh -c 'python3 hooks/guard.py'", ["hooks/guard.py"]),
        ("bash -lc './guard.sh \"$0\"'", ["guard.sh"]),
        (("sh", "-c", "exec ./guard.sh"), ["guard.sh"]),
        ("eval 'sh guard.sh'", ["guard.sh"]),
        ("A=1 B=2 ./guard.sh", ["guard.sh"]),
        ("DIR=hooks; python3 $DIR/guard.py", ["hooks/guard.py"]),
        ("export DIR=hooks && python3 $DIR/guard.py", ["hooks/guard.py"]),
        ("cat hooks/rules.json | ./guard.sh", ["guard.sh", "hooks/rules.json"]),
        ("./guard.sh < hooks/rules.json", ["guard.sh", "hooks/rules.json"]),
        ("cd sub && ./run.sh", ["sub/run.sh"]),
        ("(cd sub && ./run.sh); ./guard.sh", ["guard.sh", "sub/run.sh"]),
        ("if ! ./guard.sh; then sh sub/run.sh; fi", ["guard.sh", "sub/run.sh"]),
        ("echo $(sh sub/run.sh) `./guard.sh`", ["guard.sh", "sub/run.sh"]),
        ("echo > $(sh sub/run.sh); cat <<< `./guard.sh`", ["guard.sh", "sub/run.sh"]),
        ('echo "$(cd sub && ./run.sh)" && ./guard.sh', ["guard.sh", "sub/run.sh"]),
        ("diff <(sh guard.sh) <(sh sub/run.sh)", ["guard.sh", "sub/run.sh"]),
        (". ./guard.sh && source sub/run.sh", ["guard.sh", "sub/run.sh"]),
        ("sh guard.sh # sub/run.sh", ["guard.sh"]),
        ("cat hooks/*.j*", ["hooks/filter.jq", "hooks/rules.json"]),
        ("sh guard.sh &\nsh sub/run.sh", ["guard.sh", "sub/run.sh"]),
        # what is written is not what runs
        ("./guard.sh > hooks/rules.json 2>> single.py", ["guard.sh"]),
        ("./guard.sh | tee hooks/rules.json", ["guard.sh"]),
        ("[ -f hooks/rules.json ] && ./guard.sh", ["guard.sh"]),
        ("echo guard.sh", []),
        ("true", []),
    ],
)
def test_the_files_that_a_command_names_are_covered(
    root: Path, command: str | tuple[str, ...], files: list[str]
) -> None:
    assert covered(root, command)[0] == sorted(files)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sh $SCRIPT", "the script $SCRIPT, which is known only when it runs"),
        ("$TOOL x", "the program $TOOL, which is known only when it runs"),
        ("CLAUDE_PROJECT_DIR=$(pwd); sh $CLAUDE_PROJECT_DIR/guard.sh", "the script $CLAUDE_PROJECT_DIR"),
        ("read HOME; sh $HOME/guard.sh", "the script $HOME/guard.sh, which is known only"),
        ("D=hooks; D+=x; sh $D/guard.py", "the script $D/guard.py, which is known only"),
        ("export PWD=$X; sh $PWD/guard.sh", "the script $PWD/guard.sh, which is known only"),
        ("sh gone.sh", "the script gone.sh, which is not there"),
        ("sh /etc/passwd", "/etc/passwd, which lies outside the project"),
        ("../outside.sh", "the script ../outside.sh, which is not there"),
        ("no-such-program-here", "no-such-program-here, which is not found on PATH"),
        ("python -m json.tool", "the module json.tool, which is not in the project"),
        ("npm run nothing", "package.json has no script 'nothing'"),
        ("npx prettier", "what npx runs, fetches or reads by itself"),
        ("just check", "what just runs"),
        ("uv run ruff", "the packages that uv installs"),
        ("make check", "what Makefile makes of its variables"),
        ("cd /nowhere-known && make", "there is no makefile"),
        ('cd "$X" && ./guard.sh', 'where cd "$X" leads'),
        ('eval "$X"', 'what eval "$X" runs'),
        ('sh -c "$X"', 'what "$X" runs'),
        ('jq "$FILTER" hooks/rules.json', '"$FILTER", where it names a file'),
        ("./guard.sh | tee out.log", "out.log, which tee writes"),
        ("sh 'guard.sh", "it cannot be read as a shell command: a ' is not closed"),
        ("sh <<EOF\n./guard.sh\nEOF\n", "files that its here-document names"),
    ],
)
def test_what_cannot_be_told_is_said_in_words(root: Path, command: str, words: str) -> None:
    assert words in "\n".join(covered(root, command)[1])


@pytest.mark.parametrize(
    "command", ["./guard.sh", "python3 hooks/guard.py", "cat hooks/rules.json | jq .a", "sh -c './guard.sh'"]
)
def test_what_is_wholly_covered_raises_no_doubt(root: Path, command: str) -> None:
    if "jq" not in command:
        assert covered(root, command)[1] == ()


def test_a_program_that_path_finds_inside_the_project_is_covered(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{root}/bin:{os.environ['PATH']}")
    assert covered(root, "tool x") == (["bin/tool"], ())


def test_files_outside_of_the_project_are_not_read(root: Path) -> None:
    outside = root.parent / "secret.txt"
    outside.write_text("x")
    assert covered(root, f"cat {outside}")[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "'",
        '"',
        "`",
        "$(",
        "${",
        "(",
        '"$(',
        "$(" * 200,
        '"$(' * 5000,
        "((((",
        "a\\",
        "\\",
        "<",
        "a <<",
        "<<E",
        "&& ||",
        ")",
        "\0",
    ],
)
def test_any_text_is_read_or_refused_and_never_breaks(root: Path, text: str) -> None:
    try:
        parse(text)
    except ShellError:
        pass
    covered(root, text)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(
            [
                *"'\"`$(){}<>|&;\\ \n#*?[~=",
                "sh",
                "cd",
                "env",
                "make",
                "npm",
                "python",
                "-m",
                "-c",
                "guard.sh",
                "$(",
                "<<E",
                "\ud800",
                "\0",
                "é",
                "x=",
                "../",
                "/",
            ]
        ),
        max_size=14,
    )
)
def test_no_command_whatever_breaks_the_reading_of_it(root: Path, pieces: list[str]) -> None:
    covered(root, "".join(pieces))
    covered(root, " ".join(pieces))
    covered(root, tuple(pieces) or ("x",))


def test_a_script_that_calls_itself_in_a_circle_ends(root: Path) -> None:
    (root / "package.json").write_text(json.dumps({"scripts": {"a": "npm run b", "b": "npm run a"}}))
    files, words = covered(root, "npm run a")
    assert files == ["package.json"]
    assert "it is nested too deeply to be followed" in words


def test_a_pipe_in_a_files_place_does_not_hold_anyone(root: Path) -> None:
    os.mkfifo(root / "fifo")
    assert covered(root, "sh fifo")[0] == []


def test_modules_that_a_script_imports_from_the_project_are_covered_and_theirs_too(root: Path) -> None:
    for name, text in {
        "hooks/main.py": "import json, helper\nfrom rules import deep\ndef late():\n    import later.on\n",
        "hooks/helper.py": "import third\n",
        "hooks/third.py": "import main, helper\n",
        "hooks/rules/__init__.py": "from . import base\nfrom .deep import x\n",
        "hooks/rules/base.py": "from ..third import y",
        "hooks/rules/deep.py": "",
        "hooks/rules/unused.py": "",
        "hooks/later/on.py": "import odd syntax",
        "json.py": "",
        "lib/extra.py": "",
        "hooks/uses.py": "import extra",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    names = ["helper", "later/on", "main", "rules/__init__", "rules/base", "rules/deep", "third"]
    assert covered(root, "python3 hooks/main.py")[0] == [f"hooks/{name}.py" for name in names]
    assert covered(root, "PYTHONPATH=lib python3 hooks/uses.py")[0] == ["hooks/uses.py", "lib/extra.py"]
    script = root / "runner"
    script.write_text("#!/usr/bin/env python3\nimport single\n")
    assert covered(root, "./runner")[0] == ["runner", "single.py"]
    (root / "pkg/__main__.py").write_text("import single\n")
    assert covered(root, "python -m pkg")[0] == [*PKG, "single.py"]


def test_reading_imports_imports_nothing(root: Path) -> None:
    (root / "hooks/guard.py").write_text("import evil\n")
    (root / "hooks/evil.py").write_text(f"open({str(root / 'ran')!r}, 'w')\n")
    assert covered(root, "python3 hooks/guard.py")[0] == ["hooks/evil.py", "hooks/guard.py"]
    assert not (root / "ran").exists()
