"""
The contract of a store, which keeps the guard state of each session between short-lived processes.

A store keeps one state per key and changes it atomically: other processes never see half a change.
"""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, TypeVar

    Answer = TypeVar("Answer")
    State = dict[str, Any]
    Records = list[dict[str, Any]]
    Change = Callable[[State | None], tuple[State, Records, Answer]]

__all__ = ["Key", "Store", "StoredRun"]


class Key(Value):
    """
    The owner of a state: one conversation of one agent.

    Attributes:
        host: Name of the command-line agent, such as `claude-code`.
        session: Id of the session.
        agent: Id of the sub-agent; empty for the main agent.
    """

    __slots__ = ("agent", "host", "session")

    host: str
    session: str
    agent: str

    def __init__(self, host: str, session: str, agent: str = "") -> None:
        self._fill(host=host, session=session, agent=agent)


class StoredRun(Value):
    """
    A run that is kept in a store.

    Attributes:
        key: The conversation that the run belongs to.
        record: The record of the run, as returned by `RunRecord.as_dict`.
        updated: Time of the newest event of its session, in seconds since the epoch.
    """

    __slots__ = ("key", "record", "updated")

    key: Key
    record: dict[str, Any]
    updated: float

    def __init__(self, key: Key, record: dict[str, Any], updated: float) -> None:
        self._fill(key=key, record=record, updated=updated)


class Store:
    """The base class of stores."""

    @classmethod
    def at(cls, address: str, /) -> Self:
        """
        Open the store at an address, such as `sqlite:///var/lib/sessions.db`.

        Only stores that are listed in `STORES` need it.
        """
        raise NotImplementedError

    def update(self, key: Key, change: Change[Answer]) -> Answer:
        """
        Read a state, change it and write it back, in one transaction.

        Args:
            key: The conversation whose state is changed.
            change: Takes the state (`None` if there is none yet) and returns the new state, the records of its runs
                (most recently used first) and an answer. It may run in any process, and is called at most once.

        Returns:
            The answer of `change`.

        Raises:
            StoreError: The store cannot be read or written in time; nothing is changed.
        """
        raise NotImplementedError

    def runs(self, most: int = 100) -> list[StoredRun]:
        """
        Return the runs in the store, those of the most recently used session first.

        Args:
            most: Maximum number of runs.

        Raises:
            StoreError: The store cannot be read.
        """
        raise NotImplementedError

    def sweep(self, before: float) -> int:
        """
        Delete sessions whose newest event is older than a given time.

        Args:
            before: Time in seconds since the epoch.

        Returns:
            Number of sessions deleted.

        Raises:
            StoreError: The store cannot be written.
        """
        raise NotImplementedError

    def check(self) -> None:
        """
        Check that the store can be read and written, without leaving a trace.

        Raises:
            StoreError: It cannot.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release the resources that the store holds open."""
