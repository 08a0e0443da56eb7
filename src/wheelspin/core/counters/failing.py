"""Counts tools that keep failing in the same way, whatever their arguments."""

from __future__ import annotations

from wheelspin.core.events import VETO
from wheelspin.core.outcome_status import MUTATION, SUCCESS, SUCCESSFUL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.outcome_status import OutcomeStatus

    _Key = TypeVar("_Key")

__all__ = ["Chain", "Failing"]


class Chain:
    """
    The newest outcomes of one tool, for as long as they are failures of one kind.

    Attributes:
        way: The way in which they failed.
        first: Number of the record that it began with. An earlier record of the same group is not part of it.
        status: The status of the newest failure.
        groups: The groups of parallel calls with a failure, each with the number of its records in the history.
        signatures: The calls, each with the number of its records in the history.
        blocked: Signature of the call that was blocked for it, until another one was tried.
    """

    __slots__ = ("blocked", "first", "groups", "signatures", "status", "way")

    def __init__(self, record: CallRecord) -> None:
        self.way = record.similarity_key
        self.first = record.number
        self.status: OutcomeStatus = SUCCESS
        self.groups: dict[int, int] = {}
        self.signatures: dict[bytes, int] = {}
        self.blocked: bytes | None = None

    def __len__(self) -> int:
        return len(self.groups)

    def add(self, record: CallRecord) -> None:
        """Add a record."""
        self.groups[record.group] = self.groups.get(record.group, 0) + 1
        self.signatures[record.signature] = self.signatures.get(record.signature, 0) + 1

    def drop(self, record: CallRecord) -> None:
        """Remove a record."""
        _count_down(self.groups, record.group)
        _count_down(self.signatures, record.signature)


class Failing(dict[str, Chain]):
    """The chains of one run, by tool."""

    __slots__ = ()

    def has(self, way: bytes) -> bool:
        """Return whether a tool still fails in this way."""
        return any(chain.way == way for chain in self.values())

    def resolve(self, record: CallRecord) -> None:
        """Count an outcome that is the newest of its tool."""
        tool = record.tool
        chain = self.get(tool)
        if record.kind is VETO:
            if record.blocked_by is not None and _is_counted(record):
                if chain is None or chain.way != record.similarity_key:
                    chain = self[tool] = Chain(record)
                    chain.status = record.blocked_by.status or SUCCESS
                chain.add(record)
                chain.blocked = record.signature
            return
        if record.similarity_key is None or record.status in SUCCESSFUL:
            if chain is not None:
                del self[tool]
            return
        if chain is None or chain.way != record.similarity_key:
            chain = self[tool] = Chain(record)
        chain.status = record.status
        chain.blocked = None
        chain.add(record)

    def recount(self, tool: str, records: Iterable[CallRecord]) -> None:
        """Count a tool again: an outcome came after that of a later call."""
        self.pop(tool, None)
        for record in records:
            if record.status is MUTATION:
                self.pop(tool, None)
            elif record.tool == tool and record.kind is not None:
                self.resolve(record)

    def drop(self, record: CallRecord) -> None:
        """Remove a record that leaves the history."""
        chain = self.get(record.tool)
        if (
            chain is None
            or record.number < chain.first
            or record.similarity_key != chain.way
            or not _is_counted(record)
        ):
            return
        chain.drop(record)
        if not chain.groups:
            del self[record.tool]


def _is_counted(record: CallRecord) -> bool:
    """Return whether a record is part of a chain; of blocked calls, those that were blocked for a way of failing."""
    if record.kind is VETO:
        return record.similarity_key is not None
    return record.status not in SUCCESSFUL


def _count_down(counts: dict[_Key, int], key: _Key) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
