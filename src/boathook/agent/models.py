"""Choosing the chat model: anything `init_chat_model` takes, or a script."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final

from boathook.terms.problem import BoathookError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.language_models import BaseChatModel

SCRIPTED: Final = "scripted:"

HOW_TO_CHOOSE: Final = (
    "no model chosen: give --model or set BOATHOOK_MODEL, for example anthropic:claude-sonnet-4-5, "
    "openai:gpt-5, ollama:qwen3, or scripted:FILE for a session that runs offline"
)


class ModelError(BoathookError):
    """A model that cannot be had: unknown, its package missing, or its key."""


def chat_model(name: str, variables: Mapping[str, str] | None = None) -> BaseChatModel:
    """Return the model that `name` means; `variables` fill the placeholders of a script.

    Raises `ModelError` where the provider refuses, `ScriptError` for an unusable script.
    """
    if name.startswith(SCRIPTED):
        from boathook.agent.scripted import ScriptedModel

        return ScriptedModel.from_file(name.removeprefix(SCRIPTED), variables)
    return _provided(name)


def _provided(name: str) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        with warnings.catch_warnings():
            # Providers warn about each other's releases; a run's stderr is for what hooks did.
            warnings.simplefilter("ignore")
            return init_chat_model(name)
    except Exception as error:  # providers raise what they like: ImportError, ValidationError, their own
        raise ModelError(f"cannot use the model {name!r}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        return "; ".join(str(fault["msg"]) for fault in error.errors())
    if "infer model provider" in str(error):
        return "no such provider. Write PROVIDER:MODEL, for example anthropic:claude-sonnet-4-5."
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
