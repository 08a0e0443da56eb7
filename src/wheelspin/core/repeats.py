"""The tally of the steps that share a signature: how many there are, and how many newest outcomes are equal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.step import Step

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

    def resolve(self, step: Step) -> bool:
        """Count the outcome of a step that is newer than all resolved ones; `True` where it ended a streak."""
        self.resolved += 1
        self.newest = step.number
        if step.kind == "veto":
            self.streak += 1
            self.vetoes += 1
            return False
        changed = self.firm > 0 and (step.outcome is None or step.outcome != self.outcome)
        if changed:
            self.streak = self.vetoes + 1
            self.firm = 1
        else:
            self.streak += 1
            self.firm += 1
        self.outcome = step.outcome
        self.vetoes = 0
        return changed

    def drop(self, step: Step) -> None:
        """Take the oldest step out."""
        self.count -= 1
        if step.kind == "open":
            return
        if self.streak == self.resolved:
            self.streak -= 1
            self.firm -= step.kind != "veto"
        self.resolved -= 1
        self.vetoes = min(self.vetoes, self.resolved)
