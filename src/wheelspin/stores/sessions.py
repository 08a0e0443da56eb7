"""Guards whose state is kept in a store, for agents that start a new process for each event."""

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
"""Number of runs kept per session: the current one, and earlier ones whose outcomes may still arrive."""
_KEPT = 14 * 24 * 3600.0
"""Seconds for which a session is kept after its newest event."""


class Sessions:
    """
    The guards of many sessions, each with its state in a store.

    Args:
        store: Keeps the states.
        settings: Settings of the guards.
        tools: What is known about the tools of the command-line agent.
        clock: Returns the time in seconds since the epoch.
        damaged: Called with a message when a state cannot be used and its session starts over.
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
        Use the guard of a session, in one transaction. A new session also deletes the expired ones.

        Args:
            key: The session.
            do: Called with the guard of the session.

        Returns:
            The return value of `do`.

        Raises:
            StoreError: The store cannot be read or written; the guard's state is then unchanged.
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
                    self._damaged(f"{key.host} session {key.session}: {problem}; the session starts over")
            answer = do(guard)
            return guard.dump(), [record.as_dict() for record in guard.records()], answer

        answer = self._store.update(key, change)
        if is_new:
            self._store.sweep(self._clock() - _KEPT)
        return answer
