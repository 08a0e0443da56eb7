"""The same tool is called with the same arguments over and over."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Level, Needs, Rank
from wheelspin.core.outcome_status import OUTAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class GenericRepeat(Detector):
    """
    The same tool is called with the same arguments over and over.

    What it detects:
        It blocks a call after `criticalThreshold` equal outcomes in a row, whatever other calls came in between. It
        warns after `warningThreshold` calls in the history, whatever their outcomes.

    Why it is a loop:
        A question that got the same answer twenty times will get it again.

    Example:
        `A1*21` warns at 11 and blocks at 21. `A+*40` warns at 11, 21 and 31. `A1*10` stays quiet.

    Options:
        `detectors.genericRepeat`, `warningThreshold`, `criticalThreshold`.

    Not to be confused with:
        `known-poll-no-progress`, which handles polling calls; `ping-pong`, which looks at two calls in turn.

    False positives:
        A call whose results change is never blocked, only warned about, since the model may have good reason to look
        again. Outages of a service (429, 5xx, timeouts) are left to `unchanged-failure`.
    """

    __slots__ = ()

    id = "generic-repeat"
    default_thresholds = {"early": (16, 18)}
    rank = Rank.CALLS
    stays_blocked = True
    observation = "`{tool}` was called {count} times with the same arguments"
    no_progress = " and returned the same result each time"
    alternatives = (
        "Use the result you already have, and take the next step.",
        "Write down what you still need to know, and find it out another way.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Block by the streak, warn by the count (SPEC 6, rules 5 and 8)."""
        repeats = history.repeats(call.signature)
        warning, critical = self.thresholds(call, settings)
        if repeats < warning or call.polls:
            return None
        streak, status = history.streak(call.signature), history.status(call.signature)
        if streak >= critical and status is not OUTAGE:
            return self.found(Level.CRITICAL, streak, critical, call.signature, status=status)
        return self.found(Level.WARNING, repeats, warning, call.signature, no_progress=False, status=status)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal calls."""
        return Needs(Evidence.EQUAL_CALLS, self.lowest_warning(settings))
