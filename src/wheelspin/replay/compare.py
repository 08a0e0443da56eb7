"""Compare two configurations: the runs of recorded sessions in which their guards would have acted differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from wheelspin.config import Config
from wheelspin.replay.engine import Intervention, RunReport
from wheelspin.replay.recording import Recording
from wheelspin.replay.summary import FileReport, Summary, Totals

__all__ = ["Comparison", "Difference", "Side"]

_OWN = "the configuration in it replaces the defaults"


class Side(NamedTuple):
    """One of the two configurations."""

    name: str
    config: Config | None = None
    """Without one, the configuration in a file applies, or the defaults, switched on."""


@dataclass(slots=True)
class Difference:
    """A run in which the two configurations lead to different interventions."""

    path: Path
    unit: str
    """What line numbers in the file count."""
    left: RunReport
    right: RunReport

    @property
    def first_difference(self) -> tuple[Intervention | None, Intervention | None]:
        """The first interventions that differ; `None` on a side without further interventions."""
        pairs = zip_longest(self.left.interventions, self.right.interventions)
        return next(((left, right) for left, right in pairs if _effect(left) != _effect(right)), (None, None))


@dataclass(slots=True)
class Comparison:
    """
    A comparison of two configurations on recorded sessions.

    Attributes:
        sides: The two configurations.
        agent: The agent whose block applies to events without an agent.
        summary: The files that were read, without their runs, so that many files can be compared.
        totals: The sums of each side.
        differences: The runs in which the sides differ, in the order of the files.
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
        Replay a file under both configurations and keep the runs that differ.

        Args:
            recording: The file.

        Returns:
            The report on the file, without its runs.

        Raises:
            TranscriptError: The configuration in the file has faults.
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
                self.differences.append(Difference(file.path, file.unit, one, other))
        own = (_OWN,) if self.sides[0].config is None and left.is_configured else ()
        return replace(file, runs=[], notices=(*file.notices, *own))


def _notices(side: Side, agent: str | None) -> Iterator[str]:
    if side.config is None:
        return
    resolution = side.config.resolve(agent)
    yield from resolution.notices
    if not resolution.settings.enabled:
        yield "the detectors are off, since `enabled` is not set to true"


def _effect(intervention: Intervention | None) -> object:
    """Return the effect of an intervention, without the counts that led to it."""
    return intervention and (
        intervention.action,
        intervention.line,
        intervention.call,
        intervention.detector,
        intervention.times,
    )


def _outcome(run: RunReport) -> object:
    return run.blocks, run.ended, [_effect(intervention) for intervention in run.interventions]


def _paired(left: list[RunReport], right: list[RunReport]) -> Iterator[tuple[RunReport, RunReport]]:
    """Yield the runs of both sides in pairs. A run that only one side has gets an empty counterpart."""
    rest = {_key(run): run for run in right}
    for run in left:
        yield run, rest.pop(_key(run), _empty(run))
    for run in rest.values():
        yield _empty(run), run


def _key(run: RunReport) -> object:
    return run.session, run.agent, run.run, run.line


def _empty(run: RunReport) -> RunReport:
    return RunReport(run.session, run.agent, run.run, run.line, run.calls)
