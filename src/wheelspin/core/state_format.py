"""
How the parts of a run are written down: as plain JSON values.

Two rules hold here:

1. What is read is checked; a value that is not of the expected kind raises one of KeyError, TypeError and ValueError.
2. Only what is needed for later verdicts is written down: of a tool its name and whether it polls.
"""

from __future__ import annotations

from wheelspin.core.call_record import BlockedPattern, CallRecord
from wheelspin.core.events import Action, Finding, Level, OutcomeKind, Verdict
from wheelspin.core.outcome_status import OutcomeStatus
from wheelspin.core.tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.call_record import Link
    from wheelspin.core.history import Carried, History

__all__ = [
    "dump_carried",
    "dump_finding",
    "dump_pattern",
    "dump_record",
    "dump_verdict",
    "hexed",
    "load_carried",
    "load_finding",
    "load_pattern",
    "load_record",
    "load_verdict",
    "number",
    "text",
    "unhexed",
]


def number(value: object) -> int:
    """Return a whole number, or raise a ValueError."""
    if type(value) is not int:
        raise ValueError("a number was expected")
    return value


def text(value: object) -> str:
    """Return a text, or raise a ValueError."""
    if type(value) is not str:
        raise ValueError("a text was expected")
    return value


def hexed(signatures: tuple[bytes, ...]) -> list[str]:
    """Write down signatures."""
    return [signature.hex() for signature in signatures]


def unhexed(signatures: list[str]) -> tuple[bytes, ...]:
    """Read signatures."""
    return tuple(bytes.fromhex(signature) for signature in signatures)


def dump_pattern(pattern: BlockedPattern) -> list[Any]:
    """Write down a blocked pattern."""
    return [
        dump_finding(pattern.first),
        hexed(pattern.signatures),
        pattern.count,
        pattern.since_call,
        pattern.is_miss,
    ]


def load_pattern(data: list[Any]) -> BlockedPattern:
    """Read a blocked pattern."""
    first, signatures, count, since_call, is_miss = data
    pattern = BlockedPattern(load_finding(first), unhexed(signatures), number(since_call), is_miss=bool(is_miss))
    pattern.count = number(count)
    return pattern


def dump_record(record: CallRecord, link: Link, patterns: list[BlockedPattern]) -> list[Any]:
    """Write down a call record."""
    return [
        record.tool,
        record.signature.hex(),
        record.kind,
        record.outcome.hex() if record.outcome else None,
        record.id,
        record.polls,
        record.compactions,
        patterns.index(record.blocked_by) if record.blocked_by is not None else None,
        record.status,
        record.similarity_key.hex() if record.similarity_key else None,
        record.is_stale,
        int(link),
    ]


def load_record(data: list[Any], patterns: list[BlockedPattern]) -> CallRecord:
    """Read a call record."""
    tool, signature, kind, outcome, call_id, polls, compactions, pattern, status, similarity_key, is_stale, _ = data
    record = CallRecord(Tool(text(tool), polls=bool(polls)), bytes.fromhex(signature), call_id, compactions)
    record.kind = None if kind is None else OutcomeKind(kind)
    record.outcome = bytes.fromhex(outcome) if outcome else None
    record.blocked_by = patterns[pattern] if pattern is not None else None
    record.status = OutcomeStatus(status)
    record.similarity_key = bytes.fromhex(similarity_key) if similarity_key else None
    record.is_stale = bool(is_stale)
    return record


def dump_carried(history: History) -> list[Any]:
    """Write down the carried counts of a history."""
    fresh, departed, failures = history.carried_counts()
    return [
        fresh,
        departed,
        [
            [
                sign.hex(),
                count,
                outcome.hex() if outcome else None,
                status,
                None if of_group is None else of_group.number - history.first,
            ]
            for sign, count, outcome, status, of_group in failures
        ],
    ]


def load_carried(data: list[Any], records: list[CallRecord], size: int) -> Carried:
    """Read the carried counts of a history of these records."""
    fresh, departed, failures = data
    return (
        max(0, number(fresh) - max(0, len(records) - size)),
        number(departed),
        [
            (
                bytes.fromhex(sign),
                number(count),
                bytes.fromhex(outcome) if outcome else None,
                OutcomeStatus(status),
                None if of_group is None else records[number(of_group)],
            )
            for sign, count, outcome, status, of_group in failures
        ],
    )


def dump_finding(finding: Finding) -> list[Any]:
    """Write down a finding."""
    return [
        finding.detector,
        finding.level,
        finding.count,
        finding.threshold,
        hexed(finding.signatures),
        finding.no_progress,
        finding.cause,
        finding.status,
    ]


def load_finding(data: list[Any]) -> Finding:
    """Read a finding."""
    detector, level, count, threshold, signatures, no_progress, cause, status = data
    return Finding(
        text(detector),
        Level(level),
        number(count),
        number(threshold),
        unhexed(signatures),
        no_progress=bool(no_progress),
        cause=text(cause),
        status=None if status is None else OutcomeStatus(status),
    )


def dump_verdict(verdict: Verdict) -> list[Any]:
    """Write down a verdict."""
    finding = verdict.finding and dump_finding(verdict.finding)
    return [verdict.action, verdict.reason, verdict.advice, finding, verdict.observed]


def load_verdict(data: list[Any]) -> Verdict:
    """Read a verdict."""
    action, reason, advice, finding, observed = data
    return Verdict(
        Action(action),
        load_finding(finding) if finding else None,
        reason=reason,
        advice=advice,
        observed=None if observed is None else Action(observed),
    )
