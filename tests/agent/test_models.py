"""Choosing a model, and what is said when it cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boathook.agent.models import ModelError, chat_model
from boathook.agent.script import ScriptError

if TYPE_CHECKING:
    from pathlib import Path


def refusal(name: str) -> str:
    with pytest.raises(ModelError) as caught:
        chat_model(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_script_is_a_model_and_gets_its_variables(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[turn]]\ntext = "in {{cwd}}"\n')
    assert chat_model(f"scripted:{tmp_path / 's.toml'}", {"cwd": "/w"}).invoke("hi").text == "in /w"


def test_a_faulty_script_is_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(ScriptError):
        chat_model(f"scripted:{tmp_path / 'absent.toml'}")


def test_a_missing_provider_package_is_named_in_one_line() -> None:
    assert "pip install langchain-groq" in refusal("groq:some-model")


def test_an_unknown_provider_is_told_how_a_model_is_written() -> None:
    assert "Write PROVIDER:MODEL" in refusal("nonsense")


def test_a_missing_key_is_told_in_the_providers_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
    assert "GOOGLE_API_KEY" in refusal("google_genai:gemini-2.5-flash")
