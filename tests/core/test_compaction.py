"""The post-compaction guard: the loop that survives a compaction ends the run (SPEC 7)."""

from __future__ import annotations

from typing import Any

import pytest

from wheelspin import Guard, Outcome, Settings, ToolCall
from wheelspin.testing import Played, play

UNSET = Settings()


def _ended(moves: list[Played]) -> list[int | None]:
    """Give the calls whose outcome ended the run."""
    return [
        move.call
        for move in moves
        if move.after is not None and move.after.stops and move.after.code == "compaction_loop_persisted"
    ]


CASES = [
    ("| A1*3", {}, [3]),
    ("A1*9 | A1*3", {}, [12]),
    ("| A!*3", {}, [3]),
    ("| A1*2", {}, []),
    ("| A1 B1 A1*6", {}, []),
    ("| A1*2 B1 | A1*3", {}, [6]),
    ("| A1 A2 A1*6", {}, []),
    ("| A+*9", {}, []),
    ("|! A1*6", {}, []),
    ("A1*6", {}, []),
    ("| A1*2 / A1", {}, [3]),
    ("| / A1*3", {}, [3]),
    ("| A1*2 | A1 A1 A1", {}, [5]),
    ("| A1*2", {"window_size": 2}, [2]),
    ("| A1*2", {"window_size": 1}, [2]),
    ("| A1*4 B1 A1*4", {"window_size": 5}, []),
    ("| A1*5", {"window_size": 5}, [5]),
    ("| A*6 A1*3", {}, [9]),
    ("[A1 A1 A1]", {}, []),
    ("| [A1 A1 A1]", {}, [3]),
    ("| A1*3", {"history_size": 1}, [3]),
    ("| A1*3", {"enabled": True}, [3]),
    ("| A1*6", {"enabled": False}, []),
]


@pytest.mark.parametrize(("trajectory", "settings", "ended"), CASES)
def test_it_ends_the_run_when_the_whole_window_is_the_same(
    trajectory: str, settings: dict[str, Any], ended: list[int]
) -> None:
    """It is on unless it is switched off, needs no history, and outlives runs; one different call closes the window."""
    assert _ended(play(trajectory, Settings(**settings)))[:1] == ended


def test_calls_that_were_asked_for_before_the_compaction_do_not_count() -> None:
    """Their outcomes come from before, whenever they arrive."""
    guard = Guard(UNSET)
    early = [ToolCall("read", {}, id=f"e{number}") for number in range(3)]
    for call in early:
        guard.before(call)
    guard.compacted()

    assert [guard.after(call, Outcome.result("x")).action for call in early] == ["allow"] * 3


def test_vetoes_do_not_count() -> None:
    """A blocked call has no outcome; the window waits for calls that run."""
    moves = play("A1*21 | A1*3 B1*3")

    assert [move.verdict.action for move in moves[-6:] if move.verdict][:3] == ["block"] * 3
    assert _ended(moves) == [27]


def test_the_verdict_stays() -> None:
    """A host that goes on is told again, before and after each call, until a new run begins."""
    guard = Guard(UNSET)
    guard.compacted()
    verdicts = []
    for number in range(5):
        call = ToolCall("read", {"path": "/a"}, id=f"c{number}")
        verdicts += [guard.before(call), guard.after(call, Outcome.result("x"))]

    assert [verdict.action for verdict in verdicts] == ["allow"] * 5 + ["abort"] * 5
    guard.user_message()
    assert guard.before(ToolCall("read", {"path": "/a"})).action == "allow"


def test_each_session_has_its_own_window() -> None:
    """A compaction of one conversation does not arm the others."""
    guard = Guard(UNSET)
    guard.compacted("s1")
    for session, action in (("s2", "allow"), ("s1", "abort")):
        for number in range(3):
            call = ToolCall("read", {}, id=f"c{number}", session_id=session)
            guard.before(call)
            verdict = guard.after(call, Outcome.result("x"))
        assert verdict.action == action


def test_an_outcome_that_cannot_be_compared_closes_the_window() -> None:
    """It may differ although nothing shows it."""
    guard = Guard(UNSET)
    guard.compacted()
    for number in range(6):
        call = ToolCall("read", {}, id=f"c{number}")
        guard.before(call)
        assert guard.after(call, Outcome.result(object())).action == "allow"


def test_a_reset_disarms() -> None:
    """A session that is forgotten has no window."""
    guard = Guard(UNSET)
    guard.compacted()
    guard.reset()

    assert _ended(play("A1*3", UNSET)) == []
    for number in range(3):
        call = ToolCall("read", {}, id=f"c{number}")
        guard.before(call)
        assert guard.after(call, Outcome.result("x")).action == "allow"


def test_the_record_names_the_tool_and_the_number_of_calls() -> None:
    """The code is `compaction_loop_persisted`."""
    guard = Guard(UNSET)
    guard.compacted()
    for number in range(3):
        call = ToolCall("Read", {}, id=f"c{number}", run_id="r1")
        guard.before(call)
        guard.after(call, Outcome.result("x"))
    record = guard.record("r1")

    assert record is not None
    assert (record.code, record.tool, record.count, record.threshold) == ("compaction_loop_persisted", "Read", 3, 3)
    assert record.ended_at_call == 3
