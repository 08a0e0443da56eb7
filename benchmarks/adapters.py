"""
Measure what an adapter adds to each call, using the same agent with and without it, alternating.

`python -m benchmarks.adapters NAME` prints rows of the table in `benchmarks/README.md`, in the framework's own
environment; `make bench-frameworks` prints all of them.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module

from wheelspin import Guard
from wheelspin.testing import AdapterRun, Script, ScriptedCall

__all__ = ["HEAD", "rows"]

CALLS = 40
ROUNDS = 25
SCRIPT: Script = [[ScriptedCall(f"c{number}", "read", f"/{number}", f"text {number}")] for number in range(CALLS)]
HEAD = "| adapter | a call without it, µs | with it, µs | added, µs | × |\n| --- | --- | --- | --- | --- |"


def rows(name: str) -> list[str]:
    """
    Run a non-looping agent with and without the adapter, alternating, and return the medians per call as rows.

    A player with its own `cost` function (before, after and added, in milliseconds) gets one more row.
    """
    player = import_module(f"tests.frameworks.players.{name}")
    pairs = []
    for number in range(ROUNDS):
        guards = [None, Guard()]
        took = [_time(player.play, guard) for guard in (guards if number % 2 else guards[::-1])]
        pairs.append(took if number % 2 else took[::-1])
    found = [_row(name, *zip(*pairs, strict=True))]
    if hasattr(player, "cost"):
        before, after, added = (milliseconds * 1e3 for milliseconds in player.cost())
        found.append(f"| {name}, {player.COSTS} | {before:.0f} | {after:.0f} | {added:.0f} | {after / before:.2f} |")
    return found


def _row(name: str, bare: tuple[float, ...], guarded: tuple[float, ...]) -> str:
    added = statistics.median(after - before for before, after in zip(bare, guarded, strict=True))
    ratio = statistics.median(after / before for before, after in zip(bare, guarded, strict=True))
    return f"| {name} | {statistics.median(bare):.0f} | {statistics.median(guarded):.0f} | {added:.0f} | {ratio:.2f} |"


def _time(play: Callable[[Script, Guard | None], AdapterRun], guard: Guard | None) -> float:
    """Return the microseconds per call, including the start of the agent."""
    begin = time.perf_counter()
    done = play(SCRIPT, guard)
    took = time.perf_counter() - begin
    if len(done.ran) != CALLS:
        raise RuntimeError(f"{len(done.ran)} calls ran, expected {CALLS}")
    return took / CALLS * 1e6


if __name__ == "__main__":
    print("\n".join(rows(sys.argv[1])))
