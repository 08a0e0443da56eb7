"""Check that a detector does what its cases say and keeps the laws of all detectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wheelspin.core.detectors.base import Detector
from wheelspin.core.events import Finding
from wheelspin.core.settings import Settings
from wheelspin.notation import Played, play
from wheelspin.testing.crashes import strict
from wheelspin.testing.expect import expect

__all__ = ["Case", "check_detector"]

_CHANGING = ("A+*60", "(A+ B+)*30", "[A+ B+]*30", "~A+*60", "(A+ B+ C+)*20", "a+*60")
_UNANSWERED = ("A*60", "(A B)*30", "[A B]*30", "~A*60", "a*60")
_OTHERS = (
    *("A1*60", "(A1 B1)*30", "a1*60", "A!*60", "a!*60", "(a! b! c!)*20", "A-*40", "A%*60", "A.*60", "?A*40", "?a*40"),
    *("A1*12 | A1*12", "A1*15 / A1*15", "A1*9 B+ A1*30", "(A1 B1)*9 C! (A1 B1)*20", "A1*25 A+ A1*25"),
)
_GUARD_IDS = ("global-circuit-breaker", "post-compaction-guard")
"""Ids that a guard reports without any detector: too many blocked calls, and loops that outlast a compaction."""


class Case(NamedTuple):
    """A trajectory, and the calls, numbered from 1, at which the detector must act."""

    play: str
    warns: Sequence[int] = ()
    blocks: Sequence[int] = ()
    aborts: Sequence[int] = ()
    settings: Settings | None = None
    """Settings, applied literally as `Guard` does; by default the documented thresholds."""


def check_detector(detector: Detector, *cases: Case) -> None:
    """
    Check a detector on its own: it acts as each case says, and it keeps the laws of detectors.

    A detector never crashes, and gives the same answers to the same history, no matter what it was asked before. It
    does not stop a call whose outcomes change or were never recorded. Its findings carry its id and have reached the
    threshold that they name.

    Args:
        detector: The detector.
        cases: Trajectories, with the calls at which the detector must act. It must not act at any other call.

    Raises:
        AssertionError: The detector does something else. The message names the trajectory and what was expected.

    Example:
        >>> from wheelspin.core.detectors.generic_repeat import GenericRepeat
        >>> check_detector(GenericRepeat(), Case("A1*21", warns=[11], blocks=[21]), Case("A+*9"))
    """
    for case in cases:
        moves = _played(detector, case.play, case.settings)
        for action, expected in (("warn", case.warns), ("block", case.blocks), ("abort", case.aborts)):
            found = [move.call for move in moves if move.verdict is not None and move.verdict.action == action]
            expect(found == list(expected), f"{case.play}: {action} at {found}, expected {list(expected)}")
    for trajectory in (*_CHANGING, *_UNANSWERED, *_OTHERS):
        moves = _played(detector, trajectory)
        expect(moves == _played(detector, trajectory), f"{trajectory}: a second run gives different verdicts")
        for move in moves:
            if move.verdict is not None and move.verdict.finding is not None:
                _check_finding(detector, f"{trajectory}, call {move.call}", move.verdict.finding)
        stopped = [move.call for move in moves if move.verdict is not None and move.verdict.stops]
        if trajectory not in _OTHERS:
            why = "its outcomes change" if trajectory in _CHANGING else "its outcomes were never recorded"
            expect(not stopped, f"{trajectory}: the detector stops call {next(iter(stopped), '')}, although {why}")


def _played(detector: Detector, trajectory: str, settings: Settings | None = None) -> list[Played]:
    try:
        with strict():
            return play(trajectory, settings, detectors=[detector])
    except Exception as crash:
        raise AssertionError(f"{trajectory}: the detector crashes with {crash!r}") from crash


def _check_finding(detector: Detector, where: str, finding: Finding) -> None:
    expect(
        finding.detector in {detector.id, *_GUARD_IDS},
        f"{where}: the finding carries the id {finding.detector!r}, expected {detector.id!r}",
    )
    expect(
        finding.count >= finding.threshold,
        f"{where}: the finding's count {finding.count} is below its threshold {finding.threshold}",
    )
