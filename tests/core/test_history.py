"""The history: its counters are those of a scan over all its records."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wheelspin.core.call_record import BlockedPattern, CallRecord, Link
from wheelspin.core.events import Finding, Level, OutcomeKind
from wheelspin.core.history import History
from wheelspin.core.outcome_status import OutcomeStatus
from wheelspin.core.tools import Tool

SIGNATURES = [b"A", b"B", b"C"]
TOOLS = {b"A": "x", b"B": "x", b"C": "y"}
OUTCOMES = [b"1", b"1", b"1", b"2", None]


class Answers(NamedTuple):
    """What a history says of one signature."""

    repeats: int
    streak: int
    misses: int
    alternation: int
    blocked: BlockedPattern | None
    open_call: CallRecord | None
    outcomes: int
    in_a_row: int
    stagnation: int
    failing: int
    is_news: bool


def _asked(history: History, signature: bytes) -> Answers:
    return Answers(
        history.repeats(signature),
        history.streak(signature),
        history.misses(TOOLS[signature]),
        history.alternation(signature),
        history.blocked(signature),
        history.open_call(signature),
        history.outcomes(signature),
        history.in_a_row(signature),
        history.stagnation,
        len(history.failing(TOOLS[signature]) or ()),
        history.is_news(signature),
    )


def _scanned(history: History, signature: bytes) -> Answers:
    records = list(history)
    mine = [record for record in records if record.signature == signature]
    alive = sorted(
        {record.blocked_by for record in records if record.blocked_by is not None},
        key=lambda pattern: pattern.since_call,
    )
    blocking = [pattern for pattern in alive if signature in pattern.signatures]
    return Answers(
        len(mine),
        0 if _is_over(mine, records) else _streak(mine, records),
        _misses([record for record in records if record.tool == TOOLS[signature]]),
        _alternation(records, signature),
        blocking[0] if blocking else None,
        next((record for record in reversed(mine) if record.kind is None), None),
        len({record.outcome for record in mine if record.kind not in {None, OutcomeKind.VETO}}),
        _in_a_row(records, mine, signature),
        _stagnation(records, history.carried_counts()[0]) + history.carried_counts()[1],
        _failing([record for record in records if record.tool == TOOLS[signature]], _changed_at(records)),
        not mine
        and not (records and records[-1].similarity_key is not None)
        and not any(
            _failing([record for record in records if record.tool == tool], _changed_at(records)) for tool in ("x", "y")
        )
        and not any(_misses([record for record in records if record.tool == tool]) for tool in ("x", "y"))
        and not any(pattern.signatures for pattern in alive),
    )


def _of_tool(records: list[CallRecord], tool: str) -> list[CallRecord]:
    return [record for record in records if record.tool == tool]


def _streak(mine: list[CallRecord], records: list[CallRecord]) -> int:
    """Count the newest equal outcomes; a failure before something was changed is another story."""
    changes = [record.number for record in records if record.status is OutcomeStatus.MUTATION]
    streak, vetoes = 0, 0
    ran: CallRecord | None = None
    before = -1
    for record in mine:
        if record.kind is None:
            continue
        if record.kind is OutcomeKind.VETO:
            streak, vetoes = streak + 1, vetoes + 1
        else:
            anew = (
                ran is not None
                and ran.status is OutcomeStatus.FAILURE
                and any(before < at < record.number for at in changes)
            )
            equal = ran is None or (record.outcome is not None and record.outcome == ran.outcome)
            streak = streak + 1 if equal and not anew else vetoes + 1
            ran, vetoes = record, 0
        before = record.number
    return streak


def _changed_at(records: list[CallRecord]) -> int:
    return max((record.number for record in records if record.status is OutcomeStatus.MUTATION), default=-1)


def _is_over(mine: list[CallRecord], records: list[CallRecord]) -> bool:
    """A call that failed before something was changed begins anew."""
    resolved = [record for record in mine if record.kind is not None]
    ran = [record for record in resolved if record.kind is not OutcomeKind.VETO]
    return bool(ran) and ran[-1].status is OutcomeStatus.FAILURE and resolved[-1].number < _changed_at(records)


def _in_a_row(records: list[CallRecord], mine: list[CallRecord], signature: bytes) -> int:
    groups = []
    for record in reversed(records):
        if record.signature != signature:
            break
        groups.append(record.group)
    return 0 if not groups or _is_over(mine, records) else min(_streak(mine, records), len(set(groups)))


def _stagnation(records: list[CallRecord], passed: int) -> int:
    """Count by the records; what was new in a message whose record left the history, they do not tell."""
    known = [record.message for record in records[:passed]]
    fresh = max(
        [record.message for record in records if record.kind is not None and not record.is_stale] + known, default=-1
    )
    return len({record.message for record in records if record.is_stale and record.message > fresh})


def _failing(of_tool: list[CallRecord], changed_at: int) -> int:
    groups: set[int] = set()
    way: bytes | None = None
    for record in reversed(of_tool):
        if record.kind is None:
            continue
        if record.kind is OutcomeKind.VETO:
            continue
        if (
            record.similarity_key is None
            or record.status is not OutcomeStatus.FAILURE
            or record.number < changed_at
            or way not in {None, record.similarity_key}
        ):
            break
        way = record.similarity_key
        groups.add(record.group)
    return len(groups)


def _misses(of_tool: list[CallRecord]) -> int:
    misses = 0
    for record in reversed(of_tool):
        if record.is_miss:
            misses += 1
        elif record.kind not in {None, OutcomeKind.VETO}:
            break
    return misses


def _alternation(records: list[CallRecord], signature: bytes) -> int:
    if len(records) < 2 or records[-2].signature != signature or records[-1].signature == signature:
        return 0
    tail = [records[-1], records[-2]]
    for record in reversed(records[:-2]):
        if record.signature != tail[-2].signature:
            break
        tail.append(record)
    tail.reverse()
    start = 0
    newest: dict[bytes, bytes | None] = {}
    for place, record in enumerate(tail):
        if record.kind in {None, OutcomeKind.VETO}:
            continue
        if record.signature in newest:
            before = newest[record.signature]
            if record.outcome is None or before is None or record.outcome != before:
                start = place
        newest[record.signature] = record.outcome
    return len(tail) - start + 1


class HistoryMachine(RuleBasedStateMachine):
    """Adds records and outcomes in any order, and holds every counter against a scan."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(8)
        self.patterns: list[BlockedPattern] = []
        self.added = 0
        self.turn = 0

    def _record(self, signature: bytes, call_id: str | None = None) -> CallRecord:
        self.added += 1
        return CallRecord(Tool(TOOLS[signature]), signature, call_id)

    @rule(
        signature=st.sampled_from(SIGNATURES),
        call_id=st.sampled_from([None, "c", "d"]),
        link=st.sampled_from([Link.ALONE, *Link]),
    )
    def ask(self, signature: bytes, call_id: str | None, link: Link) -> None:
        self.history.append(self._record(signature, call_id), link)

    @rule(sides=st.sampled_from([2, 3]))
    def ask_in_turn(self, sides: int) -> None:
        self.turn += 1
        self.history.append(self._record(SIGNATURES[self.turn % sides]))

    @rule(
        signature=st.sampled_from(SIGNATURES),
        kind=st.sampled_from([OutcomeKind.RESULT, OutcomeKind.UNKNOWN_TOOL]),
        outcome=st.sampled_from(OUTCOMES),
    )
    def add_whole(self, signature: bytes, kind: OutcomeKind, outcome: bytes | None) -> None:
        record = self._record(signature)
        record.kind, record.outcome = kind, outcome
        self.history.append(record)

    @rule(
        signature=st.sampled_from(SIGNATURES),
        data=st.data(),
        is_miss=st.booleans(),
    )
    def veto(self, signature: bytes, data: Any, *, is_miss: bool) -> None:
        record = self._record(signature)
        if self.patterns and data.draw(st.booleans()):
            pattern = data.draw(st.sampled_from(self.patterns))
        else:
            signatures = data.draw(st.lists(st.sampled_from(SIGNATURES), unique=True))
            finding = Finding("ping-pong", Level.CRITICAL, 2, 2, tuple(signatures))
            pattern = BlockedPattern(finding, finding.signatures, self.added, is_miss=is_miss)
            self.patterns.append(pattern)
        record.kind, record.blocked_by, record.is_stale = OutcomeKind.VETO, pattern, True
        self.history.append(record)

    @precondition(lambda self: any(record.kind is None for record in self.history))
    @rule(
        data=st.data(),
        kind=st.sampled_from([OutcomeKind.RESULT, OutcomeKind.RESULT, OutcomeKind.ERROR, OutcomeKind.UNKNOWN_TOOL]),
        outcome=st.sampled_from(OUTCOMES),
        status=st.sampled_from([*[OutcomeStatus.SUCCESS] * 2, OutcomeStatus.FAILURE, OutcomeStatus.MUTATION]),
    )
    def answer(self, data: Any, kind: OutcomeKind, outcome: bytes | None, status: OutcomeStatus) -> None:
        record = data.draw(st.sampled_from([record for record in self.history if record.kind is None]))
        seen = [
            other.outcome for other in self.history if other.signature == record.signature and other.kind is not None
        ]
        similarity_key = outcome if status is OutcomeStatus.FAILURE else None
        self.history.record_outcome(record, kind, outcome, status, similarity_key)
        assert record.is_stale == (status is not OutcomeStatus.MUTATION and outcome is not None and outcome in seen)

    @precondition(lambda self: any(record.kind is None for record in self.history))
    @rule(data=st.data(), signature=st.sampled_from(SIGNATURES))
    def run_with_other_arguments(self, data: Any, signature: bytes) -> None:
        record = data.draw(st.sampled_from([record for record in self.history if record.kind is None]))
        record.known = Tool(TOOLS[signature])
        self.history.change_signature(record, signature)

    @precondition(lambda self: any(record.kind is None for record in self.history))
    @rule(data=st.data())
    def forget(self, data: Any) -> None:
        self.history.remove(data.draw(st.sampled_from([record for record in self.history if record.kind is None])))

    @invariant()
    def counters_equal_a_scan(self) -> None:
        for signature in SIGNATURES:
            scanned, asked = _scanned(self.history, signature), _asked(self.history, signature)
            assert scanned == asked, [
                name for name in Answers._fields if getattr(scanned, name) != getattr(asked, name)
            ]

    @invariant()
    def a_history_of_the_same_records_says_the_same(self) -> None:
        again = History(
            self.history.size, [copy.copy(record) for record in self.history], self.history.carried_counts()
        )
        for signature in SIGNATURES:
            assert _asked(self.history, signature)._replace(open_call=None) == _asked(again, signature)._replace(
                open_call=None
            )


