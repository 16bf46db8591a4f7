"""Ratios against baselines of the same run, as a table. `make bench`.

Every measured thing and its baseline are interleaved in one loop, so that whatever else the
machine is doing falls on both; the figure is the ratio of their medians. Nothing here is a
test: a busy machine makes single figures wrong, and the ratios only somewhat.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boathook import Hooks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PAYLOAD = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
STDIN = json.dumps(PAYLOAD).encode()

Row = tuple[str, str, str, str]


def hooks(folder: Path, groups: list[dict[str, Any]]) -> Hooks:
    """Load a file with these groups on PreToolUse."""
    file = folder / "hooks.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))
    return Hooks.load(files=[file], project=folder)


def group(matcher: str, **handler: object) -> dict[str, Any]:
    """One group of one handler."""
    return {"matcher": matcher, "hooks": [{"type": "command", **handler}]}


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Seconds that one call takes."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def interleaved(
    ours: Callable[[], Awaitable[object]], baseline: Callable[[], Awaitable[object]], rounds: int
) -> tuple[float, float]:
    """Return the median seconds of each, measured in turns."""
    for _ in range(3):
        await ours()
        await baseline()
    pairs = [(await timed(ours), await timed(baseline)) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


async def quiet(name: str, loaded: Hooks) -> Row:
    """Measure an event on which nothing runs, in blocks: the clock itself costs as much as the baseline."""

    async def nothing() -> None:
        return

    async def dispatches() -> None:
        for _ in range(1000):
            await loaded.dispatch("PreToolUse", PAYLOAD)

    async def baselines() -> None:
        for _ in range(1000):
            await nothing()

    ours, base = await interleaved(dispatches, baselines, 30)
    added = (ours - base) * 1000
    return name, f"{ours * 1000:.2f} µs", f"{base * 1000:.2f} µs", f"+{added:.2f} µs (to reach: 10)"


async def one(name: str, loaded: Hooks, argv: list[str]) -> Row:
    """Measure one handler against the plainest blocking call with the same pipes and session."""

    async def bare() -> None:
        subprocess.run(argv, input=STDIN, capture_output=True, start_new_session=True, check=True)  # noqa: ASYNC221

    ours, base = await interleaved(lambda: loaded.dispatch("PreToolUse", PAYLOAD), bare, 400)
    return name, f"{ours * 1000:.2f} ms", f"{base * 1000:.2f} ms", f"{ours / base:.2f} (to reach: 1.3)"


async def one_in_a_thread(name: str, loaded: Hooks, argv: list[str]) -> Row:
    """Measure one handler against the plainest call that does not block the loop: the floor of `one`."""

    def bare() -> None:
        subprocess.run(argv, input=STDIN, capture_output=True, start_new_session=True, check=True)

    ours, base = await interleaved(
        lambda: loaded.dispatch("PreToolUse", PAYLOAD), lambda: asyncio.to_thread(bare), 400
    )
    return name, f"{ours * 1000:.2f} ms", f"{base * 1000:.2f} ms", f"{ours / base:.2f} (for comparison)"


async def sixteen(name: str, loaded: Hooks) -> Row:
    """Measure sixteen handlers at once against sixteen bare asyncio subprocesses at once."""

    async def child() -> None:
        pipe = subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "/bin/true", stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        await process.communicate(STDIN)

    async def bare() -> None:
        await asyncio.gather(*(child() for _ in range(16)))

    ours, base = await interleaved(lambda: loaded.dispatch("PreToolUse", PAYLOAD), bare, 60)
    return name, f"{ours * 1000:.1f} ms", f"{base * 1000:.1f} ms", f"{ours / base:.2f} (to reach: 1.0)"


def imports(name: str) -> Row:
    """Measure what importing adds to an interpreter's start, in fresh interpreters."""

    def seconds(code: str) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - began

    codes = ("pass", "import asyncio, json, subprocess", "import boathook")
    rounds = [[seconds(code) for code in codes] for _ in range(21)]
    bare, base, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = (ours - bare) / (base - bare)
    return (
        name,
        f"{(ours - bare) * 1000:.0f} ms",
        f"{(base - bare) * 1000:.0f} ms",
        f"{ratio:.2f} (to reach: 2)",
    )


async def measure(folder: Path) -> list[Row]:
    """Measure everything that needs an event loop."""
    unmatched = [group(f"Tool{n}" if n % 2 else f"^Tool{n}$", command="true") for n in range(50)]
    sixteen_groups = [group("*", argv=["/bin/true", str(n)]) for n in range(16)]
    return [
        await quiet("(a) nothing configured", hooks(folder, [])),
        await quiet("(a) fifty handlers, none matches", hooks(folder, unmatched)),
        await one("(b) one `true`, argv", hooks(folder, [group("*", argv=["/bin/true"])]), ["/bin/true"]),
        await one(
            "(b) one `true`, shell", hooks(folder, [group("*", command="true")]), ["/bin/sh", "-c", "true"]
        ),
        await one_in_a_thread(
            "(b) one `true`, argv, against `asyncio.to_thread`",
            hooks(folder, [group("*", argv=["/bin/true"])]),
            ["/bin/true"],
        ),
        await sixteen("(c) sixteen at once", hooks(folder, sixteen_groups)),
    ]


def main() -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [*asyncio.run(measure(Path(folder))), imports("(d) import")]
    print(f"Python {sys.version.split()[0]} on {sys.platform}\n")
    print("| what | Boathook | baseline | ratio |\n|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
