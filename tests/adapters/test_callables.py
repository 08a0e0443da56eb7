"""Hand-written loops, with functions as tools."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.callables import does, loop, play
from wheelspin import Action, Guard, LoopEvent, Verdict
from wheelspin.adapters.callables import Run, guarded, run
from wheelspin.core.events import Outcome, ToolCall
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedCall, check_adapter
from wheelspin.watch import Compactions, Watch, fail_open, with_advice


def _awaited(script: Script, guard: Guard) -> AdapterRun:
    task = Run(guard)

    def make(call: ScriptedCall, ran: list[str]) -> str:
        if not call.exists:
            return task.missing(call.tool, {"path": call.path}, id=call.id)

        async def tool(path: str) -> str:
            await asyncio.sleep(0)
            return does(call, ran)

        text: str = asyncio.run(task.call(call.tool, {"path": call.path}, tool, id=call.id))
        return text

    return loop(script, make)


def _decorated(script: Script, guard: Guard) -> AdapterRun:
    def make(call: ScriptedCall, ran: list[str]) -> str:
        def tool(path: str) -> str:
            return does(call, ran)

        tool.__name__ = call.tool
        return guarded(tool)(call.path)

    with run(guard):
        return loop(script, make)


@pytest.mark.parametrize("player", [play, _awaited])
def test_a_loop_does_what_the_guard_alone_decides(player: Callable[[Script, Guard], AdapterRun]) -> None:
    """Its tools can be functions or coroutine functions."""
    check_adapter(player)


def test_guarded_functions_do_what_the_guard_alone_decides() -> None:
    """An unknown tool has no function that could be guarded."""
    check_adapter(_decorated, without=["an unknown tool"])


def test_a_failed_check_reports_what_the_adapter_does_wrong() -> None:
    """One adapter runs every call, one drops the advice, one answers twice."""

    def lets_run(script: Script, guard: Guard) -> AdapterRun:
        return loop(script, does)

    def drops_advice(script: Script, guard: Guard) -> AdapterRun:
        done = play(script, guard)
        return done._replace(shown={call: [text.partition("Loop")[0]] for call, (text,) in done.shown.items()})

    def answers_twice(script: Script, guard: Guard) -> AdapterRun:
        done = play(script, guard)
        return done._replace(shown={call: texts * 2 for call, texts in done.shown.items()})

    for player, message in (
        (lets_run, "a blocked loop: 23 calls ran, expected 20"),
        (drops_advice, "a warned loop, call call_10_0: the result .* does not contain the advice 'Loop detected"),
        (answers_twice, "no loop, call c0: the call has 2 results, expected one"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_adapter(player, without=["an unknown tool", "a warned loop"] if player is lets_run else ())
    with pytest.raises(ValueError, match="unknown script 'nothing'"):
        check_adapter(lets_run, without=["nothing"])


def test_a_guarded_function_outside_of_a_run_works_as_before() -> None:
    """So do methods and coroutine functions."""

    class Tools:
        @guarded
        def read(self, path: str, *, lines: int = 3) -> str:
            return f"{lines} lines of {path}"

        @guarded
        async def load(self, path: str) -> str:
            return f"text of {path}"

    tools = Tools()
    assert tools.read("/a", lines=1) == "1 lines of /a"
    assert asyncio.run(tools.load("/a")) == "text of /a"
    with run() as task:
        for _ in range(10):
            tools.read("/a")
        assert "Loop detected: `read` was called 10 times" in tools.read("/a")
        assert asyncio.run(tools.load("/a")) == "text of /a"
    assert [(record.calls, record.run_id) for record in task.guard.records()] == [(12, task.run_id)]


def test_runs_are_independent() -> None:
    """Even if one is started within another, as for a sub-agent."""
    guard = Guard()

    @guarded
    def read(path: str) -> str:
        return "text"

    with run(guard) as outer:
        for _ in range(6):
            read("/a")
        with run(guard, agent_id="helper") as inner:
            for _ in range(6):
                assert read("/a") == "text"
        assert read("/a") == "text"

    calls = {record.run_id: (record.calls, record.agent_id) for record in guard.records()}
    assert calls == {outer.run_id: (7, None), inner.run_id: (6, "helper")}


def test_a_loop_that_survives_a_compaction_ends_the_run() -> None:
    """The hand-written loop reports the compaction."""
    task = Run(session_id="s1")
    for _ in range(3):
        task.call("read", {"path": "/a"}, lambda path: "text")
    task.compacted()

    for _ in range(2):
        task.call("read", {"path": "/a"}, lambda path: "text")
    with pytest.raises(ToolLoopError) as ended:
        task.call("read", {"path": "/a"}, lambda path: "text")
    assert ended.value.code == "compaction_loop_persisted"


def test_an_interruption_is_not_an_outcome() -> None:
    """A cancelled call stays open and is not evidence of a loop."""
    guard = Guard()
    watch = Watch(guard, ToolCall("read", {}, id="c1", run_id="r1"))
    watch.record_exception(KeyboardInterrupt())
    assert guard.asked(ToolCall("read", {}, id="c1", run_id="r1")) is not None


def test_a_crash_of_the_adapter_lets_the_call_through_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may happen while building the call or the outcome."""
    events: list[LoopEvent] = []
    guard = Guard(listeners=[events.append])
    with pytest.raises(ZeroDivisionError):
        Watch(guard, lambda: ToolCall("read", 1 / 0))
    monkeypatch.setattr(Guard, "strict", False)

    no_call = Watch(guard, lambda: ToolCall("read", 1 / 0))
    assert (no_call.verdict.stops, no_call.record_outcome(lambda: Outcome.result("text"))) == (False, "")
    no_call.record_exception(RuntimeError("failed"))
    no_outcome = Watch(guard, ToolCall("read", {}, id="c2", run_id="r1"))
    assert no_outcome.record_outcome(lambda: Outcome.result(1 / 0)) == ""
    assert [(event.kind, event.code) for event in events] == [("crash", "the adapter")] * 2
    assert [record.calls for record in guard.records()] == [1]


