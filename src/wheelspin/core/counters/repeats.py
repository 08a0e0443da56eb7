"""The tallies of signatures: how many steps each has, and what their outcomes are."""

from __future__ import annotations

from wheelspin.core.outcome_status import FAILED, SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wheelspin.core.call_record import Step

    Remembered = tuple[bytes, int, bytes | None, str]

__all__ = ["Repeats", "Tallies"]


class Repeats:
    """The tally of a signature that more than one step has."""

    __slots__ = (
        "count",
        "failures",
        "firm",
        "group",
        "nature",
        "newest",
        "outcome",
        "outcomes",
        "resolved",
        "streak",
        "vetoes",
    )

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
        self.outcomes: dict[bytes | None, int] = {}
        """The outcomes in the ring, each with how often it is there."""
        self.nature = ""
        """The nature of the newest outcome that is no veto."""
        self.failures = 0
        """Newest failures with equal outcomes and the vetoes between them, those that left the ring included."""
        self.group = -1
        """The group of the newest of these."""

    def resolve(self, step: Step, changed_at: int) -> bool:
        """
        Count the outcome of a step that is newer than all resolved ones.

        Args:
            step: The step.
            changed_at: Number of the newest step that is declared to have changed something: failures before it are
                another story.

        Returns:
            Whether it ended a streak.
        """
        before = self.newest
        self.resolved += 1
        self.newest = step.number
        if step.kind == "veto":
            self.streak += 1
            self.vetoes += 1
            self.failures += self.failures > 0
            return False
        outcome = step.outcome
        equal = outcome is not None and outcome == self.outcome
        changed = self.firm > 0 and not equal
        anew = self.firm > 0 and before < changed_at < step.number and self.nature in FAILED
        if changed or anew:
            self.streak = self.vetoes + 1
            self.firm = 1
        else:
            self.streak += 1
            self.firm += 1
        if step.nature not in FAILED:
            self.failures = 0
        elif not equal or anew or not self.failures:
            self.failures = 1
        elif step.group != self.group:
            self.failures += 1
        self.group = step.group
        self.nature = step.nature
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.outcome = outcome
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
        if step.kind != "veto":
            self.outcomes[step.outcome] -= 1
            if not self.outcomes[step.outcome]:
                del self.outcomes[step.outcome]


class Tallies(dict[bytes, "Step | Repeats"]):
    """The signatures of one run: each with its one step, or with the tally of those that share it."""

    __slots__ = ("mutated",)

    def __init__(self) -> None:
        super().__init__()
        self.mutated = -1
        """Number of the newest step that is declared to have changed something: what failed before is free."""

    def repeats(self, signature: bytes) -> int:
        """Count the steps of a signature, whatever their outcomes."""
        tally = self.get(signature)
        if tally is None:
            return 0
        return tally.count if isinstance(tally, Repeats) else 1

    def streak(self, signature: bytes) -> int:
        """Count the newest outcomes of a signature that are equal."""
        tally = self.get(signature)
        if tally is None:
            return 0
        if isinstance(tally, Repeats):
            is_over = self.mutated > tally.newest and tally.firm > 0 and tally.nature in FAILED
            return 0 if is_over else tally.streak
        is_over = self.mutated > tally.number and tally.nature in FAILED
        return int(tally.kind != "open" and not is_over)

    def nature(self, signature: bytes) -> str:
        """Give the nature of the newest outcome of a signature."""
        tally = self.get(signature)
        return SUCCESS if tally is None else tally.nature

    def outcomes(self, signature: bytes) -> int:
        """Count the different outcomes of a signature."""
        tally = self.get(signature)
        if isinstance(tally, Repeats):
            return len(tally.outcomes)
        return int(tally is not None and tally.kind not in {"open", "veto"})

    def failures(self, signature: bytes) -> int:
        """Count the newest equal failures of a signature, those that left the history since included."""
        tally = self.get(signature)
        if isinstance(tally, Repeats) and self.mutated <= tally.newest:
            return tally.failures
        return int(self.streak(signature) > 0 and self.nature(signature) in FAILED)

    def vetoed(self, signature: bytes) -> int:
        """Give the number of the newest outcome of a signature if it is a veto, else -1."""
        tally = self.get(signature)
        if isinstance(tally, Repeats):
            return tally.newest if tally.vetoes else -1
        return tally.number if tally is not None and tally.kind == "veto" else -1

    def has_open(self, signature: bytes) -> bool:
        """Tell whether a step of a signature has no outcome yet."""
        tally = self.get(signature)
        if isinstance(tally, Repeats):
            return tally.count > tally.resolved
        return tally is not None and tally.kind == "open"

    def share(self, step: Step) -> None:
        """Add a step to the tally of its signature, which begins with the second one."""
        known = self[step.signature]
        tally = known if isinstance(known, Repeats) else self._begin(known)
        tally.count += 1

    def drop(self, step: Step) -> None:
        """Take the oldest step out."""
        tally = self[step.signature]
        if isinstance(tally, Repeats):
            tally.drop(step)
            if tally.count:
                return
        del self[step.signature]

    def recount(self, tally: Repeats, signature: bytes, steps: Iterable[Step]) -> bool:
        """Count a signature's outcomes anew: one came after that of a later call; `True` where it ended a streak."""
        streak = tally.streak
        tally.clear()
        for step in steps:
            if step.signature == signature and step.kind != "open":
                tally.resolve(step, self.mutated)
        return tally.streak <= streak

    def memory(self) -> list[Remembered]:
        """Give the failures that are counted, beyond what the steps tell: signature, count, outcome, nature."""
        tallies = [
            (signature, tally) for signature, tally in self.items() if isinstance(tally, Repeats) and tally.failures
        ]
        return sorted((signature, tally.failures, tally.outcome, tally.nature) for signature, tally in tallies)

    def remember(self, memory: Iterable[Remembered]) -> None:
        """Take over what `memory` gave."""
        for signature, count, outcome, nature in memory:
            known = self.get(signature)
            if known is not None:
                tally = known if isinstance(known, Repeats) else self._begin(known)
                tally.failures, tally.outcome, tally.nature = count, outcome, nature

    def _begin(self, first: Step) -> Repeats:
        """Begin the tally of a signature with the one step that it has."""
        tally = Repeats()
        tally.count = 1
        self[first.signature] = tally
        if first.kind != "open":
            tally.resolve(first, self.mutated)
        return tally
