"""The tally of the steps that share a signature: how many there are, and how many newest outcomes are equal."""

from __future__ import annotations

__all__ = ["Repeats"]


class Repeats:
    """The tally of a signature that more than one step has."""

    __slots__ = ("count", "firm", "newest", "outcome", "resolved", "streak", "vetoes")

    def __init__(self) -> None:
        self.count = 0
        """Steps in the ring."""
        self.clear()

    def clear(self) -> None:
        """Forget the outcomes."""
        self.resolved = 0
        """Of these, with an outcome."""
        self.streak = 0
        """Newest resolved steps with equal outcomes; a veto is equal to all."""
        self.firm = 0
        """Of these, no vetoes."""
        self.outcome: bytes | None = None
        """The outcome that they share, while `firm` is not 0."""
        self.vetoes = 0
        """Newest resolved steps that are vetoes."""
        self.newest = -1
        """Number of the newest resolved step."""

    def resolve(self, number: int, kind: str, outcome: bytes | None) -> bool:
        """Count the outcome of a step that is newer than all resolved ones; `True` where it ended a streak."""
        self.resolved += 1
        self.newest = number
        if kind == "veto":
            self.streak += 1
            self.vetoes += 1
            return False
        changed = self.firm > 0 and (outcome is None or outcome != self.outcome)
        if changed:
            self.streak = self.vetoes + 1
            self.firm = 1
        else:
            self.streak += 1
            self.firm += 1
        self.outcome = outcome
        self.vetoes = 0
        return changed

    def drop(self, kind: str) -> None:
        """Take the oldest step out, which is of this kind."""
        self.count -= 1
        if kind == "open":
            return
        if self.streak == self.resolved:
            self.streak -= 1
            self.firm -= kind != "veto"
        self.resolved -= 1
        self.vetoes = min(self.vetoes, self.resolved)
