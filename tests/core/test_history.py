"""The history: its running tallies are those of a scan over all its steps."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wheelspin.core.call_record import Pattern, Step
from wheelspin.core.history import History
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
    blocked: Pattern | None
    open_call: Step | None
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
    steps = list(history)
    mine = [step for step in steps if step.signature == signature]
    alive = sorted({step.pattern for step in steps if step.pattern is not None}, key=lambda pattern: pattern.born)
    blocking = [pattern for pattern in alive if signature in pattern.signatures]
    return Answers(
        len(mine),
        0 if _is_over(mine, steps) else _streak(mine, steps),
        _misses([step for step in steps if step.tool == TOOLS[signature]]),
        _alternation(steps, signature),
        blocking[0] if blocking else None,
        next((step for step in reversed(mine) if step.kind == "open"), None),
        len({step.outcome for step in mine if step.kind not in {"open", "veto"}}),
        _in_a_row(steps, mine, signature),
        _stagnation(steps, history.memory()[0]) + history.memory()[1],
        _failing([step for step in steps if step.tool == TOOLS[signature]], _changed_at(steps)),
        not mine
        and not (steps and steps[-1].kin is not None)
        and not any(_failing([step for step in steps if step.tool == tool], _changed_at(steps)) for tool in ("x", "y"))
        and not any(_misses([step for step in steps if step.tool == tool]) for tool in ("x", "y"))
        and not any(pattern.signatures for pattern in alive),
    )


def _streak(mine: list[Step], steps: list[Step]) -> int:
    """Count the newest equal outcomes; a failure before something was changed is another story."""
    changes = [step.number for step in steps if step.nature == "change"]
    streak, vetoes = 0, 0
    told: Step | None = None
    before = -1
    for step in mine:
        if step.kind == "open":
            continue
        if step.kind == "veto":
            streak, vetoes = streak + 1, vetoes + 1
        else:
            anew = told is not None and told.nature == "failure" and any(before < at < step.number for at in changes)
            equal = told is None or (step.outcome is not None and step.outcome == told.outcome)
            streak = streak + 1 if equal and not anew else vetoes + 1
            told, vetoes = step, 0
        before = step.number
    return streak


def _changed_at(steps: list[Step]) -> int:
    return max((step.number for step in steps if step.nature == "change"), default=-1)


def _is_over(mine: list[Step], steps: list[Step]) -> bool:
    """A call that failed before something was changed begins anew."""
    settled = [step for step in mine if step.kind != "open"]
    told = [step for step in settled if step.kind != "veto"]
    return bool(told) and told[-1].nature == "failure" and settled[-1].number < _changed_at(steps)


def _in_a_row(steps: list[Step], mine: list[Step], signature: bytes) -> int:
    groups = []
    for step in reversed(steps):
        if step.signature != signature:
            break
        groups.append(step.group)
    return 0 if not groups or _is_over(mine, steps) else min(_streak(mine, steps), len(set(groups)))


def _stagnation(steps: list[Step], passed: int) -> int:
    """Count by the steps; what was new in a message whose step left the history, they do not tell."""
    known = [step.message for step in steps[:passed]]
    fresh = max([step.message for step in steps if step.kind != "open" and not step.is_stale] + known, default=-1)
    return len({step.message for step in steps if step.is_stale and step.message > fresh})


def _failing(of_tool: list[Step], changed_at: int) -> int:
    groups: set[int] = set()
    way: bytes | None = None
    for step in reversed(of_tool):
        if step.kind == "open":
            continue
        if step.kind == "veto":
            continue
        if step.kin is None or step.nature != "failure" or step.number < changed_at or way not in {None, step.kin}:
            break
        way = step.kin
        groups.add(step.group)
    return len(groups)


def _misses(of_tool: list[Step]) -> int:
    misses = 0
    for step in reversed(of_tool):
        if step.is_miss():
            misses += 1
        elif step.kind not in {"open", "veto"}:
            break
    return misses


def _alternation(steps: list[Step], signature: bytes) -> int:
    if len(steps) < 2 or steps[-2].signature != signature or steps[-1].signature == signature:
        return 0
    tail = [steps[-1], steps[-2]]
    for step in reversed(steps[:-2]):
        if step.signature != tail[-2].signature:
            break
        tail.append(step)
    tail.reverse()
    start = 0
    newest: dict[bytes, bytes | None] = {}
    for place, step in enumerate(tail):
        if step.kind in {"open", "veto"}:
            continue
        if step.signature in newest:
            before = newest[step.signature]
            if step.outcome is None or before is None or step.outcome != before:
                start = place
        newest[step.signature] = step.outcome
    return len(tail) - start + 1


class HistoryMachine(RuleBasedStateMachine):
    """Adds steps and outcomes in any order, and holds every tally against a scan."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(8)
        self.patterns: list[Pattern] = []
        self.added = 0
        self.turn = 0

    def _step(self, signature: bytes, call_id: str | None = None) -> Step:
        self.added += 1
        return Step(Tool(TOOLS[signature]), signature, call_id)

    @rule(
        signature=st.sampled_from(SIGNATURES),
        call_id=st.sampled_from([None, "c", "d"]),
        bond=st.sampled_from([0, 0, 1, 2]),
    )
    def ask(self, signature: bytes, call_id: str | None, bond: int) -> None:
        self.history.append(self._step(signature, call_id), bond)

    @rule(sides=st.sampled_from([2, 3]))
    def ask_in_turn(self, sides: int) -> None:
        self.turn += 1
        self.history.append(self._step(SIGNATURES[self.turn % sides]))

    @rule(
        signature=st.sampled_from(SIGNATURES),
        kind=st.sampled_from(["result", "unknown_tool"]),
        outcome=st.sampled_from(OUTCOMES),
    )
    def add_whole(self, signature: bytes, kind: str, outcome: bytes | None) -> None:
        step = self._step(signature)
        step.kind, step.outcome = kind, outcome
        self.history.append(step)

    @rule(
        signature=st.sampled_from(SIGNATURES),
        data=st.data(),
        detector=st.sampled_from(["ping-pong", "unknown-tool-repeat"]),
    )
    def veto(self, signature: bytes, data: Any, detector: str) -> None:
        step = self._step(signature)
        if self.patterns and data.draw(st.booleans()):
            pattern = data.draw(st.sampled_from(self.patterns))
        else:
            signatures = data.draw(st.lists(st.sampled_from(SIGNATURES), unique=True))
            pattern = Pattern(detector, 2, tuple(signatures), 2, self.added)
            self.patterns.append(pattern)
        step.kind, step.pattern, step.is_stale = "veto", pattern, True
        self.history.append(step)

    @precondition(lambda self: any(step.kind == "open" for step in self.history))
    @rule(
        data=st.data(),
        kind=st.sampled_from(["result", "result", "error", "unknown_tool"]),
        outcome=st.sampled_from(OUTCOMES),
        nature=st.sampled_from(["", "", "failure", "change"]),
    )
    def answer(self, data: Any, kind: str, outcome: bytes | None, nature: str) -> None:
        step = data.draw(st.sampled_from([step for step in self.history if step.kind == "open"]))
        seen = [other.outcome for other in self.history if other.signature == step.signature and other.kind != "open"]
        kin = outcome if nature == "failure" else None
        self.history.resolve(step, kind, outcome, nature, kin)
        assert step.is_stale == (nature != "change" and outcome is not None and outcome in seen)

    @precondition(lambda self: any(step.kind == "open" for step in self.history))
    @rule(data=st.data(), signature=st.sampled_from(SIGNATURES))
    def run_with_other_arguments(self, data: Any, signature: bytes) -> None:
        step = data.draw(st.sampled_from([step for step in self.history if step.kind == "open"]))
        step.known = Tool(TOOLS[signature])
        self.history.sign(step, signature)

    @precondition(lambda self: any(step.kind == "open" for step in self.history))
    @rule(data=st.data())
    def forget(self, data: Any) -> None:
        self.history.forget(data.draw(st.sampled_from([step for step in self.history if step.kind == "open"])))

    @invariant()
    def tallies_equal_a_scan(self) -> None:
        for signature in SIGNATURES:
            scanned, asked = _scanned(self.history, signature), _asked(self.history, signature)
            assert scanned == asked, [
                name for name in Answers._fields if getattr(scanned, name) != getattr(asked, name)
            ]

    @invariant()
    def a_history_of_the_same_steps_says_the_same(self) -> None:
        again = History(self.history.size, [copy.copy(step) for step in self.history], self.history.memory())
        for signature in SIGNATURES:
            assert _asked(self.history, signature)._replace(open_call=None) == _asked(again, signature)._replace(
                open_call=None
            )


