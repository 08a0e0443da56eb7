"""
The ladder: what follows from what the detectors see (SPEC 6).

`judge` asks them and takes the first match. `climb` turns the finding into an action and writes it into the run: how
often a warning is said, what stays blocked, when a row of blocked calls ends the run.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Finding, Level
from wheelspin.core.step import UNKNOWN_TOOL, Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wheelspin.core.detector import Detector
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings
    from wheelspin.core.state import Run
    from wheelspin.core.step import Step

__all__ = ["Ladder"]

_BREAKER = "global-circuit-breaker"


class Ladder:
    """
    The detectors of one guard, in the order in which they are asked, and the rungs that their findings lead to.

    Args:
        detectors: Those that are on.
        settings: What holds for the agent.
        crashed: Told the id of a detector that crashed, and its crash; the detector is left out (SPEC 9).
    """

    __slots__ = ("_counting", "_crashed", "_first", "_on_news", "_rest", "_settings")

    def __init__(
        self, detectors: Iterable[Detector], settings: Settings, crashed: Callable[[str, Exception], None]
    ) -> None:
        detectors = tuple(detectors)
        self._first = tuple(detector for detector in detectors if detector.first)
        self._rest = tuple(detector for detector in detectors if not detector.first)
        self._on_news = tuple(detector for detector in detectors if detector.on_news)
        self._counting = frozenset(detector.id for detector in detectors if detector.counts_calls)
        self._settings = settings
        self._crashed = crashed

    def judge(self, call: Step, history: History) -> Finding | None:
        """
        Give the finding that counts for the call at hand.

        A critical finding comes before a warning; of the warnings, one that looks at outcomes comes before one that
        only counts calls (SPEC 6 and 11.4).

        Args:
            call: The call at hand, not yet in the history.
            history: The steps of its run before it.
        """
        if history.is_news(call.signature):
            return self._ask(self._on_news, call, history) if self._on_news else None
        finding = self._ask(self._first, call, history)
        if finding is not None:
            return finding
        blocked = history.blocked(call.signature)
        if blocked is not None:
            count = blocked.count + 1
            return Finding(blocked.detector, Level.CRITICAL, count, blocked.threshold, blocked.signatures)
        return self._ask(self._rest, call, history)

    def _ask(self, detectors: tuple[Detector, ...], call: Step, history: History) -> Finding | None:
        warning = None
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
            if warning is None or warning.detector in self._counting:
                warning = finding
        return warning

    def climb(self, finding: Finding, call: Step, run: Run) -> tuple[Action, Finding]:
        """
        Turn a finding into an action, and write the call into the run.

        Returns:
            The action, and the finding that it rests on: that of the breaker where a row of vetoes trips it.
        """
        if finding.level is not Level.CRITICAL:
            run.vetoes = 0
            run.history.append(call)
            return (Action.WARN if _is_said(finding, run) else Action.ALLOW), finding
        in_a_row = self._settings.critical_threshold + run.vetoes
        limit = self._settings.global_circuit_breaker_threshold
        if finding.detector != _BREAKER and in_a_row >= limit:
            finding = Finding(_BREAKER, Level.CRITICAL, in_a_row, limit, ())
        run.blocks += 1
        if finding.detector == _BREAKER:
            return Action.ABORT, finding
        call.kind = "veto"
        call.pattern = _pattern(finding, call, run)
        run.vetoes += 1
        run.history.append(call)
        return Action.BLOCK, finding

    def progressed(self, signature: bytes, run: Run) -> None:
        """Let patterns of a call be warned about anew: its outcome changed, so the next time is another story."""
        over = [pattern for pattern in run.said if signature in pattern[1] and pattern[0] not in self._counting]
        for pattern in over:
            del run.said[pattern]


def _pattern(finding: Finding, call: Step, run: Run) -> Pattern:
    """Give the pattern that a veto belongs to: the one that is blocked already, or a new one."""
    if finding.detector == UNKNOWN_TOOL:
        return Pattern(finding.detector, finding.threshold, (), finding.count, run.calls)
    pattern = run.history.blocked(call.signature)
    if pattern is None:
        return Pattern(finding.detector, finding.threshold, finding.signatures, finding.count, run.calls)
    pattern.count = finding.count
    return pattern


def _is_said(finding: Finding, run: Run) -> bool:
    """Tell whether a warning is said now: at the threshold, and after each `threshold` times that it was not."""
    unsaid = run.said.get(finding.pattern)
    if unsaid is not None and unsaid + 1 < finding.threshold:
        run.said[finding.pattern] = unsaid + 1
        return False
    run.said[finding.pattern] = 0
    if len(run.said) > run.history.size:
        del run.said[next(iter(run.said))]
    run.warnings += 1
    return True
