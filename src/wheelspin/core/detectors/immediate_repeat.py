"""The same call follows itself directly and nothing changes."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Needs
from wheelspin.core.outcome_status import OUTAGE, WAIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class ImmediateRepeat(Detector):
    """
    The same call follows itself directly and nothing changes.

    What it detects:
        One call made again and again with equal outcomes and no other call in between. Equal calls of one message
        count once. It warns at `warningThreshold` and blocks at `criticalThreshold`. With the documented thresholds
        that is where `generic-repeat` does; with the preset `early` it is at the third and the fourth call.

    Why it is a loop:
        Nothing was tried in between that could have changed the answer, so two equal answers say as much as ten.

    Example:
        `A1*21` warns at 11 and blocks at 21. `A1*3 B1 A1*3 B2 A1*3` stays quiet.

    Options:
        `detectors.immediateRepeat`, a switch or an object with `warningThreshold` and `criticalThreshold`.

    Not to be confused with:
        `generic-repeat`, which counts a call whatever came in between; `stagnation`, which counts all calls that bring
        nothing new.

    False positives:
        Waiting for something with a call that is not declared as polling and does not say that it is still running:
        declare it (`toolHints`, `poll`). A result that says so ("pending", `status: running`) has the thresholds of
        `known-poll-no-progress`; an outage is left to `unchanged-failure`. A tool that does the next thing at each
        equal call and only answers "ok", such as a key press: declare that it `mutates`.
    """

    __slots__ = ()

    id = "immediate-repeat"
    follows = "generic-repeat"
    default_thresholds = {"early": (2, 3)}
    observation = "`{tool}` was called {count} times in a row with the same arguments"
    no_progress = " and returned the same result each time"
    alternatives = (
        "Use the answer you have: it will stay the same until you change something.",
        "Make a different call: one that changes something, or one that asks a narrower question.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Warn and block by the calls in a row."""
        count = history.in_a_row(call.signature)
        if not count or call.polls:
            return None
        status = history.status(call.signature)
        if status is OUTAGE:
            return None
        thresholds = self.thresholds(call, settings)
        if status is WAIT:
            thresholds = max(thresholds, settings.wait_thresholds)
        return self.graded(count, thresholds, call.signature, status=status)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal calls."""
        return Needs(Evidence.EQUAL_CALLS, self.lowest_warning(settings))

    def is_over(self, about: tuple[bytes, ...], record: CallRecord, history: History, *, changed: bool) -> bool:
        """End with another outcome of the call, or with anything new from another one."""
        return changed if record.signature in about else history.stagnation == 0
