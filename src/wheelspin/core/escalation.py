"""
The escalation: what follows from what the detectors find (SPEC 6).

Three rules hold here:

1. A critical finding comes before a warning; among warnings, the detector's rank decides.
2. A warning is given at its threshold, and again after each further `threshold` findings of its pattern; a pattern that
   has ended is warned about anew.
3. Blocked calls count. A row of them, or a pattern whose count goes on past the last threshold, ends the run.
"""

from __future__ import annotations

from wheelspin.core.advice import REMOVED
from wheelspin.core.call_record import BlockedPattern
from wheelspin.core.detectors.base import Rank, Scope
from wheelspin.core.detectors.global_circuit_breaker import GlobalCircuitBreaker
from wheelspin.core.events import VETO, Action, Finding, Level
from wheelspin.core.settings import Mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wheelspin.core.call_record import CallRecord, Link
    from wheelspin.core.detectors.base import Detector
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings
    from wheelspin.core.state import Run

__all__ = ["Escalation"]

_BREAKER = GlobalCircuitBreaker.id


class Escalation:
    """
    The detectors of one guard, and the steps from a warning to the end of a run.

    Args:
        detectors: Those that are on, in the order in which they are asked.
        settings: The agent's settings.
        crashed: Called with the id of a detector that crashed, and the exception; its finding is left out (SPEC 9).
    """

    __slots__ = ("_crashed", "_detectors", "_first", "_observes", "_rest", "_settings", "_without_needs")

    def __init__(
        self, detectors: Iterable[Detector], settings: Settings, crashed: Callable[[str, Exception], None]
    ) -> None:
        detectors = tuple(detectors)
        self._first = tuple(detector for detector in detectors if detector.rank is Rank.FIRST)
        self._rest = tuple(detector for detector in detectors if detector.rank is not Rank.FIRST)
        self._without_needs = tuple(detector for detector in detectors if detector.needs(settings) is None)
        self._detectors = {detector.id: detector for detector in detectors}
        self._observes = settings.mode is Mode.OBSERVE
        self._settings = settings
        self._crashed = crashed

    def judge(self, call: CallRecord, history: History) -> Finding | None:
        """
        Return the finding that counts for the call at hand.

        Args:
            call: The call at hand, not yet in the history.
            history: The records of its run before it.
        """
        if history.is_news(call.signature):
            return self._ask(self._without_needs, call, history) if self._without_needs else None
        finding = self._ask(self._first, call, history)
        if finding is not None:
            return finding
        blocked = history.blocked(call.signature)
        if blocked is not None:
            return blocked.finding(blocked.count + 1)
        return self._ask(self._rest, call, history)

    def escalate(self, finding: Finding, call: CallRecord, link: Link, run: Run) -> tuple[Action, Finding]:
        """
        Turn a finding into an action, and add the call to the run.

        Args:
            finding: The finding.
            call: The call at hand.
            link: How it is linked to the call before it.
            run: Its run.

        Returns:
            The action, and the finding that it rests on: that of the circuit breaker if that was tripped.
        """
        finding = self._tripped(finding, run)
        if finding.level is not Level.CRITICAL:
            run.blocked_in_a_row = 0
            run.history.append(call, link)
            about = self._of(finding.detector).about(finding, call.tool)
            is_due = run.is_warning_due((finding.detector, about), finding.threshold)
            return (Action.WARN if is_due else Action.ALLOW), finding
        run.blocks += 1
        if finding.detector == _BREAKER:
            if self._observes:
                run.history.append(call, link)
            return Action.ABORT, finding
        run.blocked_in_a_row += 1
        if not self._observes:
            self._block(call, finding, run)
        run.history.append(call, link)
        return Action.BLOCK, finding

    def outcome_recorded(self, record: CallRecord, run: Run, *, changed: bool) -> None:
        """
        Drop the patterns that have ended, so that the next of their kind is warned about anew.

        Args:
            record: A call that has just got its outcome.
            run: Its run.
            changed: Whether an earlier outcome of its signature was different.
        """
        for pattern in list(run.warned):
            detector, about = pattern
            if self._of(detector).is_over(about, record, run.history, changed=changed):
                del run.warned[pattern]

    def _ask(self, detectors: tuple[Detector, ...], call: CallRecord, history: History) -> Finding | None:
        warning, rank = None, Rank.SUPPLEMENTARY
        for detector in detectors:
            try:
                finding = detector.check(call, history, self._settings)
            except Exception as crash:
                self._crashed(detector.id, crash)
                continue
            if finding is None:
                continue
            if finding.level is Level.CRITICAL:
                return finding
            if warning is None or detector.rank < rank:
                warning, rank = finding, detector.rank
        return warning

    def _tripped(self, finding: Finding, run: Run) -> Finding:
        """Return the finding of the circuit breaker, if a finding trips it, else the finding itself (SPEC 6)."""
        threshold = self._settings.global_circuit_breaker_threshold
        if finding.detector == _BREAKER:
            return finding
        if finding.count >= threshold and self._of(finding.detector).ends_run:
            return Finding(
                _BREAKER,
                Level.CRITICAL,
                finding.count,
                threshold,
                finding.signatures,
                cause=finding.detector,
                status=finding.status,
            )
        most_blocked = threshold - self._settings.critical_threshold
        if finding.level is Level.CRITICAL and run.blocked_in_a_row >= most_blocked:
            return Finding(_BREAKER, Level.CRITICAL, run.blocked_in_a_row, most_blocked, ())
        return finding

    def _block(self, call: CallRecord, finding: Finding, run: Run) -> None:
        """Mark a call as blocked, and link it to its pattern: the one that it continues, or its own."""
        detector = self._of(finding.detector)
        signatures = finding.signatures if detector.stays_blocked else ()
        pattern = run.history.blocked(call.signature) if signatures else None
        if pattern is None:
            is_miss = detector.scope is Scope.MISSING_TOOL
            pattern = BlockedPattern(finding, signatures, run.calls, is_miss=is_miss)
        pattern.count = finding.count
        call.kind = VETO
        call.is_stale = True
        call.blocked_by = pattern
        call.similarity_key = finding.signatures[0] if detector.scope is Scope.FAILURE else None

    def _of(self, detector: str) -> Detector:
        """Return a detector by its id."""
        return self._detectors.get(detector, REMOVED)
