"""Guard, settings and store together: for hosts whose processes come and go."""

from __future__ import annotations

import time

from wheelspin.core.guard import Guard
from wheelspin.core.known_tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from wheelspin.core.settings import Settings
    from wheelspin.core.tools import ToolTable
    from wheelspin.stores.base import Key, Store

    Answer = TypeVar("Answer")

__all__ = ["Sessions"]

_RUNS_KEPT = 4
"""Runs of one session that are remembered: the one that is on, and those whose late outcomes may still come."""
_KEPT = 14 * 24 * 3600.0
"""Seconds for which a session is remembered after its newest event."""


class Sessions:
    """
    The guards of many sessions, whose states are in a store.

    Args:
        store: Where the states are.
        settings: What holds.
        tools: What is known about the host's tools.
        clock: Gives the time in seconds since the epoch.
        damaged: Told when a state could not be used, so that the session begins anew.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        tools: ToolTable = TOOLS,
        clock: Callable[[], float] = time.time,
        damaged: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._tools = tools
        self._clock = clock
        self._damaged = damaged

    def act(self, key: Key, do: Callable[[Guard], Answer]) -> Answer:
        """
        Let something be done with the guard of a session, in one transaction. A new session sweeps out the old ones.

        Args:
            key: The session.
            do: Asks and tells the guard, and gives what comes of it.

        Raises:
            StoreError: The store cannot be read or written; the guard has seen nothing then.
        """
        is_new = False

        def change(state: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], Answer]:
            nonlocal is_new
            guard = Guard(self._settings, tools=self._tools, clock=self._clock, max_runs=_RUNS_KEPT)
            is_new = state is None
            if state is not None:
                try:
                    guard.load(state)
                except ValueError as problem:
                    self._damaged(f"{key.host} session {key.session}: {problem}; it begins anew")
            answer = do(guard)
            return guard.dump(), [record.as_dict() for record in guard.records()], answer

        answer = self._store.update(key, change)
        if is_new:
            self._store.sweep(self._clock() - _KEPT)
        return answer
