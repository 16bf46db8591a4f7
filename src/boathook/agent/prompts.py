"""Where the prompts of a headless session come from: one that was given, or a line each."""

from __future__ import annotations

import asyncio
import io
import json
import os
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

_CHUNK: Final = 65_536


def prompt_of(line: bytes) -> str:
    """Return the prompt on a line, ``""`` where there is none.

    A line that is a JSON string as a whole stands for that string: so a prompt gets
    several lines. Bytes that are not UTF-8 are replaced.
    """
    text = line.decode(errors="replace").strip()
    if text.startswith('"') and text.endswith('"'):
        try:
            decoded = json.loads(text)
        except ValueError:
            return text
        return str(decoded).strip()
    return text


async def one_by_one(prompts: Iterable[str]) -> AsyncIterator[str]:
    """Yield prompts that are known already."""
    for prompt in prompts:
        yield prompt


async def as_they_come(stream: BinaryIO) -> AsyncIterator[str]:
    """Yield the prompts of a pipe, a terminal or a file, each as soon as its line is there.

    Nothing is read ahead of what is asked for but the rest of a block, and waiting for the
    next line can be cancelled: no thread is left behind in a blocking read.
    """
    held = b""
    while block := await _block(stream):
        *lines, held = (held + block).split(b"\n")
        for line in lines:
            if prompt := prompt_of(line):
                yield prompt
    if prompt := prompt_of(held):
        yield prompt


async def _block(stream: BinaryIO) -> bytes:
    try:
        fd = stream.fileno()
    except io.UnsupportedOperation:  # memory stands in for a file
        return stream.read(_CHUNK)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(fd, readable.set)
    except PermissionError:  # a regular file, which never makes anyone wait
        return os.read(fd, _CHUNK)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(fd)
    return os.read(fd, _CHUNK)
