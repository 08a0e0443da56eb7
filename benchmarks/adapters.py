"""
What an adapter costs a call: the same agent of its framework with and without it, in turn.

`python -m benchmarks.adapters NAME` prints a row of the table in `benchmarks/README.md`, in the framework's own
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

__all__ = ["HEAD", "row"]

CALLS = 40
ROUNDS = 25
SCRIPT: Script = [[ScriptedCall(f"c{number}", "read", f"/{number}", f"text {number}")] for number in range(CALLS)]
HEAD = "| adapter | a call without it, µs | with it, µs | added, µs | × |\n| --- | --- | --- | --- | --- |"


def row(name: str) -> str:
    """Play an agent that works, round by round without and with the adapter; give the medians of a call."""
    play: Callable[[Script, Guard | None], AdapterRun] = import_module(f"tests.frameworks.players.{name}").play
    bare, guarded = [], []
    for _ in range(ROUNDS):
        bare.append(_time(play, None))
        guarded.append(_time(play, Guard()))
    added = statistics.median(after - before for before, after in zip(bare, guarded, strict=True))
    ratio = statistics.median(after / before for before, after in zip(bare, guarded, strict=True))
    return f"| {name} | {statistics.median(bare):.0f} | {statistics.median(guarded):.0f} | {added:.0f} | {ratio:.2f} |"


def _time(play: Callable[[Script, Guard | None], AdapterRun], guard: Guard | None) -> float:
    """Give the microseconds of one call, the start of the agent included."""
    begin = time.perf_counter()
    done = play(SCRIPT, guard)
    took = time.perf_counter() - begin
    if len(done.ran) != CALLS:
        raise RuntimeError(f"{len(done.ran)} calls ran, expected {CALLS}")
    return took / CALLS * 1e6


if __name__ == "__main__":
    print(row(sys.argv[1]))
