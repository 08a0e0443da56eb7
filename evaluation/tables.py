"""Print the tables to the terminal and write them into the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from platform import python_version

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evaluation.measure import Row
from evaluation.runs import Run
from evaluation.score import Share

__all__ = ["HEADS", "about", "cells", "markdown", "show", "write"]

HEADS = (
    "detector",
    "version",
    "loops warned",
    "loops stopped",
    "wasted before warning",
    "waste saved",
    "ok warned or stopped",
    "clean warned",
    "clean stopped",
    "µs per call",
)

_TEXTS = 2
"""Number of leading columns with words; the others have figures."""

_WIDTH = 130
"""Width of a table in characters; files and pipes report only 80."""


def about(runs: Sequence[Run]) -> str:
    """Return a one-sentence description of a set of runs."""
    labels = [stretch.label for run in runs for stretch in run.stretches]
    loops, ok, clean = labels.count("loop"), labels.count("ok"), sum(run.is_clean for run in runs)
    calls = sum(len(run.calls) for run in runs)
    return f"{loops} loops, {ok} ok stretches and {clean} clean runs, in {len(runs)} runs of {calls:,} calls"


def cells(row: Row) -> list[str]:
    """Return the cells of a row."""
    if not row.figures:
        return [f"{row.name}, not run: {row.reason}", row.version, *[""] * (len(HEADS) - _TEXTS)]
    return [row.name, row.version, *map(_cell, row.figures), _time(row.microseconds)]


def show(title: str, rows: Iterable[Row]) -> None:
    """Print a table with its title, as wide as it needs to be."""
    table = Table(box=box.SIMPLE)
    table.add_column(HEADS[0], min_width=20)
    table.add_column(HEADS[1], no_wrap=True)
    for head in HEADS[_TEXTS:]:
        table.add_column(head, justify="right", max_width=9)
    for row in rows:
        table.add_row(*map(escape, cells(row)))
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    console.print(title, markup=False)
    console.print(table)


def markdown(rows: Iterable[Row]) -> str:
    """Return a table in Markdown."""
    lines = [HEADS, ["---"] * _TEXTS + ["---:"] * (len(HEADS) - _TEXTS), *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(page: Path, name: str, runs: Sequence[Run], rows: Iterable[Row], day: date) -> None:
    """
    Write a table between its markers in a page, with the date, the Python version and the runs that were measured.

    Raises:
        ValueError: The page does not have these markers exactly once.
    """
    head = f"Measured on {day.isoformat()} with Python {python_version()}: {about(runs)}."
    start, end = f"<!-- table: {name} -->\n", "<!-- /table -->"
    block = f"{start}\n{head}\n\n{markdown(rows)}\n\n{end}"
    pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
    text, times = pattern.subn(lambda _: block, page.read_text(encoding="utf-8"))
    if times != 1:
        raise ValueError(f"{page} has {times} places for the table {name!r}, not one")
    page.write_text(text, encoding="utf-8")


def _cell(figure: Share | float | None) -> str:
    match figure:
        case None:
            return "none"
        case Share(hits, of):
            return f"{hits} / {of}"
        case _:
            return _number(figure)


def _number(value: float) -> str:
    """Return a figure with no more digits than are significant."""
    return f"{value:g}" if value == int(value) else f"{value:.2f}" if value < 1 else f"{value:.1f}"


def _time(microseconds: float) -> str:
    """Return a time with at most two significant digits, beyond which machines differ."""
    return f"{microseconds:.0f}" if microseconds >= 10 else f"{microseconds:.1f}"  # noqa: PLR2004 - digits
