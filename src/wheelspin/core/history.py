"""
The history of one run: a ring of steps and its running tallies (SPEC 5).

A step holds digests and ids, never arguments or results. Every question that a detector asks is answered from a
tally in constant time, whatever the size of the ring; adding a step and dropping the oldest keep the tallies right.
`tests/core/test_history.py` holds each against a scan of the whole ring.

Steps stand in the order in which their calls were asked for. Outcomes may come in any order: where one comes for a
step that is not the newest of its kind, the tally it touches is counted anew.
"""

from __future__ import annotations

from wheelspin.core.call_record import ALONE, IN_GROUP, IN_MESSAGE, bonds
from wheelspin.core.counters.alternation import SIDES, Alternation
from wheelspin.core.counters.blocked import Blocked
from wheelspin.core.counters.failing import Failing
from wheelspin.core.counters.misses import Misses
from wheelspin.core.counters.repeats import Repeats, Tallies
from wheelspin.core.counters.staleness import Staleness
from wheelspin.core.outcome_status import CHANGE, OUTAGE, SUCCESS, WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wheelspin.core.call_record import Pattern, Step
    from wheelspin.core.counters.failing import Chain

    Memory = tuple[int, int, Iterable[tuple[bytes, int, bytes | None, str]]]

__all__ = ["History"]

_PASSING = frozenset({CHANGE, OUTAGE, WAITING})
"""Natures of an outcome that is no stagnation, though it was seen before."""


