"""Values: ordered actions, closed to change, silent about what they hold."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from wheelspin import (
    Action,
    EventKind,
    Finding,
    Level,
    LoopEvent,
    Outcome,
    OutcomeKind,
    RunRecord,
    ToolCall,
    Verdict,
)
from wheelspin.core.events import ALLOW

FINDING = Finding("ping-pong", Level.WARNING, 10, 10, (b"b", b"a"))
VALUES = [
    FINDING,
    Verdict(Action.WARN, FINDING, reason="r"),
    LoopEvent(EventKind.WARNING, code="ping_pong"),
    RunRecord(calls=1),
]


def test_actions_are_ordered_as_the_ladder_and_are_words() -> None:
    """allow < warn < block < abort, and each prints as its word."""
    assert Action.ALLOW < Action.WARN < Action.BLOCK < Action.ABORT
    assert Action.ABORT >= Action.BLOCK > "warn" > Action.ALLOW
    assert Action.ALLOW <= Action.ALLOW.value <= Action.WARN
    assert [str(action) for action in sorted(Action, reverse=True)] == ["abort", "block", "warn", "allow"]


@pytest.mark.parametrize(("action", "stops"), [("allow", False), ("warn", False), ("block", True), ("abort", True)])
def test_a_verdict_stops_from_block_on(action: str, stops: bool) -> None:
    """A call runs unless it is blocked or the run is ended."""
    assert Verdict(Action(action)).stops is stops


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_immutable(value: Any) -> None:
    """What the guard hands out cannot be changed by who gets it."""
    name = value.__slots__[0]

    with pytest.raises(AttributeError, match="immutable"):
        setattr(value, name, 1)
    with pytest.raises(AttributeError, match="immutable"):
        delattr(value, name)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_equal_by_content(value: Any) -> None:
    """Copies are equal, whichever way they were made, and one hash holds for all."""
    again = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own value

    assert value == again == copy.deepcopy(value)
    assert hash(value) == hash(again)
    assert value != "something else"
    assert type(value).__name__ in repr(value)


def test_the_code_of_a_finding_is_its_detector_in_snake_case() -> None:
    """Ids are kebab-case, codes snake_case of the same words; only the post-compaction guard has a code of its own."""
    compaction = Finding("post-compaction-guard", Level.CRITICAL, 3, 3, (b"a",))

    assert (FINDING.code, compaction.code) == ("ping_pong", "compaction_loop_persisted")
    assert Verdict(Action.ABORT, compaction).code == "compaction_loop_persisted"
    assert ALLOW.code is None


def test_the_pattern_of_a_finding_is_the_same_from_both_sides() -> None:
    """Whichever side of a ping-pong is at hand, it is one pattern."""
    other = Finding("ping-pong", Level.CRITICAL, 20, 20, (b"a", b"b"))

    assert FINDING.pattern == other.pattern


def test_calls_and_outcomes_say_nothing_of_their_content() -> None:
    """Their text form can end up in a log, where no argument and no result belongs."""
    call = ToolCall("read", {"path": "/secret"}, id="c1", run_id="r1")

    assert repr(call) == "ToolCall('read', id='c1', run_id='r1')"
    assert repr(Outcome.result("secret")) == "Outcome('result')"


def test_calls_and_outcomes_are_equal_by_content() -> None:
    """Two readers that see the same call give equal calls, whether a guard has seen them or not."""
    call = ToolCall("read", {"a": 1}, id="c1")
    seen = ToolCall("read", {"a": 1}, id="c1")
    seen.signed = (object(), ("tool", b"signature"))

    assert call == seen
    assert call != ToolCall("read", {"a": 2}, id="c1")
    assert Outcome.error("x") == Outcome(OutcomeKind.ERROR, "x")
    assert Outcome.error("x") != Outcome.result("x")


def test_an_exception_becomes_an_error_of_its_type() -> None:
    """Its type is the kind, its text the error, its stack nothing."""
    outcome = Outcome.error(FileNotFoundError("gone"))

    assert (outcome.kind, outcome.value, outcome.error_kind) == ("error", "gone", "FileNotFoundError")
    assert Outcome.error(FileNotFoundError("gone"), "mine").error_kind == "mine"


def test_an_exception_that_has_no_text_is_an_error_all_the_same() -> None:
    """An exception may fail when it is asked for its text."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert Outcome.error(MuteError()).value == ""


def test_an_event_has_the_fields_of_an_event() -> None:
    """A misspelled field is an error of ours that must not pass."""
    with pytest.raises(TypeError, match="wrong"):
        LoopEvent(EventKind.WARNING, wrong=1)


def test_a_record_is_ended_when_it_has_a_code() -> None:
    """A run that goes on has none."""
    assert not RunRecord(calls=1).ended
    assert RunRecord(code="ping_pong").ended
    assert RunRecord(run_id="r1", calls=2).as_dict()["run_id"] == "r1"
