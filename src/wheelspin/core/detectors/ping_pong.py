"""Two calls alternate and neither brings anything new."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings

_BOTH_TWICE = 4


class PingPong(Detector):
    """
    Two calls alternate and neither brings anything new.

    What it detects:
        The newest steps alternate strictly between two different calls, and the call at hand is the one whose turn it
        is. Counted are the steps since a side last gave another outcome than before, and the call at hand. It warns at
        `warningThreshold`. It blocks both calls at `criticalThreshold`, if each of the counted steps has an outcome.

    Why it is a loop:
        Each call sends the model back to the other one. Seen alone, each is repeated half as often as it looks.

    Example:
        `(A1 B1)*10` warns at 10 and blocks at 20. `(A1 B+)*9` stays quiet.

    Options:
        `detectors.pingPong`, `warningThreshold`, `criticalThreshold`.

    Not to be confused with:
        `generic-repeat`, which counts one call, whatever came in between.

    False positives:
        Waiting for a change in two places in turn. As soon as one of them changes, the count begins anew.
    """

    __slots__ = ()

    id = "ping-pong"
    switch = "ping_pong"
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Block on full evidence, else warn (SPEC 6, rules 6 and 7)."""
        count = history.alternation(call.signature)
        warning, critical = self.limits(call, settings)
        if count < warning or history.newest is None:
            return None
        partner = history.newest.signature
        if count >= critical and count > _BOTH_TWICE and history.settled(max(critical - 1, _BOTH_TWICE)):
            return self.found(Level.CRITICAL, count, critical, call.signature, partner)
        is_known = history.settled(warning - 1)
        return self.found(Level.WARNING, count, warning, call.signature, partner, no_progress=is_known)
