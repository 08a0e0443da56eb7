"""
Tuning: recorded sessions under a grid of settings, the runs on which the settings disagree, and which one to take.

The rule of the recommendation is in `recommend`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from wheelspin.core.events import Action
from wheelspin.replay.engine import RunReport, Sighting
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
_LISTED = 5


@dataclass(slots=True)
class Borderline:
    """A run that some settings warn in or stop and others do not."""

    id: str
    """Short, and the same each time: made of the file's name, the session, the run and its first line."""
    path: Path
    place: str
    """What the places of the file are called."""
    run: RunReport
    """The run, as the laxest setting that touches it sees it."""
    levels: tuple[Action, ...]
    """What the most is that each setting does: `ALLOW`, `WARN`, or `BLOCK` for a run that is stopped in any way."""

    @property
    def sighting(self) -> Sighting:
        """The first thing that the laxest setting that touches the run does."""
        return self.run.sightings[0]


@dataclass(slots=True)
class Tuning:
    """
    Recorded sessions under a grid of settings.

    Attributes:
        candidates: The settings, the laxest first; one of them is `standard`.
        labels: What the user says of single runs.
        summary: What was read; its files come without their runs, so that many of them can be tuned on.
        trials: What each setting would have made of the runs.
        borderline: The runs on which the settings disagree, in the order of the files.
        runs: How many runs there are.
        calls: How many calls.
        tokens: How many tokens they cost.
    """

    candidates: Sequence[Candidate] = field(default_factory=grid)
    labels: Labels | None = None
    summary: Summary = field(default_factory=Summary)
    trials: list[Trial] = field(init=False)
    borderline: list[Borderline] = field(default_factory=list)
    runs: int = 0
    calls: int = 0
    tokens: int = 0
    _home: int = field(init=False)
    _ids: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.trials = [Trial(candidate) for candidate in self.candidates]
        self._home = [candidate.name for candidate in self.candidates].index(STANDARD)

    def play(self, recording: Recording) -> FileReport:
        """
        Play a file under every setting.

        Args:
            recording: The file.

        Returns:
            What is to be said of the file, without its runs.

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
        Write the borderline runs into the file of the labels, and choose a setting.

        Returns:
            The choice; `None` where there are no runs to choose by.

        Raises:
            ConfigError: The file of the labels cannot be written.
        """
        if self.labels is not None:
            self.labels.add(line.id for line in self.borderline)
            self._score(self.labels)
        return recommend(self.trials) if self.runs else None

    def save(self, choice: Recommendation, path: Path) -> None:
        """
        Write a setting as a configuration file, with the reason at its top.

        Args:
            choice: The setting.
            path: The file, which must not be there yet.

        Raises:
            ConfigError: It is there already, or cannot be written.
        """
        check_new(path)
        found = f"Recommended by `wheelspin tune` on {self.runs:,} runs with {self.calls:,} calls."
        write(path, choice.candidate.text([f"{choice.candidate.name}: {choice.reason}.", found]))

    def _count(self, file: FileReport, runs: Sequence[RunReport]) -> None:
        """Count a run, as each of the settings sees it."""
        self.runs += 1
        self.calls += runs[0].calls
        self.tokens += runs[0].tokens
        levels = tuple(map(_level, runs))
        standard = levels[self._home]
        for trial, run, level in zip(self.trials, runs, levels, strict=True):
            trial.warned += run.has(Action.WARN)
            trial.stopped += level is Action.BLOCK
            trial.beyond += level is Action.BLOCK is not standard
            trial.saved_calls += run.blocks
            trial.saved_tokens += run.saved_tokens
        if len(set(levels)) > 1:
            seen = next(run for run in runs if run.sightings)
            self.borderline.append(Borderline(self._id(file.path, seen), file.path, file.place, seen, levels))

    def _id(self, path: Path, run: RunReport) -> str:
        """Give a run's id; of runs that share one, the later have a number behind it."""
        whose = "\0".join(map(str, (path.name, run.session, run.agent, run.run, run.line)))
        digest = blake2b(whose.encode(errors="surrogatepass"), digest_size=_ID_BYTES).hexdigest()
        self._ids[digest] += 1
        return digest if self._ids[digest] == 1 else f"{digest}-{self._ids[digest]}"

    def _score(self, labels: Labels) -> None:
        known = {line.id for line in self.borderline}
        unknown = sorted(set(labels.words) - known)
        if unknown:
            shown = ", ".join(unknown[:_LISTED]) + (", …" if len(unknown) > _LISTED else "")
            many = "1 id is" if len(unknown) == 1 else f"{len(unknown)} ids are"
            self.summary.notices += (f"{labels.path}: {many} of no borderline run in these sessions: {shown}",)
        loops, good = labels.labelled(LOOP) & known, labels.labelled(OK) & known
        if not loops and not good:
            return
        for place, trial in enumerate(self.trials):
            touched = {line.id for line in self.borderline if line.levels[place] is not Action.ALLOW}
            stopped = {line.id for line in self.borderline if line.levels[place] is Action.BLOCK}
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
    return Action.WARN if run.sightings else Action.ALLOW
