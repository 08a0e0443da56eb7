"""
The history of one run: its newest call records, and the counters that answer what detectors ask (SPEC 5).

Three rules hold here:

1. Every question is answered from a counter, in a time that does not depend on the size of the history. Adding a
   record and dropping the oldest keep the counters right; `tests/core/test_history.py` compares each with a scan.
2. Records stand in the order in which their calls were requested. Outcomes may come in any order: if one comes for a
   record that is not the newest of its kind, the counter that it concerns is counted again.
3. What a counter knows of records that have left the history is in its *carried counts*, and nowhere else.
"""

from __future__ import annotations

from wheelspin.core.call_record import Link, links
from wheelspin.core.counters.alternation import SIDES, Alternation
from wheelspin.core.counters.blocked import Blocked
from wheelspin.core.counters.calls import CallCounter, CallCounters
from wheelspin.core.counters.failing import Failing
from wheelspin.core.counters.misses import Misses
from wheelspin.core.counters.staleness import Staleness
from wheelspin.core.events import RESULT, OutcomeKind
from wheelspin.core.outcome_status import MUTATION, OUTAGE, SUCCESS, WAIT
from wheelspin.core.ring import Ring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from wheelspin.core.call_record import BlockedPattern, CallRecord
    from wheelspin.core.counters.calls import CarriedCount
    from wheelspin.core.counters.failing import Chain
    from wheelspin.core.outcome_status import OutcomeStatus

    Carried = tuple[int, int, Iterable[CarriedCount]]

__all__ = ["History"]

_ALONE: Final = Link.ALONE
_NEVER_STALE = (MUTATION, OUTAGE, WAIT)
"""Statuses of an outcome that is not stagnation, although it was seen before."""


