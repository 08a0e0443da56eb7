"""A store in memory, which is gone when its process ends: for tests and for agents with one process per session."""

from __future__ import annotations

import time
from _thread import allocate_lock

from wheelspin.stores.base import Key, Store, StoredRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from wheelspin.stores.base import Answer, Change, Records, State

__all__ = ["InMemoryStore"]


class InMemoryStore(Store):
    """
    A store that keeps states in memory.

    Args:
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = allocate_lock()
        self._kept: dict[Key, tuple[State, Records, float]] = {}

    @classmethod
    def at(cls, _: str, /) -> Self:
        """Open a new, empty store."""
        return cls()

    def update(self, key: Key, change: Change[Answer]) -> Answer:
        """Change a state; threads take turns."""
        with self._lock:
            kept = self._kept.pop(key, None)
            try:
                state, records, answer = change(kept[0] if kept is not None else None)
            except BaseException:
                if kept is not None:
                    self._kept[key] = kept
                raise
            self._kept[key] = state, records, self._clock()
            return answer

    def runs(self, most: int = 100) -> list[StoredRun]:
        """Return the runs of the most recently used sessions."""
        with self._lock:
            kept = sorted(self._kept.items(), key=lambda item: -item[1][2])
        runs = [StoredRun(key, record, updated) for key, (_, records, updated) in kept for record in records]
        return runs[:most]

    def sweep(self, before: float) -> int:
        """Delete old sessions."""
        with self._lock:
            old = [key for key, (_, _, updated) in self._kept.items() if updated < before]
            for key in old:
                del self._kept[key]
        return len(old)

    def check(self) -> None:
        """Do nothing: memory can always be read and written."""
