"""
The contract of a store: what guards remember of each session, for hosts whose processes come and go.

A store keeps one state for each key, and changes it in one step that no other process sees half of.
"""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")
    State = dict[str, Any]
    Records = list[dict[str, Any]]
    Change = Callable[[State | None], tuple[State, Records, Answer]]

__all__ = ["Key", "Store", "StoredRun"]


class Key(Value):
    """Whose state it is: one conversation of one agent of one host."""

    __slots__ = ("agent", "host", "session")

    host: str
    session: str
    agent: str

    def __init__(self, host: str, session: str, agent: str = "") -> None:
        self._fill(host=host, session=session, agent=agent)


class StoredRun(Value):
    """A run that is remembered."""

    __slots__ = ("key", "record", "updated")

    key: Key
    record: dict[str, Any]
    """Its record, as `RunRecord.as_dict` gives it."""
    updated: float
    """Time of its session's newest event, in seconds since the epoch."""

    def __init__(self, key: Key, record: dict[str, Any], updated: float) -> None:
        self._fill(key=key, record=record, updated=updated)


class Store:
    """A store. A member of the family is one file: the class, and how it is opened."""

    def update(self, key: Key, change: Change[Answer]) -> Answer:
        """
        Read a state, change it and write it, in one transaction.

        Args:
            key: Whose state.
            change: Takes the state, `None` where there is none, and gives the new one, the records of its runs (the one
                that was used last first) and an answer. It may be called in any process, and once only.

        Returns:
            The answer of `change`.

        Raises:
            StoreError: The store cannot be read or written in time; nothing is changed.
        """
        raise NotImplementedError

    def runs(self, most: int = 100) -> list[StoredRun]:
        """
        Give the runs that are remembered, those of the session that was used last first.

        Raises:
            StoreError: The store cannot be read.
        """
        raise NotImplementedError

    def sweep(self, before: float) -> int:
        """
        Forget sessions whose newest event is older.

        Args:
            before: Time in seconds since the epoch.

        Returns:
            How many sessions were forgotten.

        Raises:
            StoreError: The store cannot be written.
        """
        raise NotImplementedError

    def check(self) -> None:
        """
        Try whether the store can be read and written, and leave no trace.

        Raises:
            StoreError: It cannot.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what the store holds open."""
