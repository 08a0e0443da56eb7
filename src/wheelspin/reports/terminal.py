"""A replay for people, in the terminal."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.markup import escape

from wheelspin.core.advice import shown
from wheelspin.core.events import Action
from wheelspin.replay import RunReport, Sighting
from wheelspin.report import FileReport, Summary, Totals

__all__ = ["STYLES", "write"]

STYLES = {Action.WARN: "yellow", Action.BLOCK: "red", Action.ABORT: "bold red"}
"""What an action looks like on the terminal."""
_PROBLEMS_SHOWN = 5


def write(summary: Summary, out: TextIO) -> None:
    """Write what a replay found: each file, in it each run with a sighting, and the sums."""
    console = Console(file=out, highlight=False, soft_wrap=True)
    for file in summary.files:
        _file(console, file)
    _sums(console, summary)


def _file(console: Console, file: FileReport) -> None:
    calls = sum(run.calls for run in file.runs)
    counted = f"{_counted(len(file.runs), 'run')}, {_counted(calls, 'call')}"
    console.print(f"[bold]{escape(str(file.path))}[/bold]  {file.format}: {counted}")
    for notice in file.notices:
        console.print(f"  note: {escape(notice)}")
    for problem in file.problems[:_PROBLEMS_SHOWN]:
        console.print(f"  [yellow]not read[/yellow] {file.place} {problem.line}: {escape(problem.what)}")
    if file.problem_count > _PROBLEMS_SHOWN:
        console.print(f"  [yellow]not read[/yellow] {file.problem_count - _PROBLEMS_SHOWN:,} {file.place}s more")
    clean = sum(run.is_clean for run in file.runs)
    for run in file.runs:
        if not run.is_clean:
            _run(console, run, file.place)
    if clean and clean == len(file.runs):
        console.print("  [green]clean[/green]")
    elif clean:
        console.print(f"  [green]clean[/green] {_counted(clean, 'other run')}")
    console.print()


def _run(console: Console, run: RunReport, place: str) -> None:
    whose = f" of agent {run.agent}" if run.agent not in {None, "main"} else ""
    session = f" in session {run.session}" if run.session else ""
    where = escape(f"{run.run}{whose}{session}, from {place} {run.line}")
    console.print(f"  run {where}: {_counted(run.calls, 'call')}")
    rows = [_row(sighting, place) for sighting in run.sightings]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for sighting, row in zip(run.sightings, rows, strict=True):
        style = STYLES[sighting.action]
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        console.print(f"    [{style}]{sighting.action:<5}[/{style}]  {escape('  '.join(cells).rstrip())}")
    if run.blocks:
        tokens = f", {run.saved_tokens:,} of {run.tokens:,} tokens" if run.tokens else ""
        console.print(f"    saved {_counted(run.blocks, 'call')}{tokens}")


def _row(sighting: Sighting, place: str) -> tuple[str, ...]:
    more = f" and {sighting.times - 1} more" if sighting.times > 1 else ""
    return (
        f"call {sighting.call}{more}",
        f"{place} {sighting.line}",
        shown(sighting.tool),
        f"{sighting.detector}: {sighting.count} of {sighting.threshold}",
    )


def _sums(console: Console, summary: Summary) -> None:
    totals = summary.totals()
    for notice in summary.notices:
        console.print(f"note: {escape(notice)}")
    if summary.passed_over:
        count = _counted(len(summary.passed_over), "file")
        console.print(
            f"passed over {count} that {'is no session' if len(summary.passed_over) == 1 else 'are no sessions'}"
        )
    unread = [_counted(len(summary.failures), "file")] if summary.failures else []
    unread += [_counted(totals.problems, "place")] if totals.problems else []
    if unread:
        console.print(f"[yellow]not read[/yellow] {' and '.join(unread)}")
    counted = (_counted(len(summary.files), "file"), _counted(totals.runs, "run"), _counted(totals.calls, "call"))
    did = f"{totals.warned_runs} warned, {totals.blocked_runs} blocked, {totals.ended_runs} ended"
    console.print(f"[bold]{', '.join(counted)}[/bold]: {did}; {_saved(totals)}")


def _saved(totals: Totals) -> str:
    if not totals.saved_calls:
        return "nothing to save"
    tokens = f" and {totals.saved_tokens:,} of {totals.tokens:,} tokens" if totals.tokens else ""
    return f"{_counted(totals.saved_calls, 'call')}{tokens} saved"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
