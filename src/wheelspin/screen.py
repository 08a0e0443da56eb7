"""
A screen before the guard, for scans: stretches of a run in which no detector can find anything need no fingerprints.

Every pattern that is warned about is made of calls that come back, or of tools that are missing. While no call of a run
has come back often enough, and few have failed, the guard would allow each of them without a finding; then it is enough
to hold on to the newest calls. As soon as something could be found they are fed to the guard, and the run is judged
from there on. The verdicts are those of a guard that saw every call: a property of `tests/test_replay.py`.
"""

from __future__ import annotations

from collections import deque

from wheelspin.core.events import ToolCall
from wheelspin.core.settings import Settings
from wheelspin.core.volatile import ToolTable
from wheelspin.transcript import Answered, Asked

__all__ = ["Screen"]

_PLAIN = frozenset({str, int, float, bool, type(None)})
_SIZED = frozenset({list, dict})
_FAILURES = frozenset({"error", "unknown_tool"})


class _Entry:
    """A call that is held on to, with what came back, and when each was told."""

    __slots__ = ("answered", "asked", "at", "back_at", "key")

    def __init__(self, asked: Asked, key: int, at: int) -> None:
        self.asked = asked
        self.key = key
        self.at = at
        self.answered: Answered | None = None
        self.back_at = 0


class Screen:
    """
    The newest calls of one run in which nothing can be found so far.

    Args:
        settings: What holds for the agent.
        tools: What is known about the host's tools.
    """

    __slots__ = ("_counts", "_entries", "_failures", "_limit", "_most_failures", "_of_call", "_size", "_told", "_tools")

    def __init__(self, settings: Settings, tools: ToolTable) -> None:
        self._tools = tools
        self._size = settings.history_size
        never = self._size + 1
        self._limit = (settings.warning_threshold - 1) // 2 if settings.enabled else never
        self._most_failures = settings.unknown_tool_threshold if settings.enabled else never
        self._entries: deque[_Entry] = deque()
        self._of_call: dict[int, _Entry] = {}
        self._counts: dict[int, int] = {}
        self._failures = 0
        self._told = 0

    def ask(self, asked: Asked) -> bool:
        """
        Take a call in.

        Returns:
            `False` where the guard has to judge it, after what is held on to was fed; it is not taken in then.
        """
        key = self._key(asked.call)
        count = self._counts.get(key, 0)
        if count >= self._limit or self._failures >= self._most_failures:
            return False
        if len(self._entries) == self._size:
            oldest = self._entries[0]
            if oldest.answered is None:
                return False
            self._drop(oldest)
        self._told += 1
        entry = _Entry(asked, key, self._told)
        self._entries.append(entry)
        self._of_call[id(asked.call)] = entry
        self._counts[key] = count + 1
        return True

    def answer(self, answered: Answered) -> bool:
        """
        Take an outcome in.

        Returns:
            `False` where its call is not held on to.
        """
        entry = self._of_call.pop(id(answered.call), None)
        if entry is None:
            return False
        self._told += 1
        entry.answered = answered
        entry.back_at = self._told
        self._failures += answered.outcome.kind in _FAILURES
        return True

    @property
    def waits(self) -> bool:
        """Whether a call is not answered yet."""
        return bool(self._of_call)

    def events(self) -> list[Asked | Answered]:
        """Give all that is held on to, in the order in which it was told."""
        told: list[tuple[int, Asked | Answered]] = [(entry.at, entry.asked) for entry in self._entries]
        told += [(entry.back_at, entry.answered) for entry in self._entries if entry.answered is not None]
        told.sort(key=lambda pair: pair[0])
        return [event for _, event in told]

    def _drop(self, oldest: _Entry) -> None:
        self._entries.popleft()
        if self._counts[oldest.key] == 1:
            del self._counts[oldest.key]
        else:
            self._counts[oldest.key] -= 1
        self._failures -= oldest.answered is not None and oldest.answered.outcome.kind in _FAILURES

    def _key(self, call: ToolCall) -> int:
        """Give a number that is equal for calls of equal signature, and mostly another one for others."""
        given = call.arguments
        tool = self._tools.look_up(call.tool, given)
        if type(given) is not dict:
            return hash((tool.name, given)) if type(given) is str else hash(tool.name)
        parts = hash(tool.name)
        for name, value in given.items():
            if name not in tool.ignored:
                kind = type(value)
                if kind in _PLAIN:
                    is_nan = value != value  # noqa: PLR0124 - equal for the guard, and of another hash each time
                    parts ^= hash((name, None if is_nan else value))
                elif kind in _SIZED:
                    parts ^= hash((name, len(value)))
        return parts
