"""What a replay found, summed up: the data that every form of report shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wheelspin.core.events import Action
from wheelspin.replay.engine import RunReport
from wheelspin.transcripts.files import Problem

__all__ = ["FileReport", "Summary", "Totals"]


@dataclass(slots=True)
class FileReport:
    """What a replay found in one file."""

    path: Path
    format: str
    """The title of its format."""
    runs: list[RunReport]
    place: str = "line"
    """What its places are called: lines, or the items of a list."""
    problems: list[Problem] = field(default_factory=list)
    """Places that could not be read, the first few of them."""
    problem_count: int = 0
    notices: tuple[str, ...] = ()
    """What the user should know about how it was read."""


@dataclass(slots=True)
class Totals:
    """The sums over all runs."""

    runs: int = 0
    calls: int = 0
    warned_runs: int = 0
    blocked_runs: int = 0
    ended_runs: int = 0
    saved_calls: int = 0
    tokens: int = 0
    saved_tokens: int = 0
    problems: int = 0
    """Places that could not be read, in files that could."""

    def count(self, run: RunReport) -> None:
        """Add a run."""
        self.runs += 1
        self.calls += run.calls
        self.warned_runs += run.has(Action.WARN)
        self.blocked_runs += run.has(Action.BLOCK)
        self.ended_runs += run.has(Action.ABORT)
        self.saved_calls += run.blocks
        self.tokens += run.tokens
        self.saved_tokens += run.saved_tokens


@dataclass(slots=True)
class Summary:
    """What a replay found in all files."""

    files: list[FileReport] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Files that were named and cannot be read: what is the matter, and the next step."""
    passed_over: list[Path] = field(default_factory=list)
    """Files in a folder that are no sessions."""
    notices: tuple[str, ...] = ()
    """What the user should know about the configuration."""

    def totals(self) -> Totals:
        """Sum up all runs."""
        totals = Totals(problems=sum(file.problem_count for file in self.files))
        for run in (run for file in self.files for run in file.runs):
            totals.count(run)
        return totals
