"""
A prefilter for scans: it holds back the calls of a run for as long as no detector can find anything in them.

Two rules hold here:

1. It knows no detector. Each says what it needs to see before it can find anything (`Detector.needs`); for as long as
   the run has less of that, the guard would allow each call, and it is enough to keep the newest calls.
2. It only ever errs towards feeding the guard. As soon as something could be found, the calls that were held back are
   fed to the guard, so that the verdicts are those of a guard that saw every call (`tests/replay` checks that).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from wheelspin.core.detectors.base import Detector, Evidence
from wheelspin.core.events import OutcomeKind, ToolCall
from wheelspin.core.outcome_reading import may_be_equal, rough_view
from wheelspin.core.outcome_status import SUCCESSFUL
from wheelspin.core.settings import Settings
from wheelspin.core.status_reading import status_of
from wheelspin.core.tools import ToolTable
from wheelspin.transcripts.base import ToolCalled, ToolReturned

__all__ = ["Bounds", "Prefilter"]

_SLACK = 8
"""Events per call of a full history, after which the events of calls that have left it are dropped."""


class _Held(NamedTuple):
    """A call that is held back."""

    call: int
    signature: bytes


class Bounds:
    """
    How much of each kind of evidence a run may have before a detector can find anything.

    Args:
        settings: The agent's settings.
        detectors: The detectors that may be asked; those that are off count for nothing.

    Attributes:
        size: Number of calls that a history keeps.
        can_hold: Whether calls may be held back at all: not if a detector that is on does not say what it needs.
        calls: Number of earlier calls of the run with which no detector finds anything.
        evidence: The same for each kind of evidence.
    """

    __slots__ = ("calls", "can_hold", "evidence", "size")

    def __init__(self, settings: Settings, detectors: Iterable[Detector] | None = None) -> None:
        known = settings.detectors if detectors is None else detectors
        needs = [detector.needs(settings) for detector in known if settings.is_on(detector)]
        self.size = settings.history_size
        stated = [need for need in needs if need is not None]
        self.can_hold = len(stated) == len(needs)
        self.calls = min([self.size, *(need.calls for need in stated)])
        never = self.size + 1
        self.evidence = dict.fromkeys(Evidence, never)
        for need in stated:
            self.evidence[need.evidence] = min(self.evidence[need.evidence], need.count)


class Prefilter:
    """
    The newest calls of one run in which nothing can be found so far.

    Args:
        bounds: How much evidence the run may have.
        tools: What is known about the host's tools, with the hints of the settings.
    """

    __slots__ = (
        "_counts",
        "_equal_calls",
        "_equal_failures",
        "_equal_results",
        "_events",
        "_failed",
        "_failures",
        "_held",
        "_new_after",
        "_open",
        "_repeated",
        "_repeated_calls",
        "_results",
        "_size",
        "_standing_failures",
        "_tools",
        "_unseen",
        "_view",
        "_worked_after",
    )

    def __init__(self, bounds: Bounds, tools: ToolTable) -> None:
        self._tools = tools
        self._size = bounds.size
        self._unseen = bounds.calls
        """Calls that need no look, since no detector finds anything in so few."""
        self._equal_calls = bounds.evidence[Evidence.EQUAL_CALLS]
        self._equal_failures = bounds.evidence[Evidence.EQUAL_FAILURES]
        self._standing_failures = bounds.evidence[Evidence.STANDING_FAILURES]
        self._repeated_calls = bounds.evidence[Evidence.REPEATED_CALLS]
        self._equal_results = bounds.evidence[Evidence.EQUAL_RESULTS]
        self._events: list[ToolCalled | ToolReturned] = []
        self._open: set[int] = set()
        self._held: deque[_Held] = deque()
        self._counts: dict[bytes, int] = {}
        self._failed: dict[int, bytes] = {}
        """The calls that were no success, each with its signature."""
        self._failures: dict[bytes, int] = {}
        self._repeated = 0
        """Number of calls so far that were made before, within the history."""
        self._new_after: dict[int, int] = {}
        """The calls that were not, each with the number of repeated ones before it."""
        self._worked_after = 0
        """Number of repeated calls before the newest call that brought something new."""
        self._view: tuple[str, object] | None = None
        self._results = 0
        """Number of newest results in a row that may be equal, of one tool, after the first."""

    def ask(self, event: ToolCalled) -> bool:
        """
        Add a call.

        Returns:
            `False` if the guard has to judge it, after it was fed what is held back. It is not added then.
        """
        call = event.call
        if self._tools.has_exemptions and self._tools.look_up(call.tool, call.arguments).exempt:
            return True
        if self._unseen > 0:
            self._unseen -= 1
        elif not self._can_hold(call):
            return False
        self._open.add(id(call))
        self._events.append(event)
        return True

    def answer(self, event: ToolReturned) -> bool:
        """
        Add an outcome.

        Returns:
            `False` if its call is not held back.
        """
        call = event.call
        if id(call) not in self._open:
            return self._tools.has_exemptions and self._tools.look_up(call.tool, call.arguments).exempt
        self._open.remove(id(call))
        self._events.append(event)
        if self._held:
            self._note(event, is_alone=not self._open)
        return True

    @property
    def waits(self) -> bool:
        """Whether a call has no outcome yet."""
        return bool(self._open)

    def events(self) -> list[ToolCalled | ToolReturned]:
        """Return the events of all calls that are held back, in their order."""
        if self._held:
            self._drop_events()
        return self._events

    def _can_hold(self, call: ToolCall) -> bool:
        """Hold a call back if the guard would find nothing in it; return whether that is so."""
        if not self._held:
            self._catch_up()
        oldest = self._held[0] if len(self._held) == self._size else None
        if oldest is not None and (oldest.call in self._open or self._is_compared_with(oldest)):
            return False
        signature = self._tools.signed(call)[1]
        if (
            self._counts.get(signature, 0) >= self._equal_calls
            or self._failures.get(signature, 0) >= self._equal_failures
            or len(self._failed) >= self._standing_failures
            or self._repeated - self._worked_after >= self._repeated_calls
            or self._results >= self._equal_results
        ):
            return False
        self._count(call, signature)
        if oldest is not None:
            self._drop(oldest)
        return True

    def _is_compared_with(self, oldest: _Held) -> bool:
        """Return whether a call that brought nothing new does so only by comparison with the oldest."""
        return self._repeated > self._worked_after and self._counts[oldest.signature] > 1

    def _catch_up(self) -> None:
        """Look at the calls that needed no look."""
        open_calls: set[int] = set()
        for event in self._events:
            if type(event) is ToolCalled:
                open_calls.add(id(event.call))
                self._count(event.call, self._tools.signed(event.call)[1])
            elif type(event) is ToolReturned:
                open_calls.discard(id(event.call))
                self._note(event, is_alone=not open_calls)

    def _count(self, call: ToolCall, signature: bytes) -> None:
        """Count a call, which is the newest now."""
        self._held.append(_Held(id(call), signature))
        count = self._counts[signature] = self._counts.get(signature, 0) + 1
        if count > 1:
            self._repeated += 1
        else:
            self._new_after[id(call)] = self._repeated

    def _note(self, event: ToolReturned, *, is_alone: bool) -> None:
        """Note what an outcome may be evidence of."""
        call, outcome = event.call, event.outcome
        if outcome.kind is OutcomeKind.MISSING:
            return
        before = self._new_after.pop(id(call), None)
        if before is not None:
            self._worked_after = max(self._worked_after, before)
        tool, signature = self._tools.signed(call)
        status = status_of(tool, outcome)
        if status not in SUCCESSFUL:
            self._failed[id(call)] = signature
            self._failures[signature] = self._failures.get(signature, 0) + 1
        view = tool.name, rough_view(tool, outcome, status)
        last, self._view = self._view, view
        may_equal = not is_alone or last is None or (last[0] == view[0] and may_be_equal(last[1], view[1]))
        self._results = self._results + 1 if may_equal else 0

    def _drop(self, oldest: _Held) -> None:
        self._held.popleft()
        _count_down(self._counts, oldest.signature)
        self._new_after.pop(oldest.call, None)
        failed = self._failed.pop(oldest.call, None)
        if failed is not None:
            _count_down(self._failures, failed)
        if len(self._events) > _SLACK * self._size:
            self._drop_events()

    def _drop_events(self) -> None:
        """Drop the events of calls that have left the history."""
        held = {entry.call for entry in self._held}
        self._events = [event for event in self._events if id(event.call) in held]


def _count_down(counts: dict[bytes, int], key: bytes) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
