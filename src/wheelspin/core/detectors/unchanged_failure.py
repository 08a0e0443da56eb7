"""The same call keeps failing in the same way, whatever was tried in between."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Needs
from wheelspin.core.outcome_status import FAILED, OUTAGE, REFUSAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


_REFUSALS = 3
"""A refusal is said once; a model that asks a third time does not listen."""


class UnchangedFailure(Detector):
    """
    The same call keeps failing in the same way, whatever was tried in between.

    What it detects:
        Equal failures of one call, with any other calls in between, also more of them than the history holds. What is
        volatile in the text of a failure is masked: times, durations, process ids and the like. It warns at
        `warningThreshold`. It blocks at `criticalThreshold`; after a block the call may run once as soon as something
        new was tried, and the run ends at `globalCircuitBreakerThreshold`. A call that was refused is warned about
        after three refusals. A check that passes and stays the same is never this.

    Why it is a loop:
        Thirty edits that leave the failing test exactly as it was do not address what makes it fail.

    Example:
        `(e+ f+ g+ T!)*21` warns at 44 and blocks at 84. `(e+ f+ g+ T1)*21` stays quiet.

    Options:
        `detectors.unchangedFailure`, a switch or an object with `warningThreshold` and `criticalThreshold`; for outages
        of a service (429, 5xx, timeouts) `infrastructureFailures`.

    Not to be confused with:
        `same-failure`, where the arguments differ each time; `stagnation`, which ends with the first news.

    False positives:
        A test that is meant to fail until the last of many steps is done. Raise its thresholds, or declare the tool
        that takes the steps (`toolHints`, `mutates`): its successes let calls that failed before run again.
    """

    __slots__ = ()

    id = "unchanged-failure"
    default_thresholds = {"early": (5, 7)}
    ends_run = True
    ends_on_change = True
    observation = "`{tool}` has failed {count} times with the same arguments and the same error"
    alternatives = (
        "Re-read the error and question your assumptions: your changes are not addressing its cause.",
        "Make the failing case smaller: remove parts until it passes, and see which part mattered.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Warn and block by the equal failures."""
        status = history.status(call.signature)
        if status not in FAILED:
            return None
        count = history.failures(call.signature)
        warning, critical = self.thresholds(call, settings)
        if status is OUTAGE:
            warning, critical = max((warning, critical), settings.outage_thresholds)
        elif status is REFUSAL:
            warning = min(_REFUSALS, warning)
        may_block = not history.is_retry_due(call.signature)
        return self.graded(count, (warning, critical), call.signature, status=status, may_block=may_block)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Ask for one equal failure: those that left the history are counted, too."""
        return Needs(Evidence.EQUAL_FAILURES, 1, calls=min(_REFUSALS, self.lowest_warning(settings)))
