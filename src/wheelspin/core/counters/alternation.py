"""The tally of an alternation: since when the newest steps are two calls in turn, and since when neither changed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wheelspin.core.call_record import Step

__all__ = ["SIDES", "Alternation"]

SIDES = 2


class Alternation:
    """
    The alternation that the newest steps of a history make (SPEC 6, ping-pong); its sides are odd and even numbers.

    It is told the number of the oldest step that is kept (`first`), the one that the next step will have (`after`), and
    what gives the step with a number (`at`).
    """

    __slots__ = ("_changed", "_changed_from", "_sides", "since")

    def __init__(self) -> None:
        self.since = 0
        """Number of the first of the steps that alternate."""
        self._changed = self._changed_from = -1
        self._sides: list[tuple[int, bytes | None] | None] = [None, None]

    def start(self, first: int, after: int, at: Callable[[int], Step]) -> int:
        """Give the number of the first step that counts: that of the newest change, or of the alternation."""
        start = max(self.since, first)
        if after - self.since > SIDES:
            if self._changed >= 0 and self._changed_from < first:
                self.judge_anew(first, after, at)
            start = max(start, self._changed)
        return start

    def judge(self, step: Step, first: int, after: int, at: Callable[[int], Step]) -> None:
        """Hold a step's outcome against the one before it on its side."""
        if step.kind == "veto":
            return
        before = self._sides[step.number & 1]
        if before is not None and before[0] >= step.number:
            if before[0] > step.number:
                self.judge_anew(first, after, at)
            return
        differs = before is not None and (step.outcome is None or step.outcome != before[1])
        if before is not None and differs and step.number > self._changed:
            self._changed, self._changed_from = step.number, before[0]
        self._sides[step.number & 1] = step.number, step.outcome

    def judge_anew(self, first: int, after: int, at: Callable[[int], Step]) -> None:
        """Judge all steps of the alternation anew."""
        self._changed = self._changed_from = -1
        self._sides = [None, None]
        for number in range(max(self.since, first), after):
            step = at(number)
            if step.kind != "open":
                self.judge(step, first, after, at)