def test_a_crash_is_suppressed_and_the_end_of_a_run_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent continues after a crash, which is reported; a `ToolLoopError` passes through."""
    monkeypatch.setattr(Guard, "strict", False)
    events: list[LoopEvent] = []
    guard = Guard(listeners=[events.append])
    with fail_open(guard):
        raise KeyError("messages")
    with pytest.raises(ToolLoopError), fail_open(guard):
        raise ToolLoopError(Verdict(Action.ABORT))

    assert [(event.kind, event.code) for event in events] == [("crash", "the adapter")]
    assert "KeyError" in events[0].reason
    assert "messages" not in events[0].reason


def test_an_exception_after_a_compaction_can_end_the_run() -> None:
    """The tool's own exception is the cause of the error."""
    guard = Guard()
    guard.compacted()
    error = RuntimeError("failed")
    for number in range(2):
        Watch(guard, ToolCall("read", {}, id=f"c{number}")).record_exception(error)
    last = Watch(guard, ToolCall("read", {}, id="c2"))
    with pytest.raises(ToolLoopError) as ended:
        last.record_exception(error)
    assert ended.value.__cause__ is error


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("text", "text\n\nStop."),
        ({"a": 1}, {"a": 1, "wheelspin": "Stop."}),
        ([1], [1, "Stop."]),
        (7, 7),
        (None, None),
    ],
)
def test_advice_keeps_the_type_of_the_result(result: Any, expected: Any) -> None:
    """A result that cannot hold advice is unchanged."""
    assert with_advice(result, "Stop.") == expected
    assert with_advice(result, "") is result


def test_marks_of_compactions_are_kept_with_the_guard() -> None:
    """Adapters created anew for each request share them, those of other guards do not, and they go with the guard."""
    guard, other = Guard(), Guard()
    Compactions(guard).check_marks("s1", [])
    Compactions(guard).check_marks("s1", ["new"])
    Compactions(other).check_marks("s1", ["new"])
    assert (guard.is_armed("s1"), other.is_armed("s1")) == (True, False)

    gone = weakref.ref(guard)
    del guard
    gc.collect()
    assert gone() is None


def test_marks_of_compactions_arm_once_each() -> None:
    """Marks found at first are from an earlier time, and the oldest sessions are dropped."""
    guard = Guard()
    seen = Compactions(guard, max_sessions=2)
    seen.check_marks("s1", ["old"])
    assert not guard.is_armed("s1")
    seen.check_marks("s1", ["old", "new"])
    assert guard.is_armed("s1")

    guard.reset()
    seen.check_marks("s1", ["new"])
    assert not guard.is_armed("s1")
    for session in ("s2", "s3"):
        seen.check_marks(session, [])
    seen.check_marks("s1", ["newer"])
    assert not guard.is_armed("s1")


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert run_page("callables")["task"]
    run_looping_example("callables_agent")
