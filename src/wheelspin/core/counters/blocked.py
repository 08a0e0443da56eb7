"""The tally of what is blocked: the patterns of the vetoes that are in the history (SPEC 6, rule 3)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Pattern

__all__ = ["Blocked"]


class Blocked(dict[bytes, "Pattern"]):
    """The signatures of one run that are blocked, each with its pattern, for as long as a veto of that is kept."""

    __slots__ = ("_vetoes",)

    def __init__(self) -> None:
        super().__init__()
        self._vetoes: dict[Pattern, int] = {}

    def add(self, pattern: Pattern) -> None:
        """Take in a veto. Where two patterns share a signature, the older one is named."""
        self._vetoes[pattern] = self._vetoes.get(pattern, 0) + 1
        for signature in pattern.signatures:
            known = self.setdefault(signature, pattern)
            if pattern.born < known.born:
                self[signature] = pattern

    def drop(self, pattern: Pattern) -> None:
        """Take out a veto that leaves the history."""
        self._vetoes[pattern] -= 1
        if self._vetoes[pattern]:
            return
        del self._vetoes[pattern]
        self.clear()
        for other in sorted(self._vetoes, key=lambda other: other.born):
            for signature in other.signatures:
                self.setdefault(signature, other)
