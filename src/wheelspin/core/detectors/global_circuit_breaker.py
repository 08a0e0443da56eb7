"""One call goes on without progress past every other threshold."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Level, Needs, Rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class GlobalCircuitBreaker(Detector):
    """
    One call goes on without progress past every other threshold, and the run ends.

    What it detects:
        `globalCircuitBreakerThreshold` equal outcomes in a row of one call, counting calls that were blocked. The guard
        also ends a run whose newest calls were all blocked: `globalCircuitBreakerThreshold` minus `criticalThreshold`
        of them in a row, whatever they were blocked for.

    Why it is a loop:
        A model that requests a blocked call ten more times does not read what it is told, and each turn costs money.

    Example:
        `A1*31` warns at 11, blocks from 21 on and aborts at 31.

    Options:
        `globalCircuitBreakerThreshold`. It can be raised, but not switched off.

    Not to be confused with:
        `generic-repeat`, which blocks the one call and lets the run go on.

    False positives:
        Polling a slow job while the detector of polls is off. Raise the threshold, or poll less often.
    """

    __slots__ = ()

    id = "global-circuit-breaker"
    can_switch = False
    threshold_setting = "global_circuit_breaker_threshold"
    rank = Rank.FIRST
    observation = "`{tool}` was called {count} times with the same arguments"
    no_progress = " and returned the same result each time"
    alternatives = (
        "Report what you have found so far and what is blocking you.",
        "Stop here: summarise what is done, what is not, and what you need.",
    )
    alternatives_by_status = {}

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """End the run at the threshold (SPEC 6, rule 2)."""
        threshold = settings.global_circuit_breaker_threshold
        if call.thresholds is not None and call.thresholds[1] is not None:
            threshold = max(threshold, call.thresholds[1] + 1)
        streak = history.streak(call.signature)
        return self.found(Level.CRITICAL, streak, threshold, call.signature) if streak >= threshold else None

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal calls."""
        return Needs(Evidence.EQUAL_CALLS, settings.global_circuit_breaker_threshold)

    def describe(self, finding: Finding, tool: str) -> str:
        """Describe a row of blocked calls, which has no signature, or one call that goes on."""
        if not finding.signatures:
            return f"{finding.count} calls were blocked in a row, most recently `{tool}`"
        return super().describe(finding, tool)
