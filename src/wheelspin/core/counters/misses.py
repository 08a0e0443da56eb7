"""Counts missing tools: how many times each was missing since it last worked (SPEC 6, rule 1)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wheelspin.core.call_record import CallRecord

__all__ = ["Misses"]


class Misses(dict[str, list[int]]):
    """The misses of one run: the numbers of their records, by the name of the tool."""

    __slots__ = ()

    def of(self, tool: str) -> int:
        """Return the number of misses of a tool."""
        return len(self.get(tool, ()))

    def resolve(self, record: CallRecord, newer: Iterable[CallRecord]) -> None:
        """
        Count a miss, or drop the misses of a tool that worked.

        Args:
            record: A call with its outcome.
            newer: The records after it.
        """
        if record.is_miss:
            if not any(other.tool == record.tool and other.found_its_tool for other in newer):
                numbers = self.setdefault(record.tool, [])
                numbers.append(record.number)
                numbers.sort()
        elif record.tool in self and record.found_its_tool:
            self._keep(record.tool, record.number)

    def drop(self, record: CallRecord) -> None:
        """Remove a record that leaves the history."""
        if record.is_miss and record.tool in self:
            self._keep(record.tool, record.number)

    def _keep(self, tool: str, since: int) -> None:
        """Keep only the misses of a tool after a number."""
        self[tool] = [number for number in self[tool] if number > since]
        if not self[tool]:
            del self[tool]
