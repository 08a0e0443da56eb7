"""Two configurations side by side: the runs of recorded sessions in which they would have done different things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from wheelspin.config import Config
from wheelspin.replay.engine import RunReport, Sighting
from wheelspin.replay.recording import Recording
from wheelspin.replay.summary import FileReport, Summary, Totals

__all__ = ["Comparison", "Difference", "Side"]

_OWN = "the configuration in it holds in place of the defaults"


class Side(NamedTuple):
    """One of the two configurations."""

    name: str
    config: Config | None = None
    """Without it, what a file says holds, or else the defaults, switched on."""


@dataclass(slots=True)
class Difference:
    """A run of which the two configurations would have made different things."""

    path: Path
    place: str
    """What the places of the file are called."""
    left: RunReport
    right: RunReport

    @property
    def parting(self) -> tuple[Sighting | None, Sighting | None]:
        """The first thing that one would have done and the other not; `None` where one would do nothing more."""
        pairs = zip_longest(self.left.sightings, self.right.sightings)
        return next(((left, right) for left, right in pairs if _done(left) != _done(right)), (None, None))


@dataclass(slots=True)
class Comparison:
    """
    What two configurations would have made of recorded sessions.

    Attributes:
        sides: The two.
        agent: The agent whose block holds where a file names none.
        summary: What was read; its files come without their runs, so that many of them can be compared.
        totals: The sums of each side.
        differences: The runs in which they differ, in the order of the files.
    """

    sides: tuple[Side, Side]
    agent: str | None = None
    summary: Summary = field(default_factory=Summary)
    totals: tuple[Totals, Totals] = field(default_factory=lambda: (Totals(), Totals()))
    differences: list[Difference] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.summary.notices = tuple(
            f"{side.name}: {notice}" for side in self.sides for notice in _notices(side, self.agent)
        )

    def play(self, recording: Recording) -> FileReport:
        """
        Play a file under both configurations, and keep what differs.

        Args:
            recording: The file.

        Returns:
            What is to be said of the file, without its runs.

        Raises:
            TranscriptError: The configuration in the file is wrong.
        """
        left, right = (recording.replay(side.config, agent=self.agent) for side in self.sides)
        recording.scan(left, right)
        file = recording.report(left, self.sides[0].config)
        for replayed, totals in zip((left, right), self.totals, strict=True):
            totals.problems += file.problem_count
            for run in replayed.runs:
                totals.count(run)
        for one, other in _paired(left.runs, right.runs):
            if _outcome(one) != _outcome(other):
                self.differences.append(Difference(file.path, file.place, one, other))
        own = (_OWN,) if self.sides[0].config is None and left.is_configured else ()
        return replace(file, runs=[], notices=(*file.notices, *own))


def _notices(side: Side, agent: str | None) -> Iterator[str]:
    if side.config is None:
        return
    resolution = side.config.resolve(agent)
    yield from resolution.notices
    if not resolution.settings.enabled:
        yield "the detectors are off, since `enabled` is not set to true"


def _done(sighting: Sighting | None) -> object:
    """Give what would have been done at a place, apart from the numbers that led to it."""
    return sighting and (sighting.action, sighting.line, sighting.call, sighting.detector, sighting.times)


def _outcome(run: RunReport) -> object:
    return run.blocks, run.ended, [_done(sighting) for sighting in run.sightings]


def _paired(left: list[RunReport], right: list[RunReport]) -> Iterator[tuple[RunReport, RunReport]]:
    """Give the runs of both sides; one that only one side has, after a configuration in the file, has a quiet twin."""
    rest = {_key(run): run for run in right}
    for run in left:
        yield run, rest.pop(_key(run), _quiet(run))
    for run in rest.values():
        yield _quiet(run), run


def _key(run: RunReport) -> object:
    return run.session, run.agent, run.run, run.line


def _quiet(run: RunReport) -> RunReport:
    return RunReport(run.session, run.agent, run.run, run.line, run.calls)