class SmallHistoryMachine(HistoryMachine):
    """The same with hardly any room."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(2)


TestTallies = HistoryMachine.TestCase
TestTalliesOfASmallHistory = SmallHistoryMachine.TestCase


@given(size=st.integers(1, 5), count=st.integers(0, 20))
def test_the_newest_steps_are_kept_in_order(size: int, count: int) -> None:
    """A ring of any size holds the newest steps, oldest first."""
    history = History(size)
    steps = [Step(Tool("x"), bytes([number])) for number in range(count)]
    for step in steps:
        history.append(step)

    assert list(history) == steps[-size:]
    assert len(history) == min(size, count)
    assert history.newest is (steps[-1] if steps else None)


def test_a_call_id_finds_its_newest_step_for_as_long_as_it_is_kept() -> None:
    """Ids that are used again mean the newest call; those of dropped steps are forgotten."""
    history = History(2)
    first, second, third = (Step(Tool("x"), b"A", call_id) for call_id in ("c", "c", "d"))
    history.append(first)
    history.append(second)
    assert history.calls == {"c": second}

    history.append(third)
    assert history.calls == {"c": second, "d": third}

    history.append(Step(Tool("x"), b"A"))
    assert history.calls == {"d": third}


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_settled_asks_for_outcomes_of_the_newest_steps(count: int) -> None:
    """More steps than there are cannot be settled."""
    history = History(8)
    for kind in ("open", "result", "veto"):
        step = Step(Tool("x"), b"A")
        step.kind = kind
        history.append(step)

    assert history.settled(count) == (count <= 2)


def test_a_failure_before_a_success_of_the_same_group_leaves_the_chain_alone() -> None:
    """Calls asked for together may end in any way and order: what failed before the tool worked is not of the chain."""
    history = History(4)
    steps = [Step(Tool("x"), bytes([number])) for number in range(4)]
    for number, step in enumerate(steps):
        history.append(step, bond=int(number > 0))
    history.resolve(steps[1], "error", b"failed", "failure", b"way")
    history.resolve(steps[2], "result", b"text")
    history.resolve(steps[3], "error", b"failed", "failure", b"way")
    for number in range(4, 7):
        history.append(Step(Tool("x"), bytes([number])))

    chain = history.failing("x")
    assert chain is not None
    assert chain.signatures == {steps[3].signature: 1}


CALLS = st.tuples(st.sampled_from(SIGNATURES), st.sampled_from([b"1", b"1", b"1", b"2"]))


@given(size=st.integers(4, 9), messages=st.lists(st.lists(CALLS, min_size=1, max_size=4), max_size=40))
def test_messages_that_bring_nothing_new_count_on_when_they_have_left_the_history(
    size: int, messages: list[list[tuple[bytes, bytes]]]
) -> None:
    """Until one has a call with an outcome that is new for it."""
    history = History(size)
    row = 0
    for message in messages:
        steps = [Step(Tool(TOOLS[signature]), signature) for signature, _ in message]
        for place, step in enumerate(steps):
            history.append(step, 2 * int(place > 0))
        for step, (_, outcome) in zip(steps, message, strict=True):
            history.resolve(step, "result", outcome)
        row = row + 1 if all(step.is_stale for step in steps) else 0

        assert history.stagnation == row
