"""
Tune the settings on recorded sessions: try a grid of candidates, find the runs they disagree on, and recommend one.

The rule of the recommendation is in `recommend`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from wheelspin.core.events import Action
from wheelspin.replay.engine import Intervention, RunReport
from wheelspin.replay.recording import Recording
from wheelspin.replay.summary import FileReport, Summary
from wheelspin.replay.tuning._files import check_new, write
from wheelspin.replay.tuning._grid import STANDARD, Candidate, grid
from wheelspin.replay.tuning._labels import LOOP, OK, Labels
from wheelspin.replay.tuning._recommendation import Recommendation, Score, Trial, recommend

__all__ = [
    "LOOP",
    "OK",
    "Borderline",
    "Candidate",
    "Labels",
    "Recommendation",
    "Score",
    "Trial",
    "Tuning",
    "check_new",
    "grid",
    "recommend",
]

_ID_BYTES = 4
_MOST_LISTED = 5


@dataclass(slots=True)
class Borderline:
    """A run in which some candidates warn or stop and others do not."""

    id: str
    """Short, stable id, derived from the file's name, the session, the run and its first line."""
    path: Path
    unit: str
    """What line numbers in the file count."""
    run: RunReport
    """The run under the most lenient candidate that intervenes in it."""
    levels: tuple[Action, ...]
    """The strongest action of each candidate: `ALLOW`, `WARN`, or `BLOCK` for a run that is stopped in any way."""

    @property
    def intervention(self) -> Intervention:
        """The first intervention of the most lenient candidate that intervenes in the run."""
        return self.run.interventions[0]


@dataclass(slots=True)
class Tuning:
    """
    A trial of a grid of settings on recorded sessions.

    Attributes:
        candidates: The settings to try, the most lenient first; one of them is `standard`.
        labels: The user's labels of single runs.
        summary: The files that were read, without their runs, so that many files can be used.
        trials: The results of each candidate.
        borderline: The runs on which the candidates disagree, in the order of the files.
        runs: Number of runs.
        calls: Number of calls.
        tokens: Number of tokens that the runs used.
    """

    candidates: Sequence[Candidate] = field(default_factory=grid)
    labels: Labels | None = None
    summary: Summary = field(default_factory=Summary)
    trials: list[Trial] = field(init=False)
    borderline: list[Borderline] = field(default_factory=list)
    runs: int = 0
    calls: int = 0
    tokens: int = 0
    _standard: int = field(init=False)
    _ids: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.trials = [Trial(candidate) for candidate in self.candidates]
        self._standard = [candidate.name for candidate in self.candidates].index(STANDARD)

    def play(self, recording: Recording) -> FileReport:
        """
        Replay a file under every candidate.

        Args:
            recording: The file.

        Returns:
            The report on the file, without its runs.

        Raises:
            TranscriptError: The file cannot be read.
        """
        configs = [candidate.config() for candidate in self.candidates]
        replays = [recording.replay(config) for config in configs]
        recording.scan(*replays)
        file = recording.report(replays[0], configs[0])
        for runs in zip(*(replay.runs for replay in replays), strict=True):
            self._count(file, runs)
        return replace(file, runs=[])

    def judge(self) -> Recommendation | None:
        """
        Add the borderline runs to the file with the labels and recommend a candidate.

        Returns:
            The recommendation; `None` if there are no runs.

        Raises:
            ConfigError: The file with the labels cannot be written.
        """
        if self.labels is not None:
            self.labels.add(line.id for line in self.borderline)
            self._score(self.labels)
        return recommend(self.trials) if self.runs else None

    def save(self, choice: Recommendation, path: Path) -> None:
        """
        Write a recommended candidate to a configuration file, with the reason in a comment at the top.

        Args:
            choice: The recommendation.
            path: Path of the file, which must not exist.

        Raises:
            ConfigError: The file exists already or cannot be written.
        """
        check_new(path)
        origin = f"Recommended by `wheelspin tune` on {self.runs:,} runs with {self.calls:,} calls."
        write(path, choice.candidate.text([f"{choice.candidate.name}: {choice.reason}.", origin]))

    def _count(self, file: FileReport, runs: Sequence[RunReport]) -> None:
        """Count a run under each of the candidates."""
        self.runs += 1
        self.calls += runs[0].calls
        self.tokens += runs[0].tokens
        levels = tuple(map(_level, runs))
        standard = levels[self._standard]
        for trial, run, level in zip(self.trials, runs, levels, strict=True):
            trial.warned += run.has(Action.WARN)
            trial.stopped += level is Action.BLOCK
            trial.beyond += level is Action.BLOCK is not standard
            trial.saved_calls += run.blocks
            trial.saved_tokens += run.saved_tokens
        if len(set(levels)) > 1:
            touched = next(run for run in runs if run.interventions)
            self.borderline.append(Borderline(self._id(file.path, touched), file.path, file.unit, touched, levels))

    def _id(self, path: Path, run: RunReport) -> str:
        """Return the id of a run; later runs with the same id get a number appended."""
        whose = "\0".join(map(str, (path.name, run.session, run.agent, run.run, run.line)))
        digest = blake2b(whose.encode(errors="surrogatepass"), digest_size=_ID_BYTES).hexdigest()
        self._ids[digest] += 1
        return digest if self._ids[digest] == 1 else f"{digest}-{self._ids[digest]}"

    def _score(self, labels: Labels) -> None:
        known = {line.id for line in self.borderline}
        unknown = sorted(set(labels.words) - known)
        if unknown:
            listed = ", ".join(unknown[:_MOST_LISTED]) + (", …" if len(unknown) > _MOST_LISTED else "")
            many = "1 id belongs" if len(unknown) == 1 else f"{len(unknown)} ids belong"
            self.summary.notices += (f"{labels.path}: {many} to no borderline run in these sessions: {listed}",)
        loops, good = labels.labelled(LOOP) & known, labels.labelled(OK) & known
        if not loops and not good:
            return
        for index, trial in enumerate(self.trials):
            touched = {line.id for line in self.borderline if line.levels[index] is not Action.ALLOW}
            stopped = {line.id for line in self.borderline if line.levels[index] is Action.BLOCK}
            trial.score = Score(
                len(loops),
                len(loops & touched),
                len(loops & stopped),
                len(good),
                len(good & touched),
                len(good & stopped),
            )


def _level(run: RunReport) -> Action:
    if run.blocks or run.ended is not None:
        return Action.BLOCK
    return Action.WARN if run.interventions else Action.ALLOW
