"""Counts an alternation: since when the newest calls are two in turn, and since when neither outcome changed."""

from __future__ import annotations

from wheelspin.core.events import VETO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wheelspin.core.call_record import CallRecord

__all__ = ["SIDES", "Alternation"]

SIDES = 2


class Alternation:
    """
    The alternation at the end of a history (SPEC 6, ping-pong). Its sides are the odd and the even numbers.

    Its methods take the number of the oldest record that is kept (`first`), the number of the next record (`after`),
    and a function that returns the record with a number (`at`).
    """

    __slots__ = ("_changed", "_changed_from", "_sides", "since")

    def __init__(self) -> None:
        self.since = 0
        """Number of the first record that alternates."""
        self._changed = self._changed_from = -1
        self._sides: list[tuple[int, bytes | None] | None] = [None, None]

    def start(self, first: int, after: int, at: Callable[[int], CallRecord]) -> int:
        """Return the number of the first record that counts: the newest change, or the start of the alternation."""
        start = max(self.since, first)
        if after - self.since > SIDES:
            if self._changed >= 0 and self._changed_from < first:
                self.judge_again(first, after, at)
            start = max(start, self._changed)
        return start

    def judge(self, record: CallRecord, first: int, after: int, at: Callable[[int], CallRecord]) -> None:
        """Compare an outcome with the one before it on its side."""
        if record.kind is VETO:
            return
        before = self._sides[record.number & 1]
        if before is not None and before[0] >= record.number:
            if before[0] > record.number:
                self.judge_again(first, after, at)
            return
        differs = before is not None and (record.outcome is None or record.outcome != before[1])
        if before is not None and differs and record.number > self._changed:
            self._changed, self._changed_from = record.number, before[0]
        self._sides[record.number & 1] = record.number, record.outcome

    def judge_again(self, first: int, after: int, at: Callable[[int], CallRecord]) -> None:
        """Judge all records of the alternation again."""
        self._changed = self._changed_from = -1
        self._sides = [None, None]
        for number in range(max(self.since, first), after):
            record = at(number)
            if record.kind is not None:
                self.judge(record, first, after, at)
