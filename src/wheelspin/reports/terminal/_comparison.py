"""The report of a comparison: the totals of both configurations, and each run in which they differ."""

from __future__ import annotations

from itertools import groupby
from typing import TextIO

from rich.console import Console
from rich.markup import escape

from wheelspin.replay.compare import Comparison, Difference
from wheelspin.replay.summary import Totals
from wheelspin.reports.terminal._lines import (
    aligned,
    cells,
    console_on,
    counted,
    print_notes,
    print_unread,
    styled,
    where,
)

__all__ = ["write_comparison"]

_COUNTERS = ("runs", "warned", "blocked", "ended", "calls saved", "tokens saved")


def write_comparison(comparison: Comparison, out: TextIO) -> None:
    """Write the totals of both configurations, and each run in which they differ."""
    console = console_on(out)
    print_unread(console, comparison.summary)
    names = [side.name for side in comparison.sides]
    columns = [_counts(totals) for totals in comparison.totals]
    heads, *lines = aligned([("", *names), *zip(_COUNTERS, *columns, strict=False)], numbers_from=1)
    console.print(f"[bold]{escape(heads)}[/bold]")
    for line in lines:
        console.print(escape(line))
    console.print()
    for path, differences in groupby(comparison.differences, key=lambda difference: difference.path):
        console.print(f"[bold]{escape(str(path))}[/bold]")
        for difference in differences:
            _difference(console, difference, names)
        console.print()
    print_notes(console, comparison.summary)
    runs = max(totals.runs for totals in comparison.totals)
    files = counted(len(comparison.summary.files), "file")
    if comparison.differences:
        result = f"the configurations differ in {counted(len(comparison.differences), 'run')}"
    else:
        result = "no differences"
    console.print(f"[bold]{files}, {counted(runs, 'run')}[/bold]: {result}")


def _counts(totals: Totals) -> list[str]:
    """Return the totals in the order of `_COUNTERS`, with saved tokens only if any tokens are known."""
    counts = [totals.runs, totals.warned_runs, totals.blocked_runs, totals.ended_runs, totals.saved_calls]
    counts += [totals.saved_tokens] * bool(totals.tokens)
    return [f"{count:,}" for count in counts]


def _difference(console: Console, difference: Difference, names: list[str]) -> None:
    """Write the first action that only one side would have taken."""
    unit = difference.unit
    console.print(f"  run {where(difference.left, unit)}: {counted(difference.left.calls, 'call')}")
    runs = difference.left, difference.right
    rows = aligned(cells(seen, unit) if seen else ("",) * 4 for seen in difference.first_difference)
    width = max(map(len, names))
    for name, run, seen, row in zip(names, runs, difference.first_difference, rows, strict=True):
        nothing = "no further action" if run.interventions else "no action"
        did = f"{styled(seen.action)}  {escape(row)}" if seen else nothing
        console.print(f"    {escape(name.ljust(width))}  {did}")
