"""The same tool is called with the same arguments over and over."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding, Level
from wheelspin.core.outcome_status import OUTAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class GenericRepeat(Detector):
    """
    The same tool is called with the same arguments over and over.

    What it detects:
        It blocks at `criticalThreshold` equal outcomes in a row of one call, whatever other calls came in between. It
        warns at `warningThreshold` calls in the history, whatever their outcomes.

    Why it is a loop:
        The same question that got the same answer twenty times gets it the next time too.

    Example:
        `A1*21` warns at 11 and blocks at 21. `A+*40` warns at 11, 21 and 31. `A1*10` stays quiet.

    Options:
        `detectors.genericRepeat`, `warningThreshold`, `criticalThreshold`.

    Not to be confused with:
        `known-poll-no-progress`, which has the polling calls to itself; `ping-pong`, which sees two calls in turn.

    False positives:
        A call whose results change is never blocked, only warned about: a model may have good reason to look again.
        Failures of what stands behind the tool (429, 5xx, timeouts) are left to `unchanged-failure`.
    """

    __slots__ = ()

    id = "generic-repeat"
    switch = "generic_repeat"
    counts_calls = True
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Block by the streak, warn by the count (SPEC 6, rules 5 and 8)."""
        repeats = history.repeats(call.signature)
        warning, critical = self.limits(call, settings)
        if repeats < warning or call.polls:
            return None
        streak, nature = history.streak(call.signature), history.nature(call.signature)
        if streak >= critical and nature != OUTAGE:
            return self.found(Level.CRITICAL, streak, critical, call.signature, nature=nature)
        return self.found(Level.WARNING, repeats, warning, call.signature, no_progress=False, nature=nature)
