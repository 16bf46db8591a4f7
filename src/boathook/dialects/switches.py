"""Switches by which another agent's file turns hooks off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boathook.config.scopes import silenced

if TYPE_CHECKING:
    from collections.abc import Callable

    from boathook.config.schema import Document


def switched_by(key: str) -> Callable[[tuple[Document, ...]], tuple[Document, ...]]:
    """Return what silences the documents that a file turns off with `key`.

    An operator's file turns off all; a user's, or one that was named, everything but the operator's.
    A project's turns off only that project's hooks: what comes with a checkout must not switch
    off the guards of the person who opens it.
    """

    def switched(documents: tuple[Document, ...]) -> tuple[Document, ...]:
        for document in documents:
            if not document.disable_all:
                continue
            words = f"`{key}` is set in {document.path}"
            reach = {"managed": {"managed", "user", "project"}, "project": {"project"}}.get(
                document.scope, {"user", "project", "given"}
            )
            documents = tuple(
                silenced(each, "disabled", words) if each.scope in reach else each for each in documents
            )
        return tuple(replace(document, disable_all=False) for document in documents)

    return switched
