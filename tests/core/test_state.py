"""State: what is written down can be read back, and nothing else is taken for it."""

from __future__ import annotations

from typing import Any

import pytest

from wheelspin import Guard, Outcome, Settings, ToolCall


def _used(calls: int = 25) -> Guard:
    guard = Guard()
    guard.compacted("s1")
    for number in range(calls):
        call = ToolCall("read", {}, id=f"c{number}", run_id="r1")
        if not guard.before(call).stops:
            guard.after(call, Outcome.result("x"))
    guard.before(ToolCall("read", {"open": True}, id="open", run_id="r1"))
    return guard


def _changed(*way: Any) -> Any:
    """Give the state of a guard that ended a run, with the value at the end of a way replaced."""
    *path, last, value = way
    state = _used(40).dump()
    part: Any = state
    for key in path:
        part = part[key]
    part[last] = value
    return state


def test_a_guard_that_takes_over_a_state_goes_on_where_the_other_stopped() -> None:
    """The call that was blocked is blocked, with a count that goes on rising."""
    guard = Guard()
    guard.load(_used().dump())
    finding = guard.before(ToolCall("read", {}, run_id="r1")).finding

    assert finding is not None
    assert finding.count == 25


def test_a_state_is_taken_over_in_place_of_what_is_there() -> None:
    """Nothing of before is left."""
    guard = _used()
    guard.load(Guard().dump())

    assert guard.records() == []


def test_a_block_counts_for_its_failure_when_the_failures_themselves_are_forgotten() -> None:
    """A guard that was read back knows of it, as one that was never stopped does."""
    settings = Settings(
        enabled=True, history_size=3, warning_threshold=1, critical_threshold=2, global_circuit_breaker_threshold=9
    )
    lasting, stopped = Guard(settings), Guard(settings)
    read = ToolCall("read", {"n": 1}), Outcome.result("one")
    first, second = ((ToolCall("list", {"n": number}), Outcome.error("failed")) for number in (1, 2))
    for call, outcome in (*(read,) * 4, first, second, read, first, second, read, first):
        verdict = lasting.before(call)
        assert stopped.before(call) == verdict
        if not verdict.stops:
            lasting.after(call, outcome)
            stopped.after(call, outcome)
        state = stopped.dump()
        stopped = Guard(settings)
        stopped.load(state)


def test_a_state_does_not_depend_on_how_often_it_was_written() -> None:
    """A failure whose equal calls have all left the history is kept as one that never had any."""
    settings = Settings(enabled=True, history_size=3)
    lasting, stopped = Guard(settings), Guard(settings)
    outcomes = [Outcome.result("a"), None, Outcome.result("b"), Outcome.result("c"), Outcome.error("failed")]
    for tool, outcome in zip(["list", "list", "read", "open", "list"], outcomes, strict=True):
        call = ToolCall(tool, {}, id=tool)
        for guard in (lasting, stopped):
            guard.before(call)
            if outcome is not None:
                guard.after(call, outcome)
        state = stopped.dump()
        stopped = Guard(settings)
        stopped.load(state)

    assert lasting.dump() == stopped.dump()


def test_parallel_calls_are_one_failure_when_the_first_of_them_is_forgotten() -> None:
    """A guard that was read back counts the failures of one message once, as one that was never stopped does."""
    settings = Settings(enabled=True, history_size=3)
    lasting, stopped = Guard(settings), Guard(settings)
    parallel = [ToolCall("list", {}, id=f"p{number}", turn_id="first") for number in range(4)]
    later = [ToolCall("list", {}, id=f"c{number}", turn_id=f"t{number}") for number in range(20)]
    steps: list[tuple[str, ToolCall]] = [("before", parallel[0]), ("after", parallel[0])]
    steps += [("before", call) for call in parallel[1:]] + [("after", call) for call in parallel[1:]]
    steps += [(event, call) for call in later for event in ("before", "after")]
    blocked = 0
    for event, call in steps:
        if event == "after":
            lasting.after(call, Outcome.error("failed"))
            stopped.after(call, Outcome.error("failed"))
        else:
            verdict = lasting.before(call)
            assert stopped.before(call) == verdict
            blocked += verdict.stops
        state = stopped.dump()
        stopped = Guard(settings)
        stopped.load(state)
    assert blocked


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        [],
        {"version": 1, "sessions": [], "runs": []},
        {"version": 4, "sessions": [], "runs": []},
        {"version": 5},
        {"version": 5, "sessions": [[1]], "runs": []},
        {"version": 5, "sessions": [], "runs": [[None, None, "r", {"records": 1}]]},
        {"version": 5, "sessions": [], "runs": [[None, None, "r", None]]},
        *(_changed("runs", 0, 3, "plain", key, "1") for key in ("calls", "warnings", "blocks", "blocked_in_a_row")),
        _changed("runs", 0, 3, "records", 0, 2, "no kind"),
        _changed("runs", 0, 3, "records", 0, 8, "no status"),
        _changed("runs", 0, 3, "records", 1, 11, 7),
        *(_changed("sessions", 0, 2, key, None) for key in ("prompts", "compactions", "window")),
        _changed("runs", 0, 3, "ended", 3, 0, None),
    ],
)
def test_what_is_no_state_is_refused_and_nothing_is_lost(state: Any) -> None:
    """The guard keeps what it had."""
    guard = _used()

    with pytest.raises(ValueError, match="state of a guard"):
        guard.load(state)
    assert len(guard.records()) == 1


def test_a_state_may_be_taken_over_with_a_shorter_history() -> None:
    """The newest records are kept."""
    guard = Guard(Settings(enabled=True, history_size=5))
    guard.load(_used().dump())

    ((*_, run),) = guard.dump()["runs"]
    assert len(run["records"]) == 5
