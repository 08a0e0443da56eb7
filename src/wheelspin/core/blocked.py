"""The tally of what is blocked: the patterns of the vetoes that are in the history (SPEC 6, rule 3)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.step import Pattern

__all__ = ["Blocked"]


class Blocked:
    """The blocked patterns of one run, each for as long as a veto of it is kept."""

    __slots__ = ("_signatures", "_vetoes")

    def __init__(self) -> None:
        self._vetoes: dict[Pattern, int] = {}
        self._signatures: dict[bytes, Pattern] = {}

    def __bool__(self) -> bool:
        return bool(self._signatures)

    def of(self, signature: bytes) -> Pattern | None:
        """Give the pattern that blocks a signature."""
        return self._signatures.get(signature)

    def add(self, pattern: Pattern) -> None:
        """Take in a veto. Where two patterns share a signature, the older one is named."""
        self._vetoes[pattern] = self._vetoes.get(pattern, 0) + 1
        for signature in pattern.signatures:
            known = self._signatures.setdefault(signature, pattern)
            if pattern.born < known.born:
                self._signatures[signature] = pattern

    def drop(self, pattern: Pattern) -> None:
        """Take out a veto that leaves the history."""
        self._vetoes[pattern] -= 1
        if self._vetoes[pattern]:
            return
        del self._vetoes[pattern]
        self._signatures = {}
        for other in sorted(self._vetoes, key=lambda other: other.born):
            for signature in other.signatures:
                self._signatures.setdefault(signature, other)
