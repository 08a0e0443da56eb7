"""Counts calls by signature: how many each has, and what their outcomes are."""

from __future__ import annotations

from operator import itemgetter

from wheelspin.core.events import VETO
from wheelspin.core.outcome_status import FAILED, SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.outcome_status import OutcomeStatus

    CarriedCount = tuple[bytes, int, bytes | None, OutcomeStatus, CallRecord | None]
    """A signature, its failures, their outcome, their status, and a record of the group of the newest failure."""

__all__ = ["CallCounter", "CallCounters"]


class CallCounter:
    """The counts of a signature that more than one record has."""

    __slots__ = (
        "blocked",
        "count",
        "failures",
        "group",
        "newest",
        "outcome",
        "outcomes",
        "ran",
        "resolved",
        "status",
        "streak",
    )

    def __init__(self) -> None:
        self.count = 0
        """Records in the history."""
        self.clear()

    def clear(self) -> None:
        """Drop the counts of outcomes."""
        self.resolved = 0
        """Of these, records with an outcome."""
        self.streak = 0
        """Newest records with equal outcomes; a blocked call equals any outcome."""
        self.ran = 0
        """Of these, calls that ran."""
        self.outcome: bytes | None = None
        """The outcome that they share, unless `ran` is 0."""
        self.blocked = 0
        """Newest records that were blocked."""
        self.newest = -1
        """Number of the newest record with an outcome."""
        self.outcomes: dict[bytes | None, int] = {}
        """The outcomes in the history, each with its number of records."""
        self.status: OutcomeStatus = SUCCESS
        """Status of the newest outcome of a call that ran."""
        self.failures = 0
        """Newest failures with equal outcomes and the blocked calls between them, also those that left the history."""
        self.group = -1
        """Group of the newest of these."""

    @property
    def is_lone_failure(self) -> bool:
        """Whether all that is counted is one failure, whose record is the only one."""
        return self.count == self.resolved == self.failures == 1

    def resolve(self, record: CallRecord, mutated_at: int) -> bool:
        """
        Count an outcome that is newer than all others of the signature.

        Args:
            record: The record.
            mutated_at: Number of the newest mutation. Failures before it are counted separately.

        Returns:
            Whether it ended a streak.
        """
        before = self.newest
        self.resolved += 1
        self.newest = record.number
        if record.kind is VETO:
            self.streak += 1
            self.blocked += 1
            self.failures += self.failures > 0
            return False
        outcome = record.outcome
        equal = outcome is not None and outcome == self.outcome
        changed = self.ran > 0 and not equal
        anew = self.ran > 0 and before < mutated_at < record.number and self.status in FAILED
        if changed or anew:
            self.streak = self.blocked + 1
            self.ran = 1
        else:
            self.streak += 1
            self.ran += 1
        if record.status not in FAILED:
            self.failures = 0
        elif not equal or anew or not self.failures:
            self.failures = 1
        elif record.group != self.group:
            self.failures += 1
        self.group = record.group
        self.status = record.status
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.outcome = outcome
        self.blocked = 0
        return changed

    def drop(self, record: CallRecord) -> None:
        """Remove the oldest record."""
        self.count -= 1
        if record.kind is None:
            return
        if self.streak == self.resolved:
            self.streak -= 1
            self.ran -= record.kind is not VETO
        self.resolved -= 1
        self.blocked = min(self.blocked, self.resolved)
        if record.kind is not VETO:
            self.outcomes[record.outcome] -= 1
            if not self.outcomes[record.outcome]:
                del self.outcomes[record.outcome]


