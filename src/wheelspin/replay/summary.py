"""The results of a replay: the data that every report shows."""

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
    """Name of the format for people."""
    runs: list[RunReport]
    unit: str = "line"
    """What line numbers in the file count: `line`, or `item` or `message` in a JSON document."""
    problems: list[Problem] = field(default_factory=list)
    """The first few places that could not be read."""
    problem_count: int = 0
    notices: tuple[str, ...] = ()
    """Notices for the user about how the file was read."""


@dataclass(slots=True)
class Totals:
    """Sums over all runs."""

    runs: int = 0
    calls: int = 0
    warned_runs: int = 0
    blocked_runs: int = 0
    ended_runs: int = 0
    saved_calls: int = 0
    tokens: int = 0
    saved_tokens: int = 0
    problems: int = 0
    """Number of places that could not be read, in files that could."""

    def count(self, run: RunReport) -> None:
        """Add a run to the sums."""
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
    """Error messages for named files that could not be read."""
    skipped_files: list[Path] = field(default_factory=list)
    """Files in a folder that are not sessions."""
    notices: tuple[str, ...] = ()
    """Notices for the user about the configuration."""

    def totals(self) -> Totals:
        """Return the sums over all runs."""
        totals = Totals(problems=sum(file.problem_count for file in self.files))
        for run in (run for file in self.files for run in file.runs):
            totals.count(run)
        return totals
