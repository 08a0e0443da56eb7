"""Two calls alternate and neither brings anything new."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Level, Needs, Rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


_BOTH_TWICE = 4


class PingPong(Detector):
    """
    Two calls alternate and neither brings anything new.

    What it detects:
        The newest calls alternate strictly between two different ones, and it is the turn of the call at hand. Calls
        are counted from the last time that either side had a different outcome, including the call at hand. It warns at
        `warningThreshold`. It blocks both calls at `criticalThreshold`, if each of the counted calls has an outcome.

    Why it is a loop:
        Each call sends the model back to the other one. Seen alone, each is repeated half as often as it looks.

    Example:
        `(A1 B1)*10` warns at 10 and blocks at 20. `(A1 B+)*9` stays quiet.

    Options:
        `detectors.pingPong`, `warningThreshold`, `criticalThreshold`.

    Not to be confused with:
        `generic-repeat`, which counts one call, whatever came in between.

    False positives:
        Waiting for a change in two places in turn. As soon as one of them changes, the count starts again.
    """

    __slots__ = ()

    id = "ping-pong"
    default_thresholds = {"early": (5, 7)}
    rank = Rank.OUTCOMES
    stays_blocked = True
    ends_on_change = True
    observation = "`{tool}` and another call have alternated {count} times"
    no_progress = " and neither brought anything new"
    alternatives = (
        "Step back and try an approach that uses neither of these two calls.",
        "Take both results as they are, decide between them, and go on from there.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Block on full evidence, else warn (SPEC 6, rules 6 and 7)."""
        count = history.alternation(call.signature)
        warning, critical = self.thresholds(call, settings)
        if count < warning or history.newest is None:
            return None
        partner = history.newest.signature
        if count >= critical and count > _BOTH_TWICE and history.all_resolved(max(critical - 1, _BOTH_TWICE)):
            return self.found(Level.CRITICAL, count, critical, call.signature, partner)
        is_known = history.all_resolved(warning - 1)
        return self.found(Level.WARNING, count, warning, call.signature, partner, no_progress=is_known)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal calls: half of those before the call at hand."""
        before = self.lowest_warning(settings) - 1
        return Needs(Evidence.EQUAL_CALLS, before // 2, calls=before)
