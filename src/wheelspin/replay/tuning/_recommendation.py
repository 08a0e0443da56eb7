"""Which setting to take: a rule that needs one sentence, and prefers to leave good work alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wheelspin.replay.tuning._grid import STANDARD, Candidate

__all__ = ["Recommendation", "Score", "Trial", "recommend"]

_BY_LABELS = (
    "of the settings that touch the fewest runs labelled ok, the one that stops most runs labelled loop, then warns in "
    f"most; of equal ones the one nearest to `{STANDARD}`"
)
_BY_CALLS = (
    f"without labels, of the settings that stop no run that `{STANDARD}` does not stop, the one that saves most calls; "
    f"of equal ones the one nearest to `{STANDARD}`"
)


class Score(NamedTuple):
    """How one setting does by the user's labels; a run that is stopped is touched, too."""

    loops: int
    loops_touched: int
    loops_stopped: int
    good: int
    good_touched: int
    good_stopped: int


@dataclass(slots=True)
class Trial:
    """What one setting would have made of the runs."""

    candidate: Candidate
    warned: int = 0
    """Runs that it warns in."""
    stopped: int = 0
    """Runs in which it blocks a call, or that it ends."""
    beyond: int = 0
    """Runs that it stops and `standard` does not."""
    saved_calls: int = 0
    saved_tokens: int = 0
    score: Score | None = None
    """How it does by the labels, where there are any."""


class Recommendation(NamedTuple):
    """A setting, and why."""

    candidate: Candidate
    reason: str
    """Why this one, with figures."""
    rule: str
    """By which rule."""


def recommend(trials: Sequence[Trial]) -> Recommendation:
    """
    Choose a setting.

    Args:
        trials: All that were tried, the laxest first.

    Returns:
        With labels, of the settings that touch the fewest runs labelled ok (and then stop the fewest of them) the one
        that stops most runs labelled loop, then warns in most. Without, of those that stop no run that `standard` does
        not stop the one that saves most calls. Of equal ones the one nearest to `standard`, of two as near the laxer.
    """
    home = next(place for place, trial in enumerate(trials) if trial.candidate.name == STANDARD)
    scored = [(trial.score, abs(place - home), place) for place, trial in enumerate(trials) if trial.score is not None]
    if scored:
        score, _, place = min(scored, key=lambda entry: (*_cost(entry[0]), *entry[1:]))
        return Recommendation(trials[place].candidate, _by_labels(score), _BY_LABELS)
    found = [(-trial.saved_calls, abs(place - home), place) for place, trial in enumerate(trials) if not trial.beyond]
    best = trials[min(found)[-1]]
    return Recommendation(best.candidate, _by_calls(trials, best, trials[home]), _BY_CALLS)


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
        return "it saves nothing in these runs, and what other settings stop nobody has judged"
    return f"it saves {calls}, and no setting that stops only runs that it stops saves more"
