"""
The history of one run: a ring of steps and its running tallies (SPEC 5).

A step holds digests and ids, never arguments or results. Every question that a detector asks is answered from a
tally in constant time, whatever the size of the ring; adding a step and dropping the oldest keep the tallies right.
`tests/core/test_history.py` holds each against a scan of the whole ring.

Steps stand in the order in which their calls were asked for. Outcomes may come in any order: where one comes for a
step that is not the newest of its kind, the tally it touches is counted anew.
"""

from __future__ import annotations

from wheelspin.core.repeats import Repeats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wheelspin.core.step import Pattern, Step

__all__ = ["History"]

_SIDES = 2


class History:
    """
    The newest steps of one run.

    Args:
        size: Steps that are kept.
        steps: Steps to begin with, oldest first; they are numbered and counted anew.
    """

    __slots__ = (
        "_alternates_since",
        "_blocked",
        "_changed",
        "_changed_from",
        "_misses",
        "_repeats",
        "_ring",
        "_sides",
        "_vetoes",
        "calls",
        "next",
        "size",
    )

    size: int
    """Steps that are kept."""
    next: int
    """The number that the next step will have."""
    calls: dict[str, Step]
    """The steps with an id, each under it: how an outcome finds its call."""

    def __init__(self, size: int, steps: Iterable[Step] = ()) -> None:
        self.size = size
        self._count_anew(list(steps)[-size:])

    def _count_anew(self, steps: list[Step]) -> None:
        self.next = 0
        self.calls = {}
        self._ring: list[Step] = []
        self._repeats: dict[bytes, Step | Repeats] = {}
        self._misses: dict[str, list[int]] = {}
        self._vetoes: dict[Pattern, int] = {}
        self._blocked: dict[bytes, Pattern] = {}
        self._alternates_since = 0
        self._changed = self._changed_from = -1
        self._sides: list[tuple[int, bytes | None] | None] = [None, None]
        for step in steps:
            step.repeats = None
            self.append(step)

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

    @property
    def newest(self) -> Step | None:
        """The step that was added last."""
        return self._at(self.next - 1) if self._ring else None

    def is_news(self, signature: bytes) -> bool:
        """Tell whether nothing here concerns a call: it is a new one, no tool was missing, nothing is blocked."""
        return signature not in self._repeats and not self._misses and not self._blocked

    def repeats(self, signature: bytes) -> int:
        """Count the steps with this signature, whatever their outcomes."""
        tally = self._repeats.get(signature)
        if tally is None:
            return 0
        return tally.count if type(tally) is Repeats else 1

    def streak(self, signature: bytes) -> int:
        """Count the newest outcomes of this signature that are equal (SPEC 6, no-progress streak)."""
        tally = self._repeats.get(signature)
        if tally is None:
            return 0
        return tally.streak if isinstance(tally, Repeats) else int(tally.kind != "open")

    def misses(self, tool: str) -> int:
        """Count how often a tool was not there since it last worked."""
        return len(self._misses.get(tool, ()))

    def alternation(self, signature: bytes) -> int:
        """
        Count the alternation that this call would go on with (SPEC 6, ping-pong).

        Returns:
            The newest steps that alternate strictly between two calls, from the last one that brought something new to
            its side, and the call at hand. 0 where the call is not the one whose turn it is.
        """
        start = max(self._alternates_since, self.first)
        if self.next - start < _SIDES or self._at(self.next - _SIDES).signature != signature:
            return 0
        if self.next - self._alternates_since > _SIDES:
            if self._changed >= 0 and self._changed_from < self.first:
                self._judge_sides_anew()
            start = max(start, self._changed)
        return self.next - start + 1

    def blocked(self, signature: bytes) -> Pattern | None:
        """Give the blocked pattern that this signature belongs to, for as long as a veto of it is in the history."""
        return self._blocked.get(signature) if self._blocked else None

    def settled(self, count: int) -> bool:
        """Tell whether the newest `count` steps all have an outcome; looks at no more than these."""
        numbers = range(self.next - 1, self.next - 1 - count, -1)
        return count <= len(self._ring) and all(self._at(number).kind != "open" for number in numbers)

    def open_call(self, signature: bytes) -> Step | None:
        """Give the newest step of this signature that has no outcome yet."""
        tally = self._repeats.get(signature)
        if not isinstance(tally, Repeats):
            return tally if tally is not None and tally.kind == "open" else None
        if tally.count == tally.resolved:
            return None
        numbers = range(self.next - 1, self.first - 1, -1)
        of_kind = (step for step in map(self._at, numbers) if step.signature == signature)
        return next(step for step in of_kind if step.kind == "open")

    def append(self, step: Step) -> None:
        """Add a step, with or without an outcome, and drop the oldest where the ring is full."""
        number, size, ring = self.next, self.size, self._ring
        signature = step.signature
        if number >= size:
            self._drop(ring[number % size])
            ring[number % size] = step
        else:
            ring.append(step)
        step.number = number
        self.next = number + 1
        if step.id is not None:
            self.calls[step.id] = step
        tally = self._repeats.get(signature)
        if tally is None:
            self._repeats[signature] = step
        else:
            self._share(tally, step)
        kept = len(ring)
        if kept == 1 or ring[(number - 1) % size].signature == signature:
            self._alternates_since = number
        elif kept == _SIDES or ring[(number - _SIDES) % size].signature != signature:
            self._alternates_since = number - 1
        elif number - self._alternates_since == _SIDES:
            self._judge_sides_anew()
        if step.kind != "open":
            self._settle(step)

    def resolve(self, step: Step, kind: str, outcome: bytes | None) -> bool:
        """
        Give a step of this history its outcome.

        Args:
            step: An open step.
            kind: The kind of its outcome.
            outcome: Its fingerprint; `None` where it cannot be compared.

        Returns:
            Whether it ended a streak: an earlier outcome of the same signature was another one.
        """
        step.kind = kind
        step.outcome = outcome
        is_plain = step.repeats is None and kind == "result" and not self._misses
        if is_plain and self.next - self._alternates_since <= _SIDES:
            return False
        return self._settle(step)

    def sign(self, step: Step, signature: bytes) -> None:
        """Give a step of this history another signature: the host ran the call with other arguments (SPEC 3)."""
        steps = list(self)
        step.signature = signature
        self._count_anew(steps)

    def forget(self, step: Step) -> None:
        """Take a step of this history out again: its call was announced anew, with other arguments (SPEC 3)."""
        self._count_anew([other for other in self if other is not step])

    def _at(self, number: int) -> Step:
        return self._ring[number % self.size]

    def _share(self, known: Step | Repeats, step: Step) -> None:
        """Add a step to the tally of its signature, which begins with the second one."""
        if not isinstance(known, Repeats):
            first = known
            known = first.repeats = self._repeats[step.signature] = Repeats()
            known.count = 1
            if first.kind != "open":
                known.resolve(first.number, first.kind, first.outcome)
        known.count += 1
        step.repeats = known

    def _settle(self, step: Step) -> bool:
        """Count the outcome of a step."""
        changed = False
        if step.repeats is not None:
            if step.number > step.repeats.newest:
                changed = step.repeats.resolve(step.number, step.kind, step.outcome)
            else:
                changed = self._count_repeats(step.repeats, step.signature)
        if self._misses or step.kind != "result":
            self._count_miss(step)
        if step.pattern is not None:
            self._block(step.pattern)
        since = self._alternates_since
        if self.next - since > _SIDES and step.number >= since:
            self._judge_side(step)
        return changed

    def _drop(self, step: Step) -> None:
        if step.id is not None and self.calls.get(step.id) is step:
            del self.calls[step.id]
        tally = step.repeats
        if tally is not None:
            tally.drop(step.kind)
        if tally is None or not tally.count:
            del self._repeats[step.signature]
        if self._misses and step.is_miss() and step.tool in self._misses:
            self._keep_misses(step.tool, step.number)
        if step.pattern is not None:
            self._free(step.pattern)

    def _count_repeats(self, tally: Repeats, signature: bytes) -> bool:
        """Count a signature's streak anew: an outcome came after that of a later call."""
        streak = tally.streak
        tally.clear()
        for step in self:
            if step.signature == signature and step.kind != "open":
                tally.resolve(step.number, step.kind, step.outcome)
        return tally.streak <= streak

    def _count_miss(self, step: Step) -> None:
        """Count a miss of a tool; or that the tool worked, which forgets the misses before."""
        if step.is_miss():
            newer = (self._at(number) for number in range(step.number + 1, self.next))
            if not any(other.tool == step.tool and other.worked() for other in newer):
                misses = self._misses.setdefault(step.tool, [])
                misses.append(step.number)
                misses.sort()
        elif step.tool in self._misses and step.worked():
            self._keep_misses(step.tool, step.number)

    def _keep_misses(self, tool: str, since: int) -> None:
        """Keep the misses of a tool that came after a step."""
        self._misses[tool] = [number for number in self._misses[tool] if number > since]
        if not self._misses[tool]:
            del self._misses[tool]

    def _block(self, pattern: Pattern) -> None:
        self._vetoes[pattern] = self._vetoes.get(pattern, 0) + 1
        for signature in pattern.signatures:
            known = self._blocked.setdefault(signature, pattern)
            if pattern.born < known.born:
                self._blocked[signature] = pattern

    def _free(self, pattern: Pattern) -> None:
        self._vetoes[pattern] -= 1
        if self._vetoes[pattern]:
            return
        del self._vetoes[pattern]
        self._blocked = {}
        for other in sorted(self._vetoes, key=lambda other: other.born):
            for signature in other.signatures:
                self._blocked.setdefault(signature, other)

    def _judge_side(self, step: Step) -> None:
        """Hold a step's outcome against the one before it on its side; the sides are the odd and the even numbers."""
        if step.kind == "veto":
            return
        before = self._sides[step.number & 1]
        if before is not None and before[0] >= step.number:
            if before[0] > step.number:
                self._judge_sides_anew()
            return
        differs = before is not None and (step.outcome is None or step.outcome != before[1])
        if before is not None and differs and step.number > self._changed:
            self._changed, self._changed_from = step.number, before[0]
        self._sides[step.number & 1] = step.number, step.outcome

    def _judge_sides_anew(self) -> None:
        self._changed = self._changed_from = -1
        self._sides = [None, None]
        for number in range(max(self._alternates_since, self.first), self.next):
            if self._at(number).kind != "open":
                self._judge_side(self._at(number))
