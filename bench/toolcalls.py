"""Is following a streamed tool call linear in its length? Prints the time per byte at two sizes.

Run it as ``python bench/toolcalls.py``. The ratio of the two times per byte is the answer,
on any machine: near 1 means linear; quadratic would be near 10.
"""

from __future__ import annotations

import json
import time

from boathook.session import ToolCalls

SMALL, LARGE = 200_000, 2_000_000
CHUNK = 10
ROUNDS = 5


def chunks_of(size: int) -> list[dict[str, object]]:
    """Return a call with one string argument of about `size` characters, some escaped, as chunks."""
    text = json.dumps({"content": ('say "hello" to {them}\n' * (size // 22))})
    pieces = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
    first = {"index": 0, "id": "call", "name": "write_file", "args": ""}
    return [first, *({"index": 0, "args": piece} for piece in pieces)]


def seconds_per_byte(size: int) -> float:
    """Return the best time of a few rounds, each chunk fed by itself."""
    chunks = chunks_of(size)
    length = sum(len(str(chunk["args"])) for chunk in chunks)
    best = float("inf")
    for _ in range(ROUNDS):
        heard: list[str] = []
        tools = ToolCalls(lambda event, _payload, heard=heard: heard.append(event))  # type: ignore[misc]
        began = time.perf_counter()
        for chunk in chunks:
            tools.feed((chunk,))
        best = min(best, time.perf_counter() - began)
        if heard != ["tool.use"]:
            raise SystemExit(f"expected one tool.use, got {heard}")
    return best / length


def main() -> None:
    """Measure both sizes and print the ratio."""
    small, large = seconds_per_byte(SMALL), seconds_per_byte(LARGE)
    print(f"{SMALL:>9,} bytes in {CHUNK}-byte chunks: {small * 1e9:6.1f} ns per byte")
    print(f"{LARGE:>9,} bytes in {CHUNK}-byte chunks: {large * 1e9:6.1f} ns per byte")
    print(f"ratio {large / small:.2f} (1 is linear)")


if __name__ == "__main__":
    main()
