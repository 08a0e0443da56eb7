"""Call after call brings nothing new, in whatever order they come."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Needs, Scope
from wheelspin.core.outcome_status import OUTAGE, WAIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


_SEEN = 2
"""Looking at something once more is rereading; a model that has seen it twice and asks again goes in a circle."""


class Stagnation(Detector):
    """
    Call after call brings nothing new, in whatever order they come.

    What it detects:
        Messages of the model in a row whose calls were all made before, within the history, and all had an outcome that
        they had before: ping-pong and cycles of any length, also with many calls in each message. A single call that
        follows itself is left to the detectors of repeats. It warns at `warningThreshold`. At `criticalThreshold` it
        blocks a call that was made twice or more and had a single outcome in the history.

    Why it is a loop:
        An agent learns from outcomes. If none of them is new, its next step rests on what led to this one.

    Example:
        `(A1 B1 C1)*9` warns at 14 and blocks at 24, 25, 26 and 27. `[A1 B1 C1 D1]*22` warns from 45 and blocks from 85.
        `(A1 B1 C+)*9` stays quiet.

    Options:
        `detectors.stagnation`, a switch or an object with `warningThreshold` and `criticalThreshold`; `historySize` is
        how far back outcomes are known.

    Not to be confused with:
        `ping-pong`, which needs two calls in strict turn; `unchanged-failure`, which sees a failure that stays although
        the calls in between bring something new.

    False positives:
        Reading the same few things once more, say after a pause: it ends with the first call that brings something new.
        A new run, a message of the user and a success of a tool that is declared to change something (`toolHints`,
        `mutates`) start the count again. Polling calls and outages are left to other detectors.
    """

    __slots__ = ()

    id = "stagnation"
    default_thresholds = {"early": (4, 5)}
    scope = Scope.RUN
    observation = "the last {count} messages only repeated earlier calls, including `{tool}`"
    no_progress = ", and brought nothing new"
    alternatives = (
        "Do something you have not done yet: read something else, change something, or ask the user.",
        "State what you believe is wrong, then test that belief with one call you have not made before.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Warn by the count; block a call that has always had the same outcome."""
        count = history.stagnation
        if not count or call.polls or not history.repeats(call.signature):
            return None
        status = history.status(call.signature)
        if status is OUTAGE or status is WAIT or history.is_one_row(call.signature):
            return None
        may_block = history.outcomes(call.signature) == 1 and history.streak(call.signature) >= _SEEN
        return self.graded(count, self.thresholds(call, settings), call.signature, may_block=may_block)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count calls that were made before."""
        return Needs(Evidence.REPEATED_CALLS, self.lowest_warning(settings))

    def is_over(self, about: tuple[bytes, ...], record: CallRecord, history: History, *, changed: bool) -> bool:  # noqa: ARG002
        """End with anything new."""
        return history.stagnation == 0
