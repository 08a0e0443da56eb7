"""Time each piece of work by itself; `benchmarks.ratios` compares them."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import work

PIECES = {
    "guard, 100 B result": work.guarded(work.SMALL),
    "guard, 100 kB result": work.guarded(work.LARGE),
    "guard, 1 MB result": work.guarded(work.HUGE),
    "guard, history of 10,000": work.guarded(work.SMALL, history_size=10_000),
    "bare walk, 100 B result": work.bare_walk(work.SMALL),
    "bare walk, 100 kB result": work.bare_walk(work.LARGE),
    "bare walk, 1 MB result": work.bare_walk(work.HUGE),
    "bare hash, 100 B result": work.bare_hash(work.SMALL),
    "bare hash, 100 kB result": work.bare_hash(work.LARGE),
    "bare hash, 1 MB result": work.bare_hash(work.HUGE),
    "sorted JSON and SHA-256, 100 B result": work.sorted_json(work.SMALL),
    "scan of a session": work.scan(work.SESSION),
    "bare parse of a session": work.bare_parse(work.SESSION),
}


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_of_work(name: str, benchmark: Any) -> None:
    """A round is a hundred calls or one session."""
    benchmark(PIECES[name].run)
