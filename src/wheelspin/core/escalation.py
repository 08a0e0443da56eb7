"""
The ladder: what follows from what the detectors see (SPEC 6).

`judge` asks them and takes the first match. `climb` turns the finding into an action and writes it into the run: how
often a warning is said, what stays blocked, when a row of blocked calls ends the run.
"""

from __future__ import annotations

from wheelspin.core.call_record import Pattern
from wheelspin.core.detectors.base import Detector
from wheelspin.core.events import Action, Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings
    from wheelspin.core.state import Run

__all__ = ["Escalation"]

_BREAKER = "global-circuit-breaker"
_PLAIN = Detector()


class Escalation:
    """
    The detectors of one guard, in the order in which they are asked, and the rungs that their findings lead to.

    Args:
        detectors: Those that are on.
        settings: What holds for the agent.
        crashed: Told the id of a detector that crashed, and its crash; the detector is left out (SPEC 9).
    """

    __slots__ = ("_crashed", "_detectors", "_first", "_observes", "_on_news", "_rest", "_settings")

    def __init__(
        self, detectors: Iterable[Detector], settings: Settings, crashed: Callable[[str, Exception], None]
    ) -> None:
        detectors = tuple(detectors)
        self._first = tuple(detector for detector in detectors if detector.first)
        self._rest = tuple(detector for detector in detectors if not detector.first)
        self._on_news = tuple(detector for detector in detectors if detector.on_news)
        self._detectors = {detector.id: detector for detector in detectors}
        self._observes = settings.mode == "observe"
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
            return blocked.finding(blocked.count + 1)
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
            if warning is None or (self._of(warning.detector).counts_calls and not detector.gives_way):
                warning = finding
        return warning

    def climb(self, finding: Finding, call: Step, bond: int, run: Run) -> tuple[Action, Finding]:
        """
        Turn a finding into an action, and write the call into the run.

        Args:
            finding: What was found.
            call: The call at hand.
            bond: How it belongs to the step before it (`History.append`).
            run: Its run.

        Returns:
            The action, and the finding that it rests on: that of the breaker where a row of vetoes trips it.
        """
        finding = self._tripped(finding, run)
        if finding.level is not Level.CRITICAL:
            run.vetoes = 0
            run.history.append(call, bond)
            return (Action.WARN if _is_said(finding, self._pattern(finding, call.tool), run) else Action.ALLOW), finding
        run.blocks += 1
        if finding.detector == _BREAKER:
            if self._observes:
                run.history.append(call, bond)
            return Action.ABORT, finding
        run.vetoes += 1
        if not self._observes:
            call.kind = "veto"
            call.is_stale = True
            call.pattern = self._blocking(finding, call, run)
            call.kin = finding.signatures[0] if self._of(finding.detector).of_failure else None
        run.history.append(call, bond)
        return Action.BLOCK, finding

    def _tripped(self, finding: Finding, run: Run) -> Finding:
        """Give what the breaker says to a finding, where it says something (SPEC 6)."""
        limit = self._settings.global_circuit_breaker_threshold
        if finding.detector == _BREAKER:
            return finding
        if finding.count >= limit and self._of(finding.detector).ends_run:
            cause, nature = finding.detector, finding.nature
            signatures = finding.signatures
            return Finding(_BREAKER, Level.CRITICAL, finding.count, limit, signatures, cause=cause, nature=nature)
        in_a_row = self._settings.critical_threshold + run.vetoes
        if finding.level is Level.CRITICAL and in_a_row >= limit:
            return Finding(_BREAKER, Level.CRITICAL, in_a_row, limit, ())
        return finding

    def settled(self, step: Step, run: Run, *, changed: bool) -> None:
        """
        Let what is over be warned about anew: the next time it is another story.

        Args:
            step: A step that has its outcome now.
            run: Its run.
            changed: Whether an earlier outcome of its signature was another one.
        """
        history = run.history
        is_news = history.stagnation == 0
        over = []
        for pattern in run.said:
            detector = self._of(pattern[0])
            if detector.counts_calls:
                continue
            if detector.of_failure:
                is_over = not history.still_fails(pattern[1][0])
            elif detector.of_tool:
                is_over = pattern[1] == (step.tool.encode(),) and step.kin is None
            else:
                is_own = step.signature in pattern[1]
                is_over = changed if is_own else is_news and detector.until_news
            if is_over:
                over.append(pattern)
        for pattern in over:
            del run.said[pattern]

    def _of(self, detector: str) -> Detector:
        """Give a detector by its id; a plain one for what an earlier guard had and this one has not."""
        return self._detectors.get(detector, _PLAIN)

    def _pattern(self, finding: Finding, tool: str) -> tuple[str, tuple[bytes, ...]]:
        """Give what is the same in all findings of what counts as one pattern."""
        detector = self._of(finding.detector)
        if detector.of_run:
            return finding.detector, ()
        return (finding.detector, (tool.encode(),)) if detector.of_tool else finding.pattern

    def _blocking(self, finding: Finding, call: Step, run: Run) -> Pattern:
        """Give the pattern that a veto belongs to: the one that is blocked already, or a new one."""
        signatures = finding.signatures if self._of(finding.detector).lasts else ()
        known = run.history.blocked(call.signature) if signatures else None
        if known is None:
            return Pattern(
                finding.detector, finding.threshold, signatures, finding.count, run.calls, nature=finding.nature
            )
        known.count = finding.count
        return known


def _is_said(finding: Finding, pattern: tuple[str, tuple[bytes, ...]], run: Run) -> bool:
    """Tell whether a warning is said now: at the threshold, and after each `threshold` times that it was not."""
    unsaid = run.said.get(pattern)
    if unsaid is not None and unsaid + 1 < finding.threshold:
        run.said[pattern] = unsaid + 1
        return False
    run.said[pattern] = 0
    if len(run.said) > run.history.size:
        del run.said[next(iter(run.said))]
    run.warnings += 1
    return True