class SmallHistoryMachine(HistoryMachine):
    """The same with hardly any room."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(2)


TestCounters = HistoryMachine.TestCase
TestCountersOfASmallHistory = SmallHistoryMachine.TestCase


@given(size=st.integers(1, 5), count=st.integers(0, 20))
def test_the_newest_records_are_kept_in_order(size: int, count: int) -> None:
    """A ring of any size holds the newest records, oldest first."""
    history = History(size)
    records = [CallRecord(Tool("x"), bytes([number])) for number in range(count)]
    for record in records:
        history.append(record)

    assert list(history) == records[-size:]
    assert len(history) == min(size, count)
    assert history.newest is (records[-1] if records else None)


def test_a_call_id_finds_its_newest_record_for_as_long_as_it_is_kept() -> None:
    """Ids that are used again mean the newest call; those of dropped records are forgotten."""
    history = History(2)
    first, second, third = (CallRecord(Tool("x"), b"A", call_id) for call_id in ("c", "c", "d"))
    history.append(first)
    history.append(second)
    assert history.calls == {"c": second}

    history.append(third)
    assert history.calls == {"c": second, "d": third}

    history.append(CallRecord(Tool("x"), b"A"))
    assert history.calls == {"d": third}


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_all_resolved_asks_for_outcomes_of_the_newest_records(count: int) -> None:
    """More records than there are cannot all have an outcome."""
    history = History(8)
    for kind in (None, OutcomeKind.RESULT, OutcomeKind.VETO):
        record = CallRecord(Tool("x"), b"A")
        record.kind = kind
        history.append(record)

    assert history.all_resolved(count) == (count <= 2)


def test_a_failure_before_a_success_of_the_same_group_leaves_the_chain_alone() -> None:
    """Calls asked for together may end in any way and order: what failed before the tool worked is not of the chain."""
    history = History(4)
    records = [CallRecord(Tool("x"), bytes([number])) for number in range(4)]
    for number, record in enumerate(records):
        history.append(record, link=Link.SAME_GROUP if number else Link.ALONE)
    history.record_outcome(records[1], OutcomeKind.ERROR, b"failed", OutcomeStatus.FAILURE, b"way")
    history.record_outcome(records[2], OutcomeKind.RESULT, b"text")
    history.record_outcome(records[3], OutcomeKind.ERROR, b"failed", OutcomeStatus.FAILURE, b"way")
    for number in range(4, 7):
        history.append(CallRecord(Tool("x"), bytes([number])))

    chain = history.failing("x")
    assert chain is not None
    assert chain.signatures == {records[3].signature: 1}


CALLS = st.tuples(st.sampled_from(SIGNATURES), st.sampled_from([b"1", b"1", b"1", b"2"]))


@given(size=st.integers(4, 9), messages=st.lists(st.lists(CALLS, min_size=1, max_size=4), max_size=40))
def test_messages_that_bring_nothing_new_count_on_when_they_have_left_the_history(
    size: int, messages: list[list[tuple[bytes, bytes]]]
) -> None:
    """Until one has a call with an outcome that is new for it."""
    history = History(size)
    row = 0
    for message in messages:
        records = [CallRecord(Tool(TOOLS[signature]), signature) for signature, _ in message]
        for place, record in enumerate(records):
            history.append(record, Link.SAME_MESSAGE if place else Link.ALONE)
        for record, (_, outcome) in zip(records, message, strict=True):
            history.record_outcome(record, OutcomeKind.RESULT, outcome)
        row = row + 1 if all(record.is_stale for record in records) else 0

        assert history.stagnation == row
