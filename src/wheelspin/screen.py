"""
A screen before the guard, for scans: stretches of a run in which no detector can find anything need no fingerprints.

Every pattern that is warned about is made of calls that come back, or of tools that are missing. While no call of a run
has come back often enough, and few have failed, the guard would allow each of them without a finding; then it is enough
to hold on to the newest calls. As soon as something could be found they are fed to the guard, and the run is judged
from there on. The verdicts are those of a guard that saw every call: a property of `tests/test_replay.py`.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from wheelspin.core.events import ToolCall
from wheelspin.core.settings import Settings
from wheelspin.core.tools import ToolTable
from wheelspin.transcript import Answered, Asked

__all__ = ["Screen"]

_FAILURES = frozenset({"error", "unknown_tool"})
_LONG = 256
"""Characters from which on the length of a text stands for it."""
_SLACK = 8
"""Events per call of a full history at which those of calls that fell out of it are let go."""


class _Entry(NamedTuple):
    """A call that is held on to."""

    call: int
    key: int


class Screen:
    """
    The newest calls of one run in which nothing can be found so far.

    Args:
        settings: What holds for the agent.
        tools: What is known about the host's tools.
    """

    __slots__ = ("_counts", "_failed", "_few", "_limit", "_most_failed", "_newest", "_open", "_size", "_told", "_tools")

    def __init__(self, settings: Settings, tools: ToolTable) -> None:
        self._tools = tools
        self._size = settings.history_size
        never = self._size + 1
        self._limit = (settings.warning_threshold - 1) // 2 if settings.enabled else never
        self._most_failed = settings.unknown_tool_threshold if settings.enabled else never
        self._few = min(self._size, settings.warning_threshold - 1, self._most_failed)
        """Calls that need no look at all, since no detector speaks of so few."""
        self._told: list[Asked | Answered] = []
        self._open: set[int] = set()
        self._failed: set[int] = set()
        self._newest: deque[_Entry] = deque()
        self._counts: dict[int, int] = {}

    def ask(self, asked: Asked) -> bool:
        """
        Take a call in.

        Returns:
            `False` where the guard has to judge it, after what is held on to was fed; it is not taken in then.
        """
        if self._few > 0:
            self._few -= 1
        elif not self._is_quiet(asked):
            return False
        self._open.add(id(asked.call))
        self._told.append(asked)
        return True

    def answer(self, answered: Answered) -> bool:
        """
        Take an outcome in.

        Returns:
            `False` where its call is not held on to.
        """
        call = id(answered.call)
        if call not in self._open:
            return False
        self._open.remove(call)
        self._told.append(answered)
        if answered.outcome.kind in _FAILURES:
            self._failed.add(call)
        return True

    @property
    def waits(self) -> bool:
        """Whether a call is not answered yet."""
        return bool(self._open)

    def events(self) -> list[Asked | Answered]:
        """Give all that is held on to, in the order in which it was told."""
        if self._newest:
            self._let_go()
        return self._told

    def _let_go(self) -> None:
        """Let go of the events of calls that fell out of the history."""
        held = {entry.call for entry in self._newest}
        self._told = [event for event in self._told if id(event.call) in held]

    def _is_quiet(self, asked: Asked) -> bool:
        """Tell whether the guard would say nothing to a call, and count it if so."""
        if not self._newest:
            for event in self._told:
                if type(event) is Asked:
                    self._count(event.call)
        oldest = self._newest[0] if len(self._newest) == self._size else None
        if oldest is not None and oldest.call in self._open:
            return False
        if self._count(asked.call) > self._limit or len(self._failed) >= self._most_failed:
            self._newest.pop()
            return False
        if oldest is not None:
            self._drop(oldest)
        return True

    def _count(self, call: ToolCall) -> int:
        """Give how many of the newest calls may be equal to this one, with itself, which is the newest now."""
        key = self._key(call)
        self._newest.append(_Entry(id(call), key))
        count = self._counts[key] = self._counts.get(key, 0) + 1
        return count

    def _drop(self, oldest: _Entry) -> None:
        self._newest.popleft()
        self._counts[oldest.key] -= 1
        if not self._counts[oldest.key]:
            del self._counts[oldest.key]
        self._failed.discard(oldest.call)
        if len(self._told) > _SLACK * self._size:
            self._let_go()

    def _key(self, call: ToolCall) -> int:
        """Give a number that is equal for calls of equal signature, and mostly another one for others."""
        given = call.arguments
        tool = self._tools.look_up(call.tool, given)
        key = hash(tool.name)
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
