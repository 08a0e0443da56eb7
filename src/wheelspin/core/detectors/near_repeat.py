"""Calls that differ in nothing but numbers all get the same answer."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding, Level
from wheelspin.core.outcome_status import SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class NearRepeat(Detector):
    """
    Calls that differ in nothing but numbers all get the same answer.

    What it detects:
        Calls of one tool in a row that are equal once their numbers are taken out, each with the same result. Results
        that tell next to nothing do not count: a number, true, an empty list, a short word such as "done". It warns at
        `warningThreshold` and never blocks.

    Why it is a loop:
        The tool says the same whatever the number is, so the number is not what it depends on.

    Example:
        `a1*12` warns at 11. `(a1 a2)*9` stays quiet.

    Options:
        `detectors.nearRepeat`, a switch or an object with `warningThreshold`.

    Not to be confused with:
        `same-failure`, which looks at failures and at any arguments.

    False positives:
        Going through a list of numbered things that all look alike. It only warns, since equal answers to different
        questions can be right.
    """

    __slots__ = ()

    id = "near-repeat"
    switch = "near_repeat"
    gives_way = True
    lasts = False
    on_news = False
    of_tool = True

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Warn by the calls in a row that have the same shape and the same result."""
        newest = history.newest
        if call.kin is None or newest is None or newest.kin != call.kin or newest.nature != SUCCESS:
            return None
        warning, _ = self.limits(call, settings)
        outcome = newest.outcome
        alike = history.newest_where(
            lambda step: step.kin == call.kin and step.outcome == outcome and step.tool == call.tool, warning
        )
        count = len(alike) + 1
        return self.found(Level.WARNING, count, warning, call.signature) if count >= warning else None
