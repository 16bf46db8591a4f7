"""Problems are values with public codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import boathook
from boathook.terms.problem import CATALOGUE, ConfigError, Problem, located

SOURCE = Path(boathook.__file__).parent


@pytest.fixture(scope="module")
def used() -> str:
    """The source outside of the catalogue."""
    files = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "terms" / "problem.py"]
    return "\n".join(path.read_text() for path in files)


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_is_used_somewhere(code: str, used: str) -> None:
    assert f'"{code}"' in used


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_is_words_and_says_one_sentence(code: str) -> None:
    severity, words = CATALOGUE[code]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert severity in {"info", "warning", "error"}
    assert re.match(r"[A-Z`]", words)
    assert words.endswith(".")


def test_a_code_outside_of_the_catalogue_is_refused() -> None:
    with pytest.raises(ValueError, match="no-such-code"):
        Problem("no-such-code", "found")


def test_a_problem_is_shown_with_its_place_and_its_code() -> None:
    problem = Problem("run-exit", "it broke.", "Mend it.", file="f.json", line=3, column=7, handler="h")
    assert located(problem) == "f.json:3:7: h: it broke. Mend it. [run-exit]"
    assert located(Problem("run-exit", "it broke.")) == "it broke. [run-exit]"
    assert str(ConfigError([problem, problem])).count("\n") == 1


def test_a_problem_is_safe_to_print_and_keeps_the_true_path() -> None:
    bad = "\x1b[2J\u202e\ud800\udcff"
    problem = Problem("run-exit", bad, bad, file=f"f{bad}", handler=f"h{bad}")
    for text in (problem.message, located(problem), str(ConfigError([problem]))):
        assert text.isascii()
        assert "\x1b" not in text
    assert problem.as_dict()["file"] == f"f{bad}"


def test_a_problem_has_exactly_the_public_keys() -> None:
    keys = ["code", "severity", "message", "handler", "file", "pointer", "line", "column"]
    assert list(Problem("run-exit", "x").as_dict()) == keys
