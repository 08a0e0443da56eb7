"""Recommend a candidate by a rule that fits in one sentence and prefers to leave good work alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wheelspin.replay.tuning._grid import STANDARD, Candidate

__all__ = ["Recommendation", "Score", "Trial", "recommend"]

_BY_LABELS = (
    "of the settings that touch the fewest runs labelled ok, the one that stops the most runs labelled loop, then the "
    f"one that warns in the most; ties go to the one nearest to `{STANDARD}`"
)
_BY_CALLS = (
    f"without labels, of the settings that stop no run that `{STANDARD}` does not stop, the one that saves the most "
    f"calls; ties go to the one nearest to `{STANDARD}`"
)


class Score(NamedTuple):
    """The score of a candidate by the user's labels; a run is touched if it is warned or stopped."""

    loops: int
    loops_touched: int
    loops_stopped: int
    good: int
    good_touched: int
    good_stopped: int


@dataclass(slots=True)
class Trial:
    """The results of one candidate."""

    candidate: Candidate
    warned: int = 0
    """Number of runs with a warning."""
    stopped: int = 0
    """Number of runs in which a call is blocked, or that are ended."""
    beyond: int = 0
    """Number of runs that it stops and `standard` does not."""
    saved_calls: int = 0
    saved_tokens: int = 0
    score: Score | None = None
    """The score by the labels, if there are any."""


class Recommendation(NamedTuple):
    """A recommended candidate, and why."""

    candidate: Candidate
    reason: str
    """The reason, with figures."""
    rule: str
    """The rule that was applied."""


def recommend(trials: Sequence[Trial]) -> Recommendation:
    """
    Recommend a candidate.

    Args:
        trials: The results of all candidates, the most lenient first.

    Returns:
        With labels: among the candidates that touch the fewest runs labelled ok, and then stop the fewest of them, the
        one that stops the most runs labelled loop, then the one that warns in the most. Without labels: among the
        candidates that stop no run that `standard` does not stop, the one that saves the most calls. Ties go to the
        candidate nearest to `standard`, then to the more lenient one.
    """
    baseline = next(index for index, trial in enumerate(trials) if trial.candidate.name == STANDARD)
    scored = [
        (trial.score, abs(index - baseline), index) for index, trial in enumerate(trials) if trial.score is not None
    ]
    if scored:
        score, _, index = min(scored, key=lambda entry: (*_cost(entry[0]), *entry[1:]))
        return Recommendation(trials[index].candidate, _by_labels(score), _BY_LABELS)
    found = [
        (-trial.saved_calls, abs(index - baseline), index) for index, trial in enumerate(trials) if not trial.beyond
    ]
    best = trials[min(found)[-1]]
    return Recommendation(best.candidate, _by_calls(trials, best, trials[baseline]), _BY_CALLS)


def _cost(score: Score) -> tuple[int, ...]:
    return score.good_touched, score.good_stopped, -score.loops_stopped, -score.loops_touched


def _by_labels(score: Score) -> str:
    loops = "no run is labelled loop"
    if score.loops:
        warned = score.loops_touched - score.loops_stopped
        more = f" and warns in {warned} more" if warned else ""
        loops = f"it stops {score.loops_stopped} of {score.loops} labelled loop{more}"
    if not score.good:
        return f"{loops}, and no run is labelled ok"
    if not score.good_touched:
        return f"{loops}, and it touches none of {score.good} labelled ok"
    stops = f" and stops {score.good_stopped} of them" if score.good_stopped else ""
    return f"{loops}, and it touches {score.good_touched} of {score.good} labelled ok{stops}: no setting touches fewer"


def _by_calls(trials: Sequence[Trial], best: Trial, standard: Trial) -> str:
    calls = "1 call" if best.saved_calls == 1 else f"{best.saved_calls:,} calls"
    if best is not standard:
        return (
            f"it saves {calls}, `{STANDARD}` {standard.saved_calls:,}, and it stops no run that `{STANDARD}` does not"
        )
    if not any(trial.stopped for trial in trials):
        return "no setting stops anything in these runs"
    if not best.saved_calls:
        return "it saves nothing in these runs, and the runs that other settings stop are not labelled"
    return f"it saves {calls}, and no setting saves more without stopping further runs"
