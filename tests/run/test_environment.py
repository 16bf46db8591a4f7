"""What a handler finds around it: contract section 5."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from boathook.run import environment

if TYPE_CHECKING:
    from pathlib import Path

SECRET = [
    "API_KEY", "OPENAI_API_KEY", "APIKEY", "SSH_KEY_PATH", "GITHUB_TOKEN", "TOKEN", "tokenizer", "SECRET", "AWS_SECRET_ACCESS_KEY", "CLIENT_SECRET_ID",
    "PASSWORD", "DB_PASSWORD", "DB_PASSWD", "PGPASSWORD", "PGPASSFILE", "SMTP_PASS", "MYSQL_PWD", "GPG_PASSPHRASE", "CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS",
    "SESSION_COOKIE", "GH_PAT", "NPM_AUTH", "HTTP_AUTHORIZATION", "X_JWT", "BEARER", "github_token", "AZURE_CREDS",
]  # fmt: skip
PLAIN = [
    "PATH", "HOME", "PWD", "OLDPWD", "LANG", "USER", "SHELL", "TERM", "TMPDIR", "EDITOR", "SSH_AUTH_SOCK", "XAUTHORITY", "PYTHONPATH", "VIRTUAL_ENV",
    "COMPASS", "AUTHOR", "GIT_AUTHOR_NAME", "PATIENCE", "BYPASS_MODE", "NO_COLOR", "BOATHOOK_DEPTH",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_a_name_that_looks_like_a_secret_is_one(name: str) -> None:
    assert environment.looks_secret(name)


@pytest.mark.parametrize("name", PLAIN)
def test_an_ordinary_name_is_none(name: str) -> None:
    assert not environment.looks_secret(name)


def test_a_handler_gets_the_hosts_environment_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIN_SETTING", "p")
    monkeypatch.setenv("MY_TOKEN", "t")
    base = environment.base_environment("/root", "Stop", "s")
    assert base["PLAIN_SETTING"] == "p"
    assert "MY_TOKEN" not in base
    assert base["PATH"] == os.environ["PATH"]


def test_a_change_of_the_hosts_environment_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("1", "2"):
        monkeypatch.setenv("CHANGING", value)
        assert environment.base_environment("/", "Stop", "s")["CHANGING"] == value
    monkeypatch.delenv("CHANGING")
    assert "CHANGING" not in environment.base_environment("/", "Stop", "s")


def test_what_one_handler_is_given_does_not_change_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    environment.base_environment("/", "Stop", "s")["PATH"] = "changed"
    assert environment.base_environment("/", "Stop", "s")["PATH"] == os.environ["PATH"]


def test_a_handler_is_told_where_and_when_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOATHOOK_DEPTH", "1")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", "/elsewhere")
    base = environment.base_environment("/root", "Stop", "s")
    assert base["DEEPAGENTS_PROJECT_DIR"] == base["CLAUDE_PROJECT_DIR"] == "/root"
    assert (base["BOATHOOK_EVENT"], base["BOATHOOK_SESSION_ID"], base["BOATHOOK_DEPTH"]) == ("Stop", "s", "2")


@pytest.mark.parametrize(
    ("given", "told"),
    [("a\0b", "ab"), ("\ud800", "?"), ("x" * 1_000_000, "x" * 4096), ("写", "写"), ("a=b\nc", "a=b\nc")],
)
def test_a_session_id_that_no_environment_holds_is_made_fit(given: str, told: str) -> None:
    base = environment.base_environment("/", "Stop", given)
    assert base["BOATHOOK_SESSION_ID"] == told
    os.fsencode(told)


def test_a_named_secret_passes_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "a")
    monkeypatch.setenv("B_TOKEN", "b")
    base = environment.base_environment("/", "Stop", "s")
    whole = environment.with_passed(base, ("A_TOKEN", "NOT_THERE"))
    assert whole["A_TOKEN"] == "a"
    assert not {"B_TOKEN", "NOT_THERE"} & set(whole)


@pytest.mark.parametrize("name", ["", "=", "a=b", "\0", "\ud800", "*", "A_*"])
def test_a_name_that_can_be_none_passes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "a")
    base = environment.base_environment("/", "Stop", "s")
    assert environment.with_passed(base, (name,)) == base


def test_no_handler_can_ask_for_another_depth_or_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOATHOOK_DEPTH", "1")
    monkeypatch.setenv("BOATHOOK_EVENT", "Other")
    base = environment.base_environment("/", "Stop", "s")
    assert environment.with_passed(base, ("BOATHOOK_DEPTH", "BOATHOOK_EVENT")) == base


@pytest.mark.parametrize(
    ("word", "depth"),
    [
        ("0", 0),
        ("1", 1),
        ("3", 3),
        ("", 0),
        ("x", 0),
        ("-1", 0),
        ("1.5", 0),
        ("²", 0),
        ("٣", 0),
        ("9" * 5000, 0),
        ("007", 7),
    ],
)
def test_a_depth_that_is_no_number_is_none(word: str, depth: int) -> None:
    assert environment.depth({"BOATHOOK_DEPTH": word}) == depth


def test_a_folder_that_is_gone_is_its_nearest_parent(tmp_path: Path) -> None:
    assert environment.existing_folder(str(tmp_path)) == str(tmp_path)
    assert environment.existing_folder(str(tmp_path / "a" / "b")) == str(tmp_path)
    (tmp_path / "file").write_text("")
    assert environment.existing_folder(str(tmp_path / "file" / "x")) == str(tmp_path)
    assert environment.existing_folder("/no/such/place") == "/"