class History:
    """
    The newest steps of one run.

    Args:
        size: Steps that are kept.
        steps: Steps to begin with, oldest first; they are numbered and counted anew.
        memory: What the history that they are from told of steps before them (`memory`).
    """

    __slots__ = (
        "_alternation",
        "_blocked",
        "_failing",
        "_in_a_row",
        "_misses",
        "_ring",
        "_same_since",
        "_staleness",
        "_tallies",
        "calls",
        "newest",
        "next",
        "size",
    )

    size: int
    """Steps that are kept."""
    next: int
    """The number that the next step will have."""
    newest: Step | None
    """The step that was added last."""
    calls: dict[str, Step]
    """The steps with an id, each under it: how an outcome finds its call."""

    def __init__(self, size: int, steps: Iterable[Step] = (), memory: Memory | None = None) -> None:
        self.size = size
        self._count_anew(list(steps)[-size:], memory)

    def _count_anew(self, steps: list[Step], memory: Memory | None = None) -> None:
        self.next = 0
        self.newest = None
        self.calls = {}
        self._ring: list[Step] = []
        self._tallies = Tallies()
        self._misses = Misses()
        self._blocked = Blocked()
        self._alternation = Alternation()
        self._same_since = self._in_a_row = 0
        self._staleness = Staleness()
        self._failing = Failing()
        for step, bond in zip(steps, list(bonds(steps)), strict=True):
            self.append(step, bond)
        if memory is not None:
            self._remember(*memory)

    def __len__(self) -> int:
        return len(self._ring)

    def __iter__(self) -> Iterator[Step]:
        """Go through the steps, oldest first."""
        split = self.next % self.size if len(self._ring) == self.size else 0
        yield from self._ring[split:]
        yield from self._ring[:split]

    @property
    def first(self) -> int:
        """Number of the oldest step."""
        return self.next - len(self._ring)

    def is_news(self, signature: bytes) -> bool:
        """Tell whether nothing here concerns a call: it is a new one, no tool was missing, nothing is blocked."""
        if signature in self._tallies or self._misses or self._blocked or self._failing:
            return False
        return self.newest is None or self.newest.kin is None

    def repeats(self, signature: bytes) -> int:
        """Count the steps with this signature, whatever their outcomes."""
        return self._tallies.repeats(signature)

    def streak(self, signature: bytes) -> int:
        """Count the newest outcomes of this signature that are equal (SPEC 6, no-progress streak)."""
        return self._tallies.streak(signature)

    def nature(self, signature: bytes) -> str:
        """Give the nature of the newest outcome of this signature."""
        return self._tallies.nature(signature)

    def outcomes(self, signature: bytes) -> int:
        """Count the different outcomes of this signature."""
        return self._tallies.outcomes(signature)

    def failures(self, signature: bytes) -> int:
        """Count the newest equal failures of this signature, those that left the history since included."""
        return self._tallies.failures(signature)

    def in_a_row(self, signature: bytes) -> int:
        """Count how often this call was just made, directly one after the other and with equal outcomes."""
        newest = self.newest
        if newest is None or newest.signature != signature:
            return 0
        return min(self.streak(signature), self._in_a_row)

    @property
    def stagnation(self) -> int:
        """The newest messages in a row that brought no outcome that is new for its call, also those that left it."""
        return len(self._staleness)

    def is_one_row(self, signature: bytes) -> bool:
        """Tell whether all that brings nothing new, within this history, is one call that follows itself."""
        return self.in_a_row(signature) >= len(self._staleness) - self._staleness.passed

    def is_free_again(self, signature: bytes) -> bool:
        """Tell whether the newest of this signature is a veto, and something new has come since."""
        vetoed = self._tallies.vetoed(signature)
        return vetoed >= self.first and self._staleness.fresh > vetoed

    def failing(self, tool: str) -> Chain | None:
        """Give the newest outcomes of a tool, while they are failures of one kind."""
        return self._failing.get(tool)

    def still_fails(self, way: bytes) -> bool:
        """Tell whether the newest outcome of a tool is a failure of this way."""
        return self._failing.has(way)

    def newest_where(self, holds: Callable[[Step], bool], most: int) -> list[Step]:
        """
        Give the newest steps with an outcome for which something holds, the newest first.

        Args:
            holds: ToolCalled of each step, from the newest on; the first for which it does not hold ends the row.
            most: Steps after which to stop: no more than these are looked at.
        """
        found: list[Step] = []
        for number in range(self.next - 1, max(self.first, self.next - most) - 1, -1):
            step = self._at(number)
            if step.kind == "open":
                continue
            if not holds(step):
                break
            found.append(step)
        return found

    def before(self, step: Step) -> Step | None:
        """Give the step before a step of this history."""
        return self._at(step.number - 1) if step.number > self.first else None

    def misses(self, tool: str) -> int:
        """Count how often a tool was not there since it last worked."""
        return self._misses.of(tool)

    def alternation(self, signature: bytes) -> int:
        """
        Count the alternation that this call would go on with (SPEC 6, ping-pong).

        Returns:
            The newest steps that alternate strictly between two calls, from the last one that brought something new to
            its side, and the call at hand. 0 where the call is not the one whose turn it is.
        """
        first, after = self.first, self.next
        if after - max(self._alternation.since, first) < SIDES or self._at(after - SIDES).signature != signature:
            return 0
        return after - self._alternation.start(first, after, self._at) + 1

    def blocked(self, signature: bytes) -> Pattern | None:
        """Give the blocked pattern that this signature belongs to, for as long as a veto of it is in the history."""
        return self._blocked.get(signature)

    def settled(self, count: int) -> bool:
        """Tell whether the newest `count` steps all have an outcome; looks at no more than these."""
        numbers = range(self.next - 1, self.next - 1 - count, -1)
        return count <= len(self._ring) and all(self._at(number).kind != "open" for number in numbers)

    def open_call(self, signature: bytes) -> Step | None:
        """Give the newest step of this signature that has no outcome yet."""
        if not self._tallies.has_open(signature):
            return None
        of_kind = (step for step in map(self._at, range(self.next - 1, -1, -1)) if step.signature == signature)
        return next(step for step in of_kind if step.kind == "open")

    def memory(self) -> Memory:
        """
        Give what the steps that are kept do not tell.

        Returns:
            How many steps from the oldest one on belong to messages that are followed by nothing new, or to one that
            brought something; how many messages that brought nothing new have left the history since; and the failures
            that are counted beyond the history: signature, count, outcome, nature.
        """
        fresh = sum(step.message <= self._staleness.fresh for step in self) if self._staleness.fresh >= 0 else 0
        return fresh, self._staleness.passed, self._tallies.memory()

    def append(self, step: Step, bond: int = ALONE) -> None:
        """
        Add a step, with or without an outcome, and drop the oldest where the ring is full.

        Args:
            step: The step.
            bond: 2 where it was asked for in the same message of the model as the step before it, 1 where it was asked
                for before that one had an outcome, else 0.
        """
        number, size, ring = self.next, self.size, self._ring
        signature = step.signature
        if number >= size:
            self._drop(ring[number % size])
            ring[number % size] = step
        else:
            ring.append(step)
        step.number = number
        if bond and number and size > 1:
            step.bind(ring[(number - 1) % size], in_message=bond == IN_MESSAGE)
        else:
            step.bonds = None
        self.next = number + 1
        self.newest = step
        if step.id is not None:
            self.calls[step.id] = step
        if signature in self._tallies:
            self._tallies.share(step)
        else:
            self._tallies[signature] = step
        self._go_on(step)
        if step.kind != "open":
            self._settle(step)

    def resolve(
        self, step: Step, kind: str, outcome: bytes | None, nature: str = SUCCESS, kin: bytes | None = None
    ) -> bool:
        """
        Give a step of this history its outcome.

        Args:
            step: An open step.
            kind: The kind of its outcome.
            outcome: Its fingerprint; `None` where it cannot be compared.
            nature: What it says of itself.
            kin: What it has in common with outcomes of other calls.

        Returns:
            Whether it ended a streak: an earlier outcome of the same signature was another one.
        """
        step.kind = kind
        step.outcome = outcome
        step.nature = nature
        step.kin = kin
        tally = self._tallies[step.signature]
        if tally is step:
            is_plain = kind == "result" and nature == SUCCESS and not self._misses and not self._failing
            if is_plain and self.next - self._alternation.since <= SIDES:
                self._staleness.refresh(step.message)
                return False
        elif isinstance(tally, Repeats) and nature not in _PASSING and not step.polls:
            step.is_stale = outcome is not None and outcome in tally.outcomes
        if step.number < self._tallies.mutated or (nature == CHANGE and step.number < self.next - 1):
            self._count_anew(list(self))
            return False
        return self._settle(step)

    def sign(self, step: Step, signature: bytes) -> None:
        """Give a step of this history another signature: the host ran the call with other arguments (SPEC 3)."""
        steps, (fresh, passed, failures) = list(self), self.memory()
        kept = [failure for failure in failures if failure[0] not in {step.signature, signature}]
        step.signature = signature
        self._count_anew(steps, (fresh, passed, kept))

    def forget(self, step: Step) -> int:
        """
        Take a step of this history out again: its call was announced anew, with other arguments (SPEC 3).

        Returns:
            How it belonged to the step before it, as `append` takes it.
        """
        fresh, passed, failures = self.memory()
        fresh -= step.message <= self._staleness.fresh
        bond = IN_MESSAGE if step.message != step.number else IN_GROUP if step.group != step.number else ALONE
        self._count_anew([other for other in self if other is not step], (fresh, passed, failures))
        return bond

    def _at(self, number: int) -> Step:
        return self._ring[number % self.size]

    def _go_on(self, step: Step) -> None:
        """Tell what the newest step goes on with: a row of one call, an alternation of two."""
        number, size, ring, signature = step.number, self.size, self._ring, step.signature
        kept = len(ring)
        if kept > 1 and ring[(number - 1) % size].signature == signature:
            self._in_a_row += step.group != ring[(number - 1) % size].group
        else:
            self._same_since, self._in_a_row = number, 1
        alternation = self._alternation
        if kept == 1 or self._same_since != number:
            alternation.since = number
        elif kept == SIDES or ring[(number - SIDES) % size].signature != signature:
            alternation.since = number - 1
        elif number - alternation.since == SIDES:
            alternation.judge_anew(number + 1 - kept, number + 1, self._at)

    def _after(self, step: Step) -> Iterator[Step]:
        """Give the steps after a step."""
        return map(self._at, range(step.number + 1, self.next))

    def _settle(self, step: Step) -> bool:
        """Count the outcome of a step."""
        changed = False
        tally = self._tallies[step.signature]
        if isinstance(tally, Repeats):
            if step.number > tally.newest:
                changed = tally.resolve(step, self._tallies.mutated)
            else:
                changed = self._tallies.recount(tally, step.signature, self)
        if step.is_stale:
            self._staleness.add(step)
        else:
            self._staleness.refresh(step.message)
        if step.nature or step.pattern is not None or self._failing:
            self._count_failing(step)
        if self._misses or step.kind != "result":
            self._misses.resolve(step, self._after(step))
        if step.pattern is not None:
            self._blocked.add(step.pattern)
        since = self._alternation.since
        if self.next - since > SIDES and step.number >= since:
            self._alternation.judge(step, self.first, self.next, self._at)
        return changed

    def _drop(self, step: Step) -> None:
        if step.id is not None and self.calls.get(step.id) is step:
            del self.calls[step.id]
        if step.is_stale:
            self._staleness.drop(step, is_last=self._at(step.number + 1).message != step.message)
        if self._failing:
            self._failing.drop(step)
        if self._same_since <= step.number and self._at(step.number + 1).group != step.group:
            self._in_a_row -= 1
        self._tallies.drop(step)
        if self._misses:
            self._misses.drop(step)
        if step.pattern is not None:
            self._blocked.drop(step.pattern)

    def _count_failing(self, step: Step) -> None:
        """Count a failure of a tool; or that it worked, or that something was changed: that frees what failed."""
        if step.nature == CHANGE:
            self._tallies.mutated = step.number
            self._failing.clear()
        if any(other.tool == step.tool and other.kind != "open" for other in self._after(step)):
            self._failing.recount(step.tool, self)
        else:
            self._failing.resolve(step)

    def _remember(self, fresh: int, passed: int, failures: Iterable[tuple[bytes, int, bytes | None, str]]) -> None:
        """Take over what the steps do not tell."""
        if fresh:
            self._staleness.refresh(self._at(self.first + min(fresh, len(self._ring)) - 1).message)
        self._staleness.passed = passed
        self._tallies.remember(failures)