class History(Ring):
    """
    The newest call records of one run.

    Args:
        size: Number of records that are kept.
        records: Records to begin with, oldest first; they are numbered and counted again.
        carried: What the history that they come from knew of records before them (`carried_counts`).
    """

    __slots__ = (
        "_alternation",
        "_blocked",
        "_counters",
        "_failing",
        "_in_a_row",
        "_misses",
        "_same_since",
        "_staleness",
        "calls",
    )

    calls: dict[str, CallRecord]
    """The records with an id, by id: how an outcome finds its call."""

    def __init__(self, size: int, records: Iterable[CallRecord] = (), carried: Carried | None = None) -> None:
        self.size = size
        self._count_again(list(records)[-size:], carried)

    def is_news(self, signature: bytes) -> bool:
        """Return whether nothing here concerns a call: it is new, no tool is missing or failing, nothing is blocked."""
        if signature in self._counters or self._misses or self._blocked or self._failing:
            return False
        return self.newest is None or self.newest.similarity_key is None

    def repeats(self, signature: bytes) -> int:
        """Return the number of records of this signature, whatever their outcomes."""
        return self._counters.repeats(signature)

    def streak(self, signature: bytes) -> int:
        """Return the number of newest outcomes of this signature that are equal (SPEC 6, no-progress streak)."""
        return self._counters.streak(signature)

    def status(self, signature: bytes) -> OutcomeStatus:
        """Return the status of the newest outcome of this signature."""
        return self._counters.status(signature)

    def outcomes(self, signature: bytes) -> int:
        """Return the number of different outcomes of this signature."""
        return self._counters.outcomes(signature)

    def failures(self, signature: bytes) -> int:
        """Return the number of newest equal failures of this signature, also those that left the history."""
        return self._counters.failures(signature)

    def in_a_row(self, signature: bytes) -> int:
        """Return how many times this call was just made, one directly after the other and with equal outcomes."""
        newest = self.newest
        if newest is None or newest.signature != signature:
            return 0
        return min(self.streak(signature), self._in_a_row)

    @property
    def stagnation(self) -> int:
        """Number of newest messages in a row without an outcome that is new for its call, also those that left."""
        return len(self._staleness)

    def is_one_row(self, signature: bytes) -> bool:
        """Return whether all that stagnates, within this history, is one call that follows itself."""
        return self.in_a_row(signature) >= len(self._staleness) - self._staleness.departed

    def is_retry_due(self, signature: bytes) -> bool:
        """Return whether the newest call of this signature was blocked, and something new has come since."""
        blocked_at = self._counters.blocked_at(signature)
        return blocked_at >= self.first and self._staleness.fresh > blocked_at

    def failing(self, tool: str) -> Chain | None:
        """Return the newest outcomes of a tool, if they are failures of one kind."""
        return self._failing.get(tool)

    def still_fails(self, way: bytes) -> bool:
        """Return whether the newest outcome of a tool is a failure of this kind."""
        return self._failing.has(way)

    def misses(self, tool: str) -> int:
        """Return how many times a tool was missing since it last worked."""
        return self._misses.of(tool)

    def alternation(self, signature: bytes) -> int:
        """
        Return the length of the alternation that this call would continue (SPEC 6, ping-pong).

        Returns:
            The number of newest records that alternate strictly between two calls, from the last one whose side brought
            something new, plus the call at hand. 0 if it is not this call's turn.
        """
        first, after = self.first, self.next
        if after - max(self._alternation.since, first) < SIDES or self._at(after - SIDES).signature != signature:
            return 0
        return after - self._alternation.start(first, after, self._at) + 1

    def blocked(self, signature: bytes) -> BlockedPattern | None:
        """Return the blocked pattern that this signature belongs to, for as long as a blocked call of it is kept."""
        return self._blocked.get(signature)

    def blocked_signatures(self) -> list[bytes]:
        """Return the signatures that are blocked; for a pattern without signatures, those that were tried."""
        found: dict[bytes, None] = {}
        for record in self:
            if record.blocked_by is not None:
                found |= dict.fromkeys(record.blocked_by.signatures or (record.signature,))
        return list(found)

    def open_call(self, signature: bytes) -> CallRecord | None:
        """Return the newest call of this signature that has no outcome yet."""
        if not self._counters.has_open(signature):
            return None
        of_signature = (record for record in reversed(self) if record.signature == signature)
        return next(record for record in of_signature if record.kind is None)

    def carried_counts(self) -> Carried:
        """
        Return what the records that are kept do not tell.

        Returns:
            How many records, from the oldest on, belong to messages up to the newest that brought something new; how
            many messages that brought nothing new have left the history since; and the counts of failures.
        """
        fresh = sum(record.message <= self._staleness.fresh for record in self) if self._staleness.fresh >= 0 else 0
        groups = {record.group: record for record in self}
        return fresh, self._staleness.departed, self._counters.carried(groups)

    def append(self, record: CallRecord, link: Link = _ALONE) -> None:
        """
        Add a record, with or without an outcome, and drop the oldest if the history is full.

        Args:
            record: The record.
            link: How it is linked to the record before it.
        """
        number, size, ring = self.next, self.size, self._ring
        signature = record.signature
        if number >= size:
            self._drop(ring[number % size])
            ring[number % size] = record
        else:
            ring.append(record)
        record.number = number
        if link and number and size > 1:
            record.link(ring[(number - 1) % size], link)
        else:
            record.parallel = None
        self.next = number + 1
        self.newest = record
        if record.id is not None:
            self.calls[record.id] = record
        if signature in self._counters:
            self._counters.share(record)
        else:
            self._counters[signature] = record
        self._follow(record)
        if record.kind is not None:
            self._count_outcome(record)

    def record_outcome(
        self,
        record: CallRecord,
        kind: OutcomeKind,
        outcome: bytes | None,
        status: OutcomeStatus = SUCCESS,
        similarity_key: bytes | None = None,
    ) -> bool:
        """
        Give an open record of this history its outcome.

        Args:
            record: The record.
            kind: Where the outcome came from.
            outcome: Its fingerprint; `None` if it cannot be compared.
            status: Its status.
            similarity_key: What it shares with outcomes of other calls.

        Returns:
            Whether it ended a streak: an earlier outcome of the same signature was different.
        """
        record.kind = kind
        record.outcome = outcome
        record.status = status
        record.similarity_key = similarity_key
        counter = self._counters[record.signature]
        if counter is record:
            is_ordinary = kind is RESULT and status is SUCCESS and not self._misses and not self._failing
            if is_ordinary and self.next - self._alternation.since <= SIDES:
                self._staleness.refresh(record.message)
                return False
        elif isinstance(counter, CallCounter) and status not in _NEVER_STALE and not record.polls:
            record.is_stale = outcome is not None and outcome in counter.outcomes
        if record.number < self._counters.mutated_at or (status is MUTATION and record.number < self.next - 1):
            self._count_again(list(self))
            return False
        return self._count_outcome(record)

    def change_signature(self, record: CallRecord, signature: bytes) -> None:
        """Give a record another signature: the host ran the call with other arguments (SPEC 3)."""
        records, (fresh, departed, failures) = list(self), self.carried_counts()
        kept = [failure for failure in failures if failure[0] not in {record.signature, signature}]
        record.signature = signature
        self._count_again(records, (fresh, departed, kept))

    def remove(self, record: CallRecord) -> Link:
        """
        Remove a record: its call was announced again, with other arguments (SPEC 3).

        Returns:
            How it was linked to the record before it.
        """
        fresh, departed, failures = self.carried_counts()
        fresh -= record.message <= self._staleness.fresh
        link = _ALONE if record.parallel is None else Link.SAME_GROUP
        link = Link.SAME_MESSAGE if record.message != record.number else link
        self._count_again([other for other in self if other is not record], (fresh, departed, failures))
        return link

    def without(self, signature: bytes) -> History:
        """
        Return a history that has never seen a call, nor the patterns that it is blocked for.

        A pattern without signatures takes the failures and misses of the call's tool with it.
        """
        records = list(self)
        blocked = [(record, record.blocked_by) for record in records if record.blocked_by is not None]
        concerned = [
            (record, pattern) for record, pattern in blocked if signature in (record.signature, *pattern.signatures)
        ]
        patterns = {pattern for _, pattern in concerned}
        tools = {record.tool for record, pattern in concerned if not pattern.signatures}
        signatures = {signature}.union(*(pattern.signatures for pattern in patterns))

        def goes(record: CallRecord) -> bool:
            of_tool = record.tool in tools and record.status is not SUCCESS
            return record.signature in signatures or record.blocked_by in patterns or of_tool

        # Nobody knows which calls the departed messages were made of, so they are no longer counted.
        fresh, _, failures = self.carried_counts()
        gone = {record.signature for record in records if goes(record)}
        carried = (
            sum(not goes(record) for record in records[:fresh]),
            0,
            [kept for kept in failures if kept[0] not in gone],
        )
        return History(self.size, [record for record in records if not goes(record)], carried)

    def _count_again(self, records: list[CallRecord], carried: Carried | None = None) -> None:
        self._clear()
        self.calls = {}
        self._counters = CallCounters()
        self._misses = Misses()
        self._blocked = Blocked()
        self._alternation = Alternation()
        self._same_since = self._in_a_row = 0
        self._staleness = Staleness()
        self._failing = Failing()
        for record, link in zip(records, list(links(records)), strict=True):
            self.append(record, link)
        if carried is not None:
            fresh, departed, failures = carried
            if fresh:
                self._staleness.refresh(self._at(self.first + min(fresh, len(self._ring)) - 1).message)
            self._staleness.departed = departed
            self._counters.restore(
                (signature, count, outcome, status, of_group if self._holds(of_group) else None)
                for signature, count, outcome, status, of_group in failures
            )

    def _follow(self, record: CallRecord) -> None:
        """Count what the newest record continues: a row of one call, or an alternation of two."""
        number, size, ring, signature = record.number, self.size, self._ring, record.signature
        kept = len(ring)
        if kept > 1 and ring[(number - 1) % size].signature == signature:
            self._in_a_row += record.group != ring[(number - 1) % size].group
        else:
            self._same_since, self._in_a_row = number, 1
        alternation = self._alternation
        if kept == 1 or self._same_since != number:
            alternation.since = number
        elif kept == SIDES or ring[(number - SIDES) % size].signature != signature:
            alternation.since = number - 1
        elif number - alternation.since == SIDES:
            alternation.judge_again(number + 1 - kept, number + 1, self._at)

    def _count_outcome(self, record: CallRecord) -> bool:
        """Count the outcome of a record; return whether it ended a streak."""
        changed = False
        counter = self._counters[record.signature]
        if isinstance(counter, CallCounter):
            if record.number > counter.newest:
                changed = counter.resolve(record, self._counters.mutated_at)
            else:
                changed = self._counters.recount(counter, record.signature, self)
        if record.is_stale:
            self._staleness.add(record)
        else:
            self._staleness.refresh(record.message)
        if record.status is not SUCCESS or record.blocked_by is not None or self._failing:
            self._count_failing(record)
        if self._misses or record.kind is not RESULT:
            self._misses.resolve(record, self._after(record))
        if record.blocked_by is not None:
            self._blocked.add(record.blocked_by)
        since = self._alternation.since
        if self.next - since > SIDES and record.number >= since:
            self._alternation.judge(record, self.first, self.next, self._at)
        return changed

    def _count_failing(self, record: CallRecord) -> None:
        """Count a failure of a tool; or that it worked, or that something was changed, which frees what failed."""
        if record.status is MUTATION:
            self._counters.mutated_at = record.number
            self._failing.clear()
        if any(other.tool == record.tool and other.kind is not None for other in self._after(record)):
            self._failing.recount(record.tool, self)
        else:
            self._failing.resolve(record)

    def _drop(self, record: CallRecord) -> None:
        if record.id is not None and self.calls.get(record.id) is record:
            del self.calls[record.id]
        if record.is_stale:
            self._staleness.drop(record, is_last=self._at(record.number + 1).message != record.message)
        if self._failing:
            self._failing.drop(record)
        if self._same_since <= record.number and self._at(record.number + 1).group != record.group:
            self._in_a_row -= 1
        self._counters.drop(record)
        if self._misses:
            self._misses.drop(record)
        if record.blocked_by is not None:
            self._blocked.drop(record.blocked_by)
