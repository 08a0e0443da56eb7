"""
What the history is made of: a record of each call, and the patterns that blocked calls belong to.

Two rules hold here:

1. A record holds ids, digests and statuses, never arguments, results or their text.
2. Only the history changes a record once it has been appended.
"""

from __future__ import annotations

from enum import IntEnum

from wheelspin.core.events import UNKNOWN_TOOL, VETO, Finding, Level, OutcomeKind
from wheelspin.core.outcome_status import SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Final

    from wheelspin.core.events import Verdict
    from wheelspin.core.outcome_status import OutcomeStatus
    from wheelspin.core.tools import Tool

__all__ = ["BlockedPattern", "CallRecord", "Link", "links"]


class Link(IntEnum):
    """How a call is linked to the call before it."""

    ALONE = 0
    """Not at all: that one's outcome was known."""
    SAME_GROUP = 1
    """It was requested before that one had an outcome, so they ran in parallel."""
    SAME_MESSAGE = 2
    """The same message of the model requested both."""


ALONE: Final = Link.ALONE
SAME_MESSAGE: Final = Link.SAME_MESSAGE


class BlockedPattern:
    """
    A pattern that was blocked in this run: one signature, or the two of a ping-pong (SPEC 6, rule 3).

    Attributes:
        first: The finding that it was first blocked for.
        signatures: The calls that stay blocked; empty if each call is judged anew.
        count: Its count, which grows with each blocked call.
        since_call: Number of calls in the run when it was first blocked. If two patterns share a signature, the
            older one is reported.
        is_miss: Whether it was blocked because there is no such tool.
    """

    __slots__ = ("count", "first", "is_miss", "signatures", "since_call")

    def __init__(self, first: Finding, signatures: tuple[bytes, ...], since_call: int, *, is_miss: bool) -> None:
        self.first = first
        self.signatures = signatures
        self.count = first.count
        self.since_call = since_call
        self.is_miss = is_miss

    @property
    def status(self) -> OutcomeStatus | None:
        """The status of the outcomes, if the detector looks at it."""
        return self.first.status

    def finding(self, count: int) -> Finding:
        """Return the finding for the `count`th call of this pattern."""
        first = self.first
        return Finding(first.detector, Level.CRITICAL, count, first.threshold, first.signatures, status=first.status)


class CallRecord:
    """
    One call in the history: fingerprints and ids, nothing of its content (SPEC 1).

    Attributes:
        known: What is known about the tool.
        signature: Fingerprint of the tool and the arguments.
        id: The call's id, or `None`.
        number: Its position in the run, from 0; -1 before it is in a history.
        compactions: Number of compactions of the session before the call was requested.
        kind: Where the outcome came from; `None` while the call is open.
        outcome: Fingerprint of the outcome; `None` while the call is open, if it was blocked, and if the outcome
            cannot be compared.
        status: The status of the outcome; `success` while there is none.
        blocked_by: The pattern that it was blocked for.
        parallel: Numbers of the first call of its group and of its message, if it is linked to calls before it.
        similarity_key: What it shares with calls of other signatures. For a failure the way in which it failed, also
            for a call that was blocked for that; for a success the similarity of its arguments, which is computed only
            where successes resemble each other.
        is_stale: Whether this signature had the same outcome before, within the history.
        pending_verdict: The verdict on the call while it is open, if there was anything to say.
    """

    __slots__ = (
        "blocked_by",
        "compactions",
        "id",
        "is_stale",
        "kind",
        "known",
        "number",
        "outcome",
        "parallel",
        "pending_verdict",
        "signature",
        "similarity_key",
        "status",
    )

    def __init__(
        self,
        known: Tool,
        signature: bytes,
        id: str | None = None,  # noqa: A002 - the usual word for it
        compactions: int = 0,
    ) -> None:
        self.known = known
        self.signature = signature
        self.id = id
        self.compactions = compactions
        self.number = -1
        self.kind: OutcomeKind | None = None
        self.outcome: bytes | None = None
        self.blocked_by: BlockedPattern | None = None
        self.status: OutcomeStatus = SUCCESS
        self.similarity_key: bytes | None = None
        self.is_stale = False
        self.parallel: tuple[int, int] | None = None
        self.pending_verdict: Verdict | None = None

    @property
    def tool(self) -> str:
        """Canonical name of the tool."""
        return self.known.name

    @property
    def polls(self) -> bool:
        """Whether the call only asks for the state of something."""
        return self.known.polls

    @property
    def thresholds(self) -> tuple[int | None, int | None] | None:
        """Warning and critical threshold of the tool itself, each or `None`."""
        return self.known.thresholds

    @property
    def group(self) -> int:
        """Number of the first call that ran in parallel with this one."""
        return self.number if self.parallel is None else self.parallel[0]

    @property
    def message(self) -> int:
        """Number of the first call that the same message of the model requested, as far as the host says."""
        return self.number if self.parallel is None else self.parallel[1]

    @property
    def is_miss(self) -> bool:
        """Whether there was no such tool: the host said so, or the call was blocked for that."""
        return self.kind is UNKNOWN_TOOL or (self.blocked_by is not None and self.blocked_by.is_miss)

    @property
    def found_its_tool(self) -> bool:
        """Whether the tool was there, however the call ended."""
        return self.kind is not None and self.kind is not VETO and self.kind is not UNKNOWN_TOOL

    def link(self, before: CallRecord, link: Link) -> None:
        """Link it to the call before it: to its group, and to its message if that is the same."""
        if link is ALONE:
            self.parallel = None
        else:
            self.parallel = before.group, before.message if link is SAME_MESSAGE else self.number

    def link_to(self, before: CallRecord | None) -> Link:
        """Return how it is linked to the call before it."""
        if before is None or before.group != self.group:
            return ALONE
        return SAME_MESSAGE if before.message == self.message else Link.SAME_GROUP


def links(records: Iterable[CallRecord]) -> Iterator[Link]:
    """Yield for each record how it is linked to the one before it."""
    before: CallRecord | None = None
    for record in records:
        yield record.link_to(before)
        before = record
