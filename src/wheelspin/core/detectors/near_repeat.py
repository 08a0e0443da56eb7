"""Calls that differ only in numbers all get the same result."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Level, Needs, Scope
from wheelspin.core.outcome_status import SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class NearRepeat(Detector):
    """
    Calls that differ only in numbers all get the same result.

    What it detects:
        Calls of one tool in a row that are equal once their numbers are removed, each with the same result. Results
        that say next to nothing do not count: a number, true, an empty list, a short word such as "done". It warns at
        `warningThreshold` and never blocks.

    Why it is a loop:
        The tool answers the same whatever the number is, so the answer does not depend on the number.

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
    default_thresholds = {"early": (8, 10)}
    scope = Scope.TOOL
    observation = "`{tool}` was called {count} times in a row with arguments that differ only in numbers"
    no_progress = " and returned the same result each time"
    alternatives = (
        "The result does not depend on that number: ask for something else, or use the result you have.",
        "Change more than the number in your call, or go on without it.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Warn by the calls in a row with the same similarity and the same result."""
        newest, key = history.newest, call.similarity_key
        if newest is None or key is None or newest.similarity_key != key:
            return None
        if newest.status is not SUCCESS:
            return None
        warning, _ = self.thresholds(call, settings)
        outcome, tool = newest.outcome, call.tool
        alike = history.newest_where(
            lambda record: record.similarity_key == key and record.outcome == outcome and record.tool == tool, warning
        )
        count = len(alike) + 1
        return self.found(Level.WARNING, count, warning, call.signature) if count >= warning else None

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal results; the first of the calls has none to be equal to."""
        return Needs(Evidence.EQUAL_RESULTS, self.lowest_warning(settings) - 1)

    def is_over(self, about: tuple[bytes, ...], record: CallRecord, history: History, *, changed: bool) -> bool:  # noqa: ARG002
        """End with a result of the tool that resembles nothing."""
        return about == (record.tool.encode("utf-8", "surrogatepass"),) and record.similarity_key is None
