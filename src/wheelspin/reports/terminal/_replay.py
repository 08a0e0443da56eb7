"""The report of a replay: each file, the runs in it that have interventions, and the totals."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.markup import escape

from wheelspin.replay.engine import RunReport
from wheelspin.replay.summary import FileReport, Summary, Totals
from wheelspin.reports.terminal._lines import (
    aligned,
    cells,
    console_on,
    counted,
    print_notes,
    print_unread_in,
    styled,
    where,
)

__all__ = ["write"]


def write(summary: Summary, out: TextIO) -> None:
    """Write each file, the runs in it that have interventions, and the totals."""
    console = console_on(out)
    for file in summary.files:
        _file(console, file)
    _totals(console, summary)


def _file(console: Console, file: FileReport) -> None:
    calls = sum(run.calls for run in file.runs)
    sums = f"{counted(len(file.runs), 'run')}, {counted(calls, 'call')}"
    console.print(f"[bold]{escape(str(file.path))}[/bold]  {file.format}: {sums}")
    print_unread_in(console, file)
    clean = sum(run.is_clean for run in file.runs)
    for run in file.runs:
        if not run.is_clean:
            _run(console, run, file.unit)
    if clean and clean == len(file.runs):
        console.print("  [green]clean[/green]")
    elif clean:
        console.print(f"  [green]clean[/green] {counted(clean, 'other run')}")
    console.print()


def _run(console: Console, run: RunReport, unit: str) -> None:
    console.print(f"  run {where(run, unit)}: {counted(run.calls, 'call')}")
    rows = aligned(cells(intervention, unit) for intervention in run.interventions)
    for intervention, row in zip(run.interventions, rows, strict=True):
        console.print(f"    {styled(intervention.action)}  {escape(row)}")
    if run.blocks:
        tokens = f", {run.saved_tokens:,} of {run.tokens:,} tokens" if run.tokens else ""
        console.print(f"    saved {counted(run.blocks, 'call')}{tokens}")


def _totals(console: Console, summary: Summary) -> None:
    totals = summary.totals()
    print_notes(console, summary)
    sums = (counted(len(summary.files), "file"), counted(totals.runs, "run"), counted(totals.calls, "call"))
    did = f"{totals.warned_runs} warned, {totals.blocked_runs} blocked, {totals.ended_runs} ended"
    console.print(f"[bold]{', '.join(sums)}[/bold]: {did}; {_saved(totals)}")


def _saved(totals: Totals) -> str:
    if not totals.saved_calls:
        return "nothing to save"
    tokens = f" and {totals.saved_tokens:,} of {totals.tokens:,} tokens" if totals.tokens else ""
    return f"{counted(totals.saved_calls, 'call')}{tokens} saved"
