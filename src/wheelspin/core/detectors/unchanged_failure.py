"""The same call keeps failing in the same way, whatever was tried in between."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding
from wheelspin.core.outcome_status import FAILED, OUTAGE, REFUSAL
from wheelspin.core.settings import OUTAGE as OUTAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings

REFUSALS = 3
"""A no is said once; who asks a third time does not listen."""


class UnchangedFailure(Detector):
    """
    The same call keeps failing in the same way, whatever was tried in between.

    What it detects:
        Equal failures of one call, with any other calls in between, also more of them than the history holds. What is
        volatile in the text of a failure does not count: times, durations, process ids and their like. It warns at
        `warningThreshold`. It blocks at `criticalThreshold`; after a block the call is free once as soon as something
        new was tried, and the run ends at `globalCircuitBreakerThreshold`. A call that somebody refused is warned about
        after three. A check that passes and stays the same is never this.

    Why it is a loop:
        Thirty edits that leave the failing test exactly as it was do not reach what makes it fail.

    Example:
        `(e+ f+ g+ T!)*21` warns at 44 and blocks at 84. `(e+ f+ g+ T1)*21` stays quiet.

    Options:
        `detectors.unchangedFailure`, a switch or an object with `warningThreshold` and `criticalThreshold`; for
        failures of what stands behind a tool (429, 5xx, timeouts) `infrastructureFailures`.

    Not to be confused with:
        `same-failure`, where the arguments are others each time; `stagnation`, which ends with the first news.

    False positives:
        A test that is meant to fail until the last of many steps is done. Raise its thresholds, or declare the tool
        that makes the steps (`toolHints`, `mutates`): its successes free the calls that failed before.
    """

    __slots__ = ()

    id = "unchanged-failure"
    switch = "unchanged_failure"
    gives_way = True
    ends_run = True
    lasts = False
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Warn and block by the equal failures."""
        nature = history.nature(call.signature)
        if nature not in FAILED:
            return None
        count = history.failures(call.signature)
        warning, critical = self.limits(call, settings)
        if nature == OUTAGE:
            warning, critical = max((warning, critical), settings.limits_of(OUTAGES))
        elif nature == REFUSAL:
            warning = min(REFUSALS, warning)
        is_free = history.is_free_again(call.signature)
        return self.graded(count, (warning, critical), call.signature, nature=nature, is_free=is_free)
