"""
Compare pieces of work in turn within one run, so that changes in the machine's speed affect all of them.

Run `python -m benchmarks.ratios` in the project's root folder to print the tables of `benchmarks/README.md`.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import tracemalloc
from pathlib import Path
from unittest import mock

from benchmarks import work
from wheelspin import Guard, Outcome, ToolCall
from wheelspin.hooks.claude_code import HOOK
from wheelspin.hooks.launcher import words_for, write_launcher
from wheelspin.hooks.process import answer

ROUNDS = 120
PROCESSES = 40
KB = 1024
SIZES = {"100 B": work.SMALL, "100 kB": work.LARGE, "1 MB": work.HUGE}


def _microseconds(pieces: dict[str, work.Piece], rounds: int) -> dict[str, list[float]]:
    """Time each piece once per round; the figures are microseconds per call."""
    figures: dict[str, list[float]] = {name: [] for name in pieces}
    for _ in range(rounds):
        for name, piece in pieces.items():
            start = time.perf_counter()
            piece.run()
            figures[name].append((time.perf_counter() - start) / piece.calls * 1e6)
    return figures


def _ratio(figures: dict[str, list[float]], name: str, base: str) -> float:
    """Return the median of the ratios of all rounds."""
    return statistics.median(one / other for one, other in zip(figures[name], figures[base], strict=True))


def calls() -> None:
    """Compare `before` and `after` of a call with a bare walk, a bare hash and the original's way of digesting."""
    print("| one call, arguments of 111 B | result | µs (median) | × walk | × hash | × sorted JSON and SHA-256 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size, result in SIZES.items():
        pieces = {
            "before + after": work.guarded(result),
            "the bare walk": work.bare_walk(result),
            "the bare hash": work.bare_hash(result),
            "sorted JSON and SHA-256": work.sorted_json(result),
        }
        figures = _microseconds(pieces, ROUNDS if size == "100 B" else ROUNDS // 4)
        for name in pieces:
            against = [f"{_ratio(figures, name, base):.2f}" for base in list(pieces)[1:]]
            print(f"| {name} | {size} | {statistics.median(figures[name]):.2f} | {' | '.join(against)} |")


def history() -> None:
    """Compare the default history with a full history of 10,000 calls."""
    pieces = {
        "30 calls": work.guarded(work.SMALL),
        "10,000 calls": work.guarded(work.SMALL, history_size=10_000),
    }
    for _ in range(10_000 // work.CALLS + 1):
        pieces["10,000 calls"].run()
    figures = _microseconds(pieces, ROUNDS)
    print("\n| `historySize` | µs (median) | × 30 calls |\n| --- | --- | --- |")
    for name in pieces:
        print(f"| {name} | {statistics.median(figures[name]):.2f} | {_ratio(figures, name, '30 calls'):.2f} |")


def memory() -> None:
    """Measure the memory of one run after a number of calls."""
    print("\n| calls of one run | kB kept |\n| --- | --- |")
    tracemalloc.start()
    guard = Guard()
    outcomes = [Outcome.result("x" * 100), Outcome.result("y" * 100)]
    guard.before(ToolCall("read", {"warm": "up"}))
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    made = 0
    for until in (100, 10_000, 1_000_000):
        while made < until:
            made += 1
            call = ToolCall("read", {"path": f"/src/{made}.py"}, id=f"call_{made:024}", run_id="r1")
            guard.before(call)
            guard.after(call, outcomes[made % 2])
        del call
        gc.collect()
        now, _ = tracemalloc.get_traced_memory()
        print(f"| {until:,} | {(now - before) / KB:.1f} |")
    tracemalloc.stop()


def start() -> None:
    """Compare processes that import the package, or create a guard, with a bare interpreter."""
    paths = [
        str(Path(__file__).parent.parent / "src"),
        sysconfig.get_paths()["platlib"],
        sysconfig.get_paths()["purelib"],
    ]
    head = f"import sys; sys.path += {paths!r}; "
    programs = {
        "a bare interpreter": head,
        "`import wheelspin`": head + "import wheelspin",
        "`from wheelspin import Guard; Guard()`": head + "from wheelspin import Guard; Guard()",
    }
    figures: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(PROCESSES):
        for name, program in programs.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-S", "-I", "-c", program], check=True)  # noqa: S603 - our own interpreter
            figures[name].append((time.perf_counter() - begin) * 1e3)
    print("\n| a process that runs | ms (median) | × bare |\n| --- | --- | --- |")
    for name in programs:
        print(
            f"| {name} | {statistics.median(figures[name]):.1f} | {_ratio(figures, name, 'a bare interpreter'):.2f} |"
        )


def hooks() -> None:
    """Compare a process that handles one hook event with a bare interpreter."""
    with tempfile.TemporaryDirectory() as home, mock.patch.dict(os.environ, {"HOME": home}):
        write_launcher()
        command = words_for("claude-code")
        for number in range(PROCESSES):
            for payload in work.HOOK_EVENTS.values():
                answer(HOOK, payload(number - PROCESSES))
        bare = [sys.executable, "-S", "-I", "-c", "pass"]
        programs: dict[str, tuple[list[str], work.HookEvent]] = {"a bare interpreter": (bare, lambda _: {})}
        programs |= {f"the hook of {name}": (command, payload) for name, payload in work.HOOK_EVENTS.items()}
        figures: dict[str, list[float]] = {name: [] for name in programs}
        for number in range(PROCESSES):
            for name, (words, payload) in programs.items():
                event = json.dumps(payload(number)).encode()
                begin = time.perf_counter()
                subprocess.run(words, input=event, check=True, capture_output=True)  # noqa: S603 - our own program
                figures[name].append((time.perf_counter() - begin) * 1e3)
    print("\n| one event, in a session with a full history | ms (median) | × bare |\n| --- | --- | --- |")
    for name in programs:
        print(
            f"| {name} | {statistics.median(figures[name]):.1f} | {_ratio(figures, name, 'a bare interpreter'):.2f} |"
        )


def scans() -> None:
    """Compare scanning a session with only parsing it."""
    print(
        "\n| session | MB | scan, MB/s | bare parse, MB/s | scan ÷ parse, in speed |\n| --- | --- | --- | --- | --- |"
    )
    for name, path in {"long results": work.SESSION, "short lines": work.SHORT_LINES}.items():
        pieces = {"scan": work.scan(path), "parse": work.bare_parse(path)}
        figures = _microseconds(pieces, ROUNDS // 4)
        size = path.stat().st_size
        speeds = [f"{size / statistics.median(figures[piece]):.0f}" for piece in pieces]
        print(f"| {name} | {size / 1e6:.1f} | {' | '.join(speeds)} | {_ratio(figures, 'parse', 'scan'):.2f} |")


def main() -> None:
    """Print all tables."""
    print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}\n")
    for table in (calls, history, memory, start, hooks, scans):
        table()


if __name__ == "__main__":
    main()
