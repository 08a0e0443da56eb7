"""What the reports in the terminal share: columns, words for runs and counts, and notes on files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.markup import escape

from wheelspin.core.advice import printable_name
from wheelspin.core.events import Action
from wheelspin.replay.engine import Intervention, RunReport
from wheelspin.replay.summary import FileReport, Summary

__all__ = [
    "STYLES",
    "aligned",
    "cells",
    "console_on",
    "counted",
    "print_notes",
    "print_unread",
    "print_unread_in",
    "styled",
    "where",
]

STYLES = {Action.WARN: "yellow", Action.BLOCK: "red", Action.ABORT: "bold red"}
"""The rich style of each action."""
_PROBLEMS_SHOWN = 5


def console_on(out: TextIO) -> Console:
    """Return a console that writes to the terminal or a file."""
    return Console(file=out, highlight=False, soft_wrap=True)


def print_unread(console: Console, summary: Summary) -> None:
    """Write the notices and unreadable places of all files, for reports that do not list the files."""
    for file in summary.files:
        if file.notices or file.problem_count:
            console.print(f"[bold]{escape(str(file.path))}[/bold]  {file.format}")
            print_unread_in(console, file)
            console.print()


def print_unread_in(console: Console, file: FileReport) -> None:
    """Write the notices and unreadable places of a file."""
    for notice in file.notices:
        console.print(f"  note: {escape(notice)}")
    for problem in file.problems[:_PROBLEMS_SHOWN]:
        console.print(f"  [yellow]not read[/yellow] {file.unit} {problem.line}: {escape(problem.what)}")
    if file.problem_count > _PROBLEMS_SHOWN:
        console.print(f"  [yellow]not read[/yellow] {file.problem_count - _PROBLEMS_SHOWN:,} more {file.unit}s")


def print_notes(console: Console, summary: Summary) -> None:
    """Write the notices about the configuration, and how much was not read."""
    for notice in summary.notices:
        console.print(f"note: {escape(notice)}")
    if summary.skipped_files:
        count = counted(len(summary.skipped_files), "file")
        console.print(
            f"skipped {count} that {'is not a session' if len(summary.skipped_files) == 1 else 'are not sessions'}"
        )
    problems = sum(file.problem_count for file in summary.files)
    unread = [counted(len(summary.failures), "file")] if summary.failures else []
    unread += [counted(problems, "place")] if problems else []
    if unread:
        console.print(f"[yellow]not read[/yellow] {' and '.join(unread)}")


def where(run: RunReport, unit: str) -> str:
    """Return which run it is and where it begins, as markup."""
    whose = f" of agent {run.agent}" if run.agent not in {None, "main"} else ""
    session = f" in session {run.session}" if run.session else ""
    return escape(f"{run.run}{whose}{session}, from {unit} {run.line}")


def cells(intervention: Intervention, unit: str) -> tuple[str, ...]:
    """Return a intervention as columns: its call, line, tool and finding."""
    more = f" and {intervention.times - 1} more" if intervention.times > 1 else ""
    return (
        f"call {intervention.call}{more}",
        f"{unit} {intervention.line}",
        printable_name(intervention.tool),
        f"{intervention.detector}: {intervention.count} of {intervention.threshold}",
    )


def styled(action: Action) -> str:
    """Return an action as markup, padded to the width of the longest."""
    return f"[{STYLES[action]}]{action:<5}[/{STYLES[action]}]"


def aligned(rows: Iterable[Iterable[str]], *, numbers_from: int | None = None) -> list[str]:
    """Return rows as lines with aligned columns; those from `numbers_from` on are aligned to the right."""
    table = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.ljust(width) if numbers_from is None or column < numbers_from else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def counted(count: int, what: str) -> str:
    """Return a number of things, such as "2 files"."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")
