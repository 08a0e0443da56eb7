"""One call goes on without progress past every other limit."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class GlobalCircuitBreaker(Detector):
    """
    One call goes on without progress past every other limit, and the run ends.

    What it detects:
        `globalCircuitBreakerThreshold` equal outcomes in a row of one call, vetoes included. The guard also ends a run
        whose newest steps are nothing but vetoes, `globalCircuitBreakerThreshold` less `criticalThreshold` of them.

    Why it is a loop:
        A model that asks for a blocked call ten times over does not read what it is told, and each turn costs money.

    Example:
        `A1*31` warns at 11, blocks from 21 on and aborts at 31.

    Options:
        `globalCircuitBreakerThreshold`. It cannot be switched off by `detectors`, only raised.

    Not to be confused with:
        `generic-repeat`, which blocks the one call and lets the run go on.

    False positives:
        Polling for something slow, where the detector of polls is off: raise the threshold, or the poll's interval.
    """

    __slots__ = ()

    id = "global-circuit-breaker"
    first = True
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """End the run at the threshold (SPEC 6, rule 2)."""
        limit = settings.global_circuit_breaker_threshold
        if call.limits is not None and call.limits[1] is not None:
            limit = max(limit, call.limits[1] + 1)
        streak = history.streak(call.signature)
        return self.found(Level.CRITICAL, streak, limit, call.signature) if streak >= limit else None
