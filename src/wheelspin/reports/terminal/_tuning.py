"""The report of a tuning: the settings, the borderline runs, and the recommended setting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TextIO

from rich.console import Console
from rich.markup import escape

from wheelspin.core.events import Action
from wheelspin.replay.tuning import LOOP, OK, Borderline, Recommendation, Tuning
from wheelspin.reports.terminal._lines import aligned, cells, console_on, counted, print_notes, print_unread

__all__ = ["write_tuning"]

_MARKS = {Action.ALLOW: ".", Action.WARN: "w", Action.BLOCK: "s"}
_LEGEND = "one character per setting, in the order above: `.` no action, `w` warned, `s` stopped"


def write_tuning(tuning: Tuning, choice: Recommendation | None, out: TextIO) -> None:
    """Write what each setting would have done in the sessions, the borderline runs, and the recommended setting."""
    console = console_on(out)
    print_unread(console, tuning.summary)
    chosen = choice and choice.candidate.name
    heads, *rows = aligned(_trials(tuning), numbers_from=1)
    console.print(f"[bold]{escape(heads)}[/bold]")
    for trial, row in zip(tuning.trials, rows, strict=True):
        console.print(f"[green]{escape(row)}[/green]" if trial.candidate.name == chosen else escape(row))
    console.print()
    if tuning.borderline:
        _all_borderline(console, tuning)
    print_notes(console, tuning.summary)
    read = [(len(tuning.summary.files), "file"), (tuning.runs, "run"), (tuning.calls, "call")]
    sums = ", ".join(counted(count, what) for count, what in read)
    console.print(f"[bold]{sums}[/bold]: {counted(len(tuning.borderline), 'borderline run')}")
    if tuning.borderline:
        console.print(escape(_next_step(tuning)))
    if choice is None:
        console.print("there are no runs to base a recommendation on")
        return
    console.print(f"[bold]recommended: [green]{escape(choice.candidate.name)}[/green][/bold]: {escape(choice.reason)}")
    console.print(f"  rule: {escape(choice.rule)}")


def _trials(tuning: Tuning) -> Iterator[list[str]]:
    """Yield the rows of the table of settings, with tokens if any are known and scores if there are labels."""
    has_tokens = bool(tuning.tokens)
    heads = ["setting", "warned", "stopped", "calls saved"] + ["tokens saved"] * has_tokens
    if any(trial.score for trial in tuning.trials):
        heads += ["loops stopped", "loops touched", "ok touched"]
    yield heads
    for trial in tuning.trials:
        counts = [trial.warned, trial.stopped, trial.saved_calls] + [trial.saved_tokens] * has_tokens
        row = [trial.candidate.name, *(f"{count:,}" for count in counts)]
        score = trial.score
        if score is not None:
            row += [f"{count} of {score.loops}" for count in (score.loops_stopped, score.loops_touched)]
            row.append(f"{score.good_touched} of {score.good}")
        yield row


def _all_borderline(console: Console, tuning: Tuning) -> None:
    """Write each run on which the settings disagree, with the first finding of the laxest setting that acts on it."""
    console.print(f"[bold]borderline runs[/bold]: {_LEGEND}")
    words = tuning.labels.words if tuning.labels else {}
    for path, lines in groupby(tuning.borderline, key=lambda line: line.path):
        console.print(f"[bold]{escape(str(path))}[/bold]")
        for row in aligned(_borderline(line, words.get(line.id)) for line in lines):
            console.print(f"  {escape(row)}")
    console.print()


def _borderline(line: Borderline, word: str | None) -> tuple[str, ...]:
    marks = "".join(_MARKS[level] for level in line.levels)
    _, *seen = cells(line.intervention, line.unit)
    return line.id, marks, f"call {line.intervention.call}", *seen, word or ""


def _next_step(tuning: Tuning) -> str:
    labels = tuning.labels
    if labels is None:
        return "to label them, run this with `--label FILE` and fill in the file that it writes"
    if labels.is_new:
        many = counted(labels.added, "run")
        state = f"{labels.path}: written, with {many} to label"
    elif labels.added:
        state = f"{labels.path}: {counted(labels.added, 'new run')} added to label"
    else:
        left = sum(labels.words.get(line.id) is None for line in tuning.borderline)
        if not left:
            return f"{labels.path}: every borderline run is labelled"
        state = f"{labels.path}: {counted(left, 'run')} still to label"
    look = "look at each (`wheelspin replay --compare early FILE` shows more)"
    return f'{state}; {look}, set it to "{LOOP}" or "{OK}", and run this again'
