"""
A screen before the guard, for scans: stretches of a run in which no detector can find anything need no fingerprints.

Every pattern that is warned about is made of calls that come back, of failures, or of calls of one tool that all get
the same answer. While a run has too few of these, the guard would allow each call without a finding; then it is enough
to hold on to the newest calls. As soon as something could be found they are fed to the guard, and the run is judged
from there on. The verdicts are those of a guard that saw every call: a property of `tests/test_replay.py`.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from wheelspin.core.detectors.unchanged_failure import REFUSALS
from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.known_tools import may_be_stub
from wheelspin.core.outcome_status import CHANGE, FAILED, SUCCESS, WAITING, nature_of
from wheelspin.core.settings import OUTAGE, Settings
from wheelspin.core.tools import Tool, ToolTable
from wheelspin.transcripts.base import ToolCalled, ToolReturned

__all__ = ["Bounds", "Prefilter"]

_LONG = 256
"""Characters from which on the length of a text stands for it."""
_SLACK = 8
"""Events per call of a full history at which those of calls that fell out of it are let go."""


class _Entry(NamedTuple):
    """A call that is held on to."""

    call: int
    key: int


class Bounds:
    """
    Below how many of something no detector speaks.

    Args:
        settings: What holds for the agent.

    Attributes:
        size: Steps that a history keeps.
        calls: Calls of a run before the one at hand.
        equal: Calls before the one at hand that are equal to it.
        failed: Failures.
        stale: Calls that were made before, in a row.
        alike: Equal answers of one tool in a row, after the first.
    """

    __slots__ = ("alike", "calls", "equal", "failed", "size", "stale")

    def __init__(self, settings: Settings) -> None:
        self.size = settings.history_size
        never = self.size + 1
        own = [hint.warning_threshold for _, hint in settings.tool_hints if hint.warning_threshold is not None]
        own += [hint.critical_threshold - 1 for _, hint in settings.tool_hints if hint.critical_threshold is not None]
        least = min(own, default=never)

        def warning(name: str) -> int:
            is_on = settings.enabled and getattr(settings, name, True)
            return min(settings.limits_of(name)[0], least) if is_on else never

        of_one = ("generic_repeat", "known_poll_no_progress", "immediate_repeat", "unchanged_failure", OUTAGE)
        breaker, unknown = settings.global_circuit_breaker_threshold, settings.unknown_tool_threshold
        one = min(breaker if settings.enabled else never, *map(warning, of_one))
        pair = warning("ping_pong") - 1
        self.equal = min(one, pair // 2)
        self.failed = min(unknown if settings.enabled else never, warning("same_failure"))
        self.stale = warning("stagnation")
        self.alike = warning("near_repeat") - 1
        refused = REFUSALS if settings.enabled and settings.unchanged_failure else never
        self.calls = min(self.size, one, pair, self.failed, self.stale, self.alike, refused)


class Prefilter:
    """
    The newest calls of one run in which nothing can be found so far.

    Args:
        bounds: Below how many of something no detector speaks.
        tools: What is known about the host's tools, with the hints of the settings.
    """

    __slots__ = (
        "_alike",
        "_answer",
        "_asked_after",
        "_bounds",
        "_counts",
        "_failed",
        "_failed_keys",
        "_few",
        "_newest",
        "_open",
        "_repeated",
        "_size",
        "_stale_since",
        "_told",
        "_tools",
    )

    def __init__(self, bounds: Bounds, tools: ToolTable) -> None:
        self._tools = tools
        self._bounds = bounds
        self._size = bounds.size
        self._few = bounds.calls
        """Calls that need no look at all, since no detector speaks of so few."""
        self._told: list[ToolCalled | ToolReturned] = []
        self._open: set[int] = set()
        self._newest: deque[_Entry] = deque()
        self._counts: dict[int, int] = {}
        self._failed: dict[int, int] = {}
        """The calls that failed, or wait for something, each with its key."""
        self._failed_keys: dict[int, int] = {}
        self._repeated = 0
        """Calls so far that may have been made before, within the history."""
        self._asked_after: dict[int, int] = {}
        """The calls that are new, each with how many repeated ones came before it."""
        self._stale_since = 0
        """How many repeated calls came before the newest one that surely brought something new."""
        self._answer: tuple[str, object] | None = None
        self._alike = 0
        """Answers in a row that may be equal, of one tool."""

    def ask(self, asked: ToolCalled) -> bool:
        """
        Take a call in.

        Returns:
            `False` where the guard has to judge it, after what is held on to was fed; it is not taken in then.
        """
        if self._tools.ignores and self._tools.look_up(asked.call.tool, asked.call.arguments).unjudged:
            return True
        if self._few > 0:
            self._few -= 1
        elif not self._is_quiet(asked):
            return False
        self._open.add(id(asked.call))
        self._told.append(asked)
        return True

    def answer(self, answered: ToolReturned) -> bool:
        """
        Take an outcome in.

        Returns:
            `False` where its call is not held on to.
        """
        call = id(answered.call)
        if call not in self._open:
            return self._tools.ignores and self._tools.look_up(answered.call.tool, answered.call.arguments).unjudged
        self._open.remove(call)
        self._told.append(answered)
        if self._newest:
            self._note(answered, is_alone=not self._open)
        return True

    @property
    def waits(self) -> bool:
        """Whether a call is not answered yet."""
        return bool(self._open)

    def events(self) -> list[ToolCalled | ToolReturned]:
        """Give all that is held on to, in the order in which it was told."""
        if self._newest:
            self._let_go()
        return self._told

    def _let_go(self) -> None:
        """Let go of the events of calls that fell out of the history."""
        held = {entry.call for entry in self._newest}
        self._told = [event for event in self._told if id(event.call) in held]

    def _is_quiet(self, asked: ToolCalled) -> bool:
        """Tell whether the guard would say nothing to a call, and count it if so."""
        if not self._newest:
            self._catch_up()
        oldest = self._newest[0] if len(self._newest) == self._size else None
        if oldest is not None and (oldest.call in self._open or self._is_compared_with(oldest)):
            return False
        key, bounds = self._key(asked.call), self._bounds
        if (
            self._counts.get(key, 0) >= bounds.equal
            or key in self._failed_keys
            or len(self._failed) >= bounds.failed
            or self._repeated - self._stale_since >= bounds.stale
            or self._alike >= bounds.alike
        ):
            return False
        self._count(asked.call, key)
        if oldest is not None:
            self._drop(oldest)
        return True

    def _is_compared_with(self, oldest: _Entry) -> bool:
        """Tell whether a call that counts as bringing nothing new does so by comparison with the oldest."""
        return self._repeated > self._stale_since and self._counts[oldest.key] > 1

    def _catch_up(self) -> None:
        """Look at the calls that needed no look."""
        open_calls: set[int] = set()
        for event in self._told:
            if type(event) is ToolCalled:
                open_calls.add(id(event.call))
                self._count(event.call, self._key(event.call))
            elif type(event) is ToolReturned:
                open_calls.discard(id(event.call))
                self._note(event, is_alone=not open_calls)

    def _count(self, call: ToolCall, key: int) -> None:
        """Count a call, which is the newest now."""
        self._newest.append(_Entry(id(call), key))
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count > 1:
            self._repeated += 1
        else:
            self._asked_after[id(call)] = self._repeated

    def _note(self, answered: ToolReturned, *, is_alone: bool) -> None:
        """Note what an outcome may be to a detector."""
        call, outcome = answered.call, answered.outcome
        if outcome.kind == "missing":
            return
        before = self._asked_after.pop(id(call), None)
        if before is not None:
            self._stale_since = max(self._stale_since, before)
        tool = self._tools.look_up(call.tool, call.arguments)
        nature = nature_of(tool, outcome)
        if nature in FAILED or nature == WAITING:
            key = self._failed[id(call)] = self._key(call)
            self._failed_keys[key] = self._failed_keys.get(key, 0) + 1
        answer = (tool.name, _compared(tool, outcome, nature))
        equal = not is_alone or self._answer is None or _may_equal(answer, self._answer)
        self._alike = self._alike + 1 if equal else 0
        self._answer = answer

    def _drop(self, oldest: _Entry) -> None:
        self._newest.popleft()
        self._counts[oldest.key] -= 1
        if not self._counts[oldest.key]:
            del self._counts[oldest.key]
        self._asked_after.pop(oldest.call, None)
        key = self._failed.pop(oldest.call, None)
        if key is not None:
            self._failed_keys[key] -= 1
            if not self._failed_keys[key]:
                del self._failed_keys[key]
        if len(self._told) > _SLACK * self._size:
            self._let_go()

    def _key(self, call: ToolCall) -> int:
        """Give a number that is equal for calls of equal signature, and mostly another one for others."""
        given = call.arguments
        tool = self._tools.look_up(call.tool, given)
        key = hash(tool.name)
        if tool.identity is not None or tool.rule == "plan":
            return key
        if type(given) is str:
            key += hash(given)
        for name, value in given.items() if type(given) is dict else ():
            if name not in tool.ignored:
                kind = type(value)
                if kind is str:
                    key += hash(value) if len(value) < _LONG else len(value)
                elif kind is int or kind is bool:
                    key += value
                elif kind is float:
                    key += int(value) if value.is_integer() else 0
                elif kind is list or kind is dict:
                    key += len(value)
        return key


def _compared(tool: Tool, outcome: Outcome, nature: str) -> object:
    """Give what an answer is compared by; `None` for what may equal anything."""
    value = outcome.value
    if nature not in {SUCCESS, CHANGE}:
        return nature
    if outcome.kind == "shell" and isinstance(value, dict):
        value = value.get("aggregated")
    if tool.rule not in {"result", "shell"}:
        return object()
    if tool.patterns or tool.volatile or (isinstance(value, str) and may_be_stub(value)):
        return None
    return value


def _may_equal(left: tuple[str, object], right: tuple[str, object]) -> bool:
    """Tell whether two answers may be equal."""
    try:
        return left[0] == right[0] and (left[1] is None or right[1] is None or left[1] == right[1])
    except Exception:
        return True