class CallCounters(dict[bytes, "CallRecord | CallCounter"]):
    """The signatures of one run, each with its only record, or with the counter of those that share it."""

    __slots__ = ("mutated_at",)

    def __init__(self) -> None:
        super().__init__()
        self.mutated_at = -1
        """Number of the newest mutation: what failed before it may be tried again."""

    def repeats(self, signature: bytes) -> int:
        """Return the number of records of a signature, whatever their outcomes."""
        counter = self.get(signature)
        if counter is None:
            return 0
        return counter.count if isinstance(counter, CallCounter) else 1

    def streak(self, signature: bytes) -> int:
        """Return the number of newest outcomes of a signature that are equal."""
        counter = self.get(signature)
        if counter is None:
            return 0
        if isinstance(counter, CallCounter):
            is_over = self.mutated_at > counter.newest and counter.ran > 0 and counter.status in FAILED
            return 0 if is_over else counter.streak
        is_over = self.mutated_at > counter.number and counter.status in FAILED
        return int(counter.kind is not None and not is_over)

    def status(self, signature: bytes) -> OutcomeStatus:
        """Return the status of the newest outcome of a signature."""
        counter = self.get(signature)
        return SUCCESS if counter is None else counter.status

    def outcomes(self, signature: bytes) -> int:
        """Return the number of different outcomes of a signature."""
        counter = self.get(signature)
        if isinstance(counter, CallCounter):
            return len(counter.outcomes)
        return int(counter is not None and counter.kind is not None and counter.kind is not VETO)

    def failures(self, signature: bytes) -> int:
        """Return the number of newest equal failures of a signature, also those that left the history."""
        counter = self.get(signature)
        if isinstance(counter, CallCounter) and self.mutated_at <= counter.newest:
            return counter.failures
        return int(self.streak(signature) > 0 and self.status(signature) in FAILED)

    def blocked_at(self, signature: bytes) -> int:
        """Return the number of the newest record with an outcome if that was blocked, else -1."""
        counter = self.get(signature)
        if isinstance(counter, CallCounter):
            return counter.newest if counter.blocked else -1
        return counter.number if counter is not None and counter.kind is VETO else -1

    def has_open(self, signature: bytes) -> bool:
        """Return whether a call of a signature has no outcome yet."""
        counter = self.get(signature)
        if isinstance(counter, CallCounter):
            return counter.count > counter.resolved
        return counter is not None and counter.kind is None

    def share(self, record: CallRecord) -> None:
        """Add a record to the counter of its signature, which exists from the second record on."""
        known = self[record.signature]
        counter = known if isinstance(known, CallCounter) else self._begin(known)
        counter.count += 1

    def drop(self, record: CallRecord) -> None:
        """Remove the oldest record."""
        counter = self[record.signature]
        if isinstance(counter, CallCounter):
            counter.drop(record)
            if counter.count:
                return
        del self[record.signature]

    def recount(self, counter: CallCounter, signature: bytes, records: Iterable[CallRecord]) -> bool:
        """Count a signature again, since an outcome came after that of a later call; return whether a streak ended."""
        streak = counter.streak
        counter.clear()
        for record in records:
            if record.signature == signature and record.kind is not None:
                counter.resolve(record, self.mutated_at)
        return counter.streak <= streak

    def carried(self, groups: dict[int, CallRecord]) -> list[CarriedCount]:
        """
        Return the counts of failures, which include some that left the history. That of a lone failure is left out.

        Args:
            groups: A record of each group of parallel calls that is kept, by the group's number.
        """
        counters = [
            (signature, counter)
            for signature, counter in self.items()
            if isinstance(counter, CallCounter) and counter.failures and not counter.is_lone_failure
        ]
        return [
            (signature, counter.failures, counter.outcome, counter.status, groups.get(counter.group))
            for signature, counter in sorted(counters, key=itemgetter(0))
        ]

    def restore(self, carried: Iterable[CarriedCount]) -> None:
        """Take over the counts that `carried` returned; the records in it have the numbers that they have now."""
        for signature, count, outcome, status, of_group in carried:
            known = self.get(signature)
            if known is not None:
                counter = known if isinstance(known, CallCounter) else self._begin(known)
                counter.failures, counter.outcome, counter.status = count, outcome, status
                if of_group is not None:
                    counter.group = of_group.group

    def _begin(self, first: CallRecord) -> CallCounter:
        """Begin the counter of a signature with its only record."""
        counter = CallCounter()
        counter.count = 1
        self[first.signature] = counter
        if first.kind is not None:
            counter.resolve(first, self.mutated_at)
        return counter
