"""Counts what is blocked: the patterns of the blocked calls in the history (SPEC 6, rule 3)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import BlockedPattern

__all__ = ["Blocked"]


class Blocked(dict[bytes, "BlockedPattern"]):
    """The blocked signatures of one run, each with its pattern, while a blocked call of that pattern is kept."""

    __slots__ = ("_vetoes",)

    def __init__(self) -> None:
        super().__init__()
        self._vetoes: dict[BlockedPattern, int] = {}

    def add(self, pattern: BlockedPattern) -> None:
        """Add a blocked call. If two patterns share a signature, the older one is reported."""
        self._vetoes[pattern] = self._vetoes.get(pattern, 0) + 1
        for signature in pattern.signatures:
            known = self.setdefault(signature, pattern)
            if pattern.since_call < known.since_call:
                self[signature] = pattern

    def drop(self, pattern: BlockedPattern) -> None:
        """Remove a blocked call that leaves the history."""
        self._vetoes[pattern] -= 1
        if self._vetoes[pattern]:
            return
        del self._vetoes[pattern]
        self.clear()
        for other in sorted(self._vetoes, key=lambda other: other.since_call):
            for signature in other.signatures:
                self.setdefault(signature, other)
