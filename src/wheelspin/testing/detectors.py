"""A check that a detector does what it says, and keeps the laws that every detector keeps."""

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
_UNTOLD = ("A*60", "(A B)*30", "[A B]*30", "~A*60", "a*60")
_REST = (
    *("A1*60", "(A1 B1)*30", "a1*60", "A!*60", "a!*60", "(a! b! c!)*20", "A-*40", "A%*60", "A.*60", "?A*40", "?a*40"),
    *("A1*12 | A1*12", "A1*15 / A1*15", "A1*9 B+ A1*30", "(A1 B1)*9 C! (A1 B1)*20", "A1*25 A+ A1*25"),
)
_ALWAYS_THERE = ("global-circuit-breaker", "post-compaction-guard")
"""Ids of what a guard finds without any detector: rows of blocked calls, and loops that go on after a compaction."""


class Case(NamedTuple):
    """A trajectory, and the numbers of the calls, counted from 1, at which something is to be done."""

    play: str
    warns: Sequence[int] = ()
    blocks: Sequence[int] = ()
    aborts: Sequence[int] = ()
    settings: Settings | None = None
    """What holds, taken literally as `Guard` does; without them, the documented thresholds."""


def check_detector(detector: Detector, *cases: Case) -> None:
    """
    Check a detector, asked alone: in each case it does what the case says, and it keeps the laws of detectors.

    It crashes on no trajectory; it gives the same answers to the same history, whatever it was asked before; it stops
    no call whose outcomes change, and none whose outcomes were never told (SPEC 6.2); what it finds bears its name and
    has reached the threshold that it names.

    Args:
        detector: The detector.
        cases: What it must do, and what it must leave alone.

    Raises:
        AssertionError: It does something else; the message says at which trajectory, and what was expected.

    Example:
        >>> from wheelspin.core.detectors.generic_repeat import GenericRepeat
        >>> check_detector(GenericRepeat(), Case("A1*21", warns=[11], blocks=[21]), Case("A+*9"))
    """
    for case in cases:
        moves = _played(detector, case.play, case.settings)
        for action, wanted in (("warn", case.warns), ("block", case.blocks), ("abort", case.aborts)):
            done = [move.call for move in moves if move.verdict is not None and move.verdict.action == action]
            expect(done == list(wanted), f"{case.play}: {action} at {done}, expected {list(wanted)}")
    for trajectory in (*_CHANGING, *_UNTOLD, *_REST):
        moves = _played(detector, trajectory)
        expect(moves == _played(detector, trajectory), f"{trajectory}: played again, it gives other verdicts")
        for move in moves:
            if move.verdict is not None and move.verdict.finding is not None:
                _look(detector, f"{trajectory}, call {move.call}", move.verdict.finding)
        stopped = [move.call for move in moves if move.verdict is not None and move.verdict.stops]
        if trajectory not in _REST:
            what = "outcomes change" if trajectory in _CHANGING else "outcomes were never told"
            expect(not stopped, f"{trajectory}: it stops call {stopped[:1]}, though its {what}")


def _played(detector: Detector, trajectory: str, settings: Settings | None = None) -> list[Played]:
    try:
        with strict():
            return play(trajectory, settings, detectors=[detector])
    except Exception as crash:
        raise AssertionError(f"{trajectory}: it crashes with {crash!r}") from crash


def _look(detector: Detector, where: str, finding: Finding) -> None:
    expect(
        finding.detector in {detector.id, *_ALWAYS_THERE},
        f"{where}: what it found bears the name {finding.detector!r}, expected {detector.id!r}",
    )
    expect(finding.count >= finding.threshold, f"{where}: {finding.count} is below its threshold {finding.threshold}")
