"""Allowing a run, or one blocked pattern, to go on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.guard.calls import SAME, actions_of, read_call, repeat
from wheelspin import Action, Guard, Outcome, ToolCall, Verdict


def _fail(guard: Guard, times: int, tool: str = "read") -> list[Verdict]:
    """Call a tool with other arguments each time, and let it fail the same way."""
    verdicts = []
    for number in range(times):
        call = ToolCall(tool, {"path": f"/{number}"}, run_id="r1")
        verdicts.append(guard.before(call))
        if not verdicts[-1].stops:
            guard.after(call, Outcome.error("failed"))
    return verdicts


def _alternate(guard: Guard, times: int) -> list[Verdict]:
    """Make two calls in turn."""
    verdicts = []
    for number in range(times):
        call = read_call(f"/{number % 2}", run_id="r1")
        verdicts.append(guard.before(call))
        if not verdicts[-1].stops:
            guard.after(call, SAME)
    return verdicts


class TestAllow:
    """The user says that a run may go on."""

    def test_a_run_that_was_ended_goes_on_and_is_counted_anew(self) -> None:
        """Its record says who said so and when, and keeps its counts."""
        guard = Guard(clock=lambda: 7.0)
        repeat(guard, 31, run_id="r1")

        assert guard.allow("r1", by="sam") == 1
        record = guard.record("r1")
        assert record is not None
        assert (record.ended, record.allowed_by, record.allowed_at, record.signatures) == (False, "sam", 7.0, ())
        assert (record.calls, record.blocks) == (31, 11)
        actions = actions_of(repeat(guard, 31, run_id="r1"))
        assert actions.index(Action.WARN) == 10
        assert actions.index(Action.BLOCK) == 20
        assert actions.index(Action.ABORT) == 30

    @pytest.mark.parametrize(
        ("loop", "most"),
        [
            (lambda guard, times: repeat(guard, times, run_id="r1"), 10),
            (_alternate, 9),
            (_fail, 10),
            (lambda guard, times: repeat(guard, times, run_id="r1", outcome=Outcome.unknown_tool("no tool")), 10),
        ],
        ids=["a repeated call", "a ping-pong", "a tool that fails", "a tool that is not there"],
    )
    def test_a_signature_frees_the_pattern_that_it_is_blocked_for(self, loop: Any, most: int) -> None:
        """From the record, and after the guard was written down and read again, too."""
        guard = Guard()
        assert loop(guard, 25)[-1].stops
        again = Guard()
        again.load(guard.dump())
        record = again.record("r1")
        assert record is not None
        signature = record.signatures[-1]

        assert again.allow(signature=signature, by="sam") == 1
        assert set(actions_of(loop(again, most))) == {"allow"}

    def test_what_else_is_blocked_stays_blocked(self) -> None:
        """Only the one pattern is free."""
        guard = Guard()
        repeat(guard, 21, run_id="r1")
        repeat(guard, 21, run_id="r1", tool="list")
        record = guard.record("r1")
        assert record is not None
        assert len(record.signatures) == 2

        assert guard.allow(signature=record.signatures[0]) == 1
        assert actions_of(repeat(guard, 1, run_id="r1")) == ["allow"]
        assert actions_of(repeat(guard, 1, run_id="r1", tool="list")) == ["block"]

    @pytest.mark.parametrize("given", [{"run_id": "r2"}, {"session_id": "s"}, {"signature": "00"}, {"signature": "no"}])
    def test_where_nothing_is_meant_nothing_is_freed(self, given: dict[str, str]) -> None:
        """And the record is as it was."""
        guard = Guard()
        repeat(guard, 31, run_id="r1")
        before = guard.record("r1")

        assert guard.allow(**given) == 0
        assert guard.record("r1") == before
