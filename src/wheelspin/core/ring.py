"""The newest call records of one run, in a ring of fixed size."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wheelspin.core.call_record import CallRecord

__all__ = ["Ring"]


class Ring:
    """
    The newest call records of one run, by number: records are numbered from 0 as their calls are requested.

    Args:
        size: Number of records that are kept.
    """

    __slots__ = ("_ring", "newest", "next", "size")

    size: int
    """Number of records that are kept."""
    next: int
    """Number of the next record."""
    newest: CallRecord | None
    """The record that was added last."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._clear()

    def _clear(self) -> None:
        self.next = 0
        self.newest = None
        self._ring: list[CallRecord] = []

    def __len__(self) -> int:
        return len(self._ring)

    def __iter__(self) -> Iterator[CallRecord]:
        """Yield the records, oldest first."""
        split = self.next % self.size if len(self._ring) == self.size else 0
        yield from self._ring[split:]
        yield from self._ring[:split]

    def __reversed__(self) -> Iterator[CallRecord]:
        """Yield the records, newest first."""
        return map(self._at, range(self.next - 1, self.first - 1, -1))

    @property
    def first(self) -> int:
        """Number of the oldest record."""
        return self.next - len(self._ring)

    def before(self, record: CallRecord) -> CallRecord | None:
        """Return the record before a record of this ring."""
        return self._at(record.number - 1) if record.number > self.first else None

    def newest_where(self, holds: Callable[[CallRecord], bool], most: int) -> list[CallRecord]:
        """
        Return the newest records with an outcome for which a condition holds, newest first.

        Args:
            holds: The condition. The first record for which it does not hold ends the row.
            most: Number of records after which to stop.
        """
        found: list[CallRecord] = []
        for number in range(self.next - 1, max(self.first, self.next - most) - 1, -1):
            record = self._at(number)
            if record.kind is None:
                continue
            if not holds(record):
                break
            found.append(record)
        return found

    def all_resolved(self, count: int) -> bool:
        """Return whether the newest `count` records all have an outcome."""
        numbers = range(self.next - 1, self.next - 1 - count, -1)
        return count <= len(self._ring) and all(self._at(number).kind is not None for number in numbers)

    def _holds(self, record: CallRecord | None) -> bool:
        return record is not None and self.first <= record.number < self.next and self._at(record.number) is record

    def _at(self, number: int) -> CallRecord:
        return self._ring[number % self.size]

    def _after(self, record: CallRecord) -> Iterator[CallRecord]:
        """Yield the records after a record."""
        return map(self._at, range(record.number + 1, self.next))
