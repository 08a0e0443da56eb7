"""The adapter for Pydantic AI, with the real framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    ModelRetry,
    ToolReturn,
)
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls, ProcessHistory
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import CompactionPart, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.tools import RunContext, Tool, ToolDefinition, ToolDenied
from pydantic_ai.toolsets import ExternalToolset

from tests.frameworks.guards import crashing_guard, lenient_guard
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.pydantic_ai import (
    DRIVES,
    agent_of,
    answers,
    approved,
    called,
    halved,
    loop,
    model_of,
    notes,
    play_with,
    read,
    resumed,
    run,
    summarized,
)
from wheelspin import Guard
from wheelspin.adapters import pydantic_ai as adapter
from wheelspin.adapters.pydantic_ai import WheelspinCapability
from wheelspin.errors import ToolLoopError
from wheelspin.testing import check_adapter


class Page(BaseModel):
    """The result of a typed tool, and the answer of a typed agent."""

    text: str


@pytest.mark.parametrize("drive", DRIVES)
def test_an_agent_does_what_the_guard_alone_decides(drive: Callable[[Any], None]) -> None:
    """A failing tool ends a Pydantic AI agent by itself; its exception passes through unchanged."""
    check_adapter(partial(play_with, drive), without=["a failing tool"])


def test_a_warning_stands_behind_the_results_and_a_block_is_a_failed_one() -> None:
    """The model receives the advice with the result."""
    seen: list[Any] = []
    done = run(Agent(model_of(loop(21), seen), tools=[read], capabilities=[WheelspinCapability()]))
    parts = answers(done.all_messages())

    assert [part.outcome for part in parts] == ["success"] * 20 + ["failed"]
    assert [part.content for part in parts[:20]] == ["text"] * 20
    result, advice = seen[11].parts
    assert (result.tool_call_id, result.content) == ("c10", "text")
    assert "Loop detected" in advice.content
    assert parts[-1].content.startswith("Loop detected")


def test_typed_results_stay_as_they_are() -> None:
    """This holds even with a warning; `metadata`, which only the application sees, is ignored."""
    page, numbers = Page(text="text"), iter(range(99))

    def fetch(path: str) -> ToolReturn[Page]:
        return ToolReturn(page, metadata={"took": next(numbers)})

    done = run(agent_of(Guard(), loop(21, "fetch"), tools=[fetch]))
    *given, blocked = answers(done.all_messages())

    assert all(part.content is page for part in given)
    assert (len(notes(done.all_messages())), blocked.outcome) == (1, "failed")


def test_an_output_tool_is_not_a_call() -> None:
    """An agent's answer always passes through; the framework itself limits wrong answers."""

    guard = Guard()
    wrong = [called(("final_result", {"text": 1}, f"w{number}")) for number in range(12)]
    right = called(("final_result", {"text": "x"}, "f"))
    agent = agent_of(guard, [*loop(22), *wrong, right], output_type=Page, retries=20)

    assert run(agent).output == Page(text="x")
    assert (guard.records()[0].calls, guard.records()[0].blocks) == (22, 2)


@pytest.mark.parametrize("strategy", ["early", "graceful", "exhaustive"])
def test_a_warning_does_not_keep_a_run_going_that_has_its_answer(strategy: Any) -> None:
    """A message in the framework's queue would keep it going."""
    last = called(("read", {"path": "/a"}, "c10"), ("final_result", {"text": "x"}, "f"))

    done = run(agent_of(Guard(), [*loop(10), last], output_type=Page, end_strategy=strategy))

    assert (done.output, done.usage.requests) == (Page(text="x"), 11)


def test_what_a_tool_wants_tried_again_passes_unchanged_and_a_block_costs_no_retry() -> None:
    """Only calls that ran use up retries."""
    guard, ran = Guard(), []

    def flaky(path: str) -> str:
        ran.append(path)
        raise ModelRetry("not yet")

    tool = Tool(flaky, max_retries=20)
    done = run(agent_of(guard, loop(25, "flaky"), tools=[tool]))
    parts = answers(done.all_messages())

    assert {part.content for part in parts[: len(ran)]} == {"not yet"}
    assert [part.content.startswith("Loop detected") for part in parts] == [False] * len(ran) + [True] * (25 - len(ran))
    assert len(ran) <= 20
    assert guard.records()[0].warnings >= 1


def test_wrong_arguments_are_seen_and_a_block_costs_no_retry() -> None:
    """This includes arguments that are not valid JSON."""
    for wrong in ({"file": "/a"}, '{"path": '):
        guard = Guard()
        tool = Tool(read, max_retries=20)
        done = run(agent_of(guard, loop(25, "read", wrong), tools=[tool]))

        assert sum("Loop detected" in str(part.content) for part in answers(done.all_messages())) >= 5
        assert guard.records()[0].calls == 25


def test_an_unknown_tool_is_blocked_with_the_advice_alone() -> None:
    """The advice replaces the framework's answer with its list of tools."""
    done = run(agent_of(Guard(), loop(12, "frobnicate"), retries=50))
    parts = [part for part in answers(done.all_messages()) if "Loop detected" in str(part.content)]

    assert parts
    assert {(part.part_kind, part.outcome) for part in parts} == {("tool-return", "failed")}
    assert all(part.content.startswith("Loop detected") for part in parts)


def test_an_exception_of_a_tool_passes_unchanged() -> None:
    """The guard records it first."""
    guard, error = Guard(), RuntimeError("no such file")

    def fails(path: str) -> str:
        raise error

    with pytest.raises(RuntimeError) as raised:
        run(agent_of(guard, loop(1, "fails"), tools=[fails]))
    assert raised.value is error
    assert guard.records()[0].calls == 1


def test_each_run_is_its_own_and_the_records_name_the_ids_of_the_framework() -> None:
    """One guard can serve many agents and runs at once."""
    guard, results = Guard(), []

    async def main() -> None:
        agents = [agent_of(guard, loop(9)) for _ in range(3)]
        results.extend(await asyncio.gather(*(agent.run("go") for agent in agents)))
        history = results[0].all_messages()
        results.append(await agent_of(guard, loop(9)).run("go on", message_history=history))

    asyncio.run(main())
    records = guard.records()

    assert {(record.calls, record.warnings, record.agent_id) for record in records} == {(9, 0, "helper")}
    assert {record.run_id for record in records} == {done.run_id for done in results}
    assert {record.session_id for record in records} == {done.conversation_id for done in results[:3]}


def test_a_run_that_is_started_anew_from_its_prompt_is_a_run_of_its_own() -> None:
    """Asking again for an answer starts a run without any counts."""
    guard = Guard()
    first = run(agent_of(guard, loop(9)))
    run(agent_of(guard, loop(9)), None, message_history=first.all_messages()[:1])

    assert [(record.calls, record.warnings) for record in guard.records()] == [(9, 0)] * 2


def test_calls_of_one_message_belong_together_also_where_tools_run_in_threads() -> None:
    """The calls run in parallel."""
    guard = Guard()
    responses = [
        called(*(("read", {"path": f"/{place}"}, f"c{number}{place}") for place in range(4))) for number in range(9)
    ]
    done = run(agent_of(guard, responses))

    assert len(answers(done.all_messages())) == guard.records()[0].calls == 36


def test_an_agent_that_is_called_in_a_tool_has_a_run_of_its_own_and_its_end_passes() -> None:
    """It passes through like any exception of a tool."""
    guard = Guard()

    async def ask(question: str) -> str:
        return str((await agent_of(guard, loop(40), name="inner").run(question)).output)

    responses = loop(2, "ask", {"question": "q"})
    with pytest.raises(ToolLoopError) as ended:
        run(agent_of(guard, responses, tools=[ask]))

    assert ended.value.code == "global_circuit_breaker"
    records = {record.agent_id: record for record in guard.records()}
    assert (records["helper"].calls, records["inner"].code) == (1, "global_circuit_breaker")


def test_a_loop_of_calls_that_are_to_be_approved_is_one_run() -> None:
    """Nobody is asked to approve a blocked call."""
    guard, ran = Guard(), []

    def write(path: str) -> None:
        ran.append(path)

    done = resumed(guard, loop(25, "write"), approved, tools=[Tool(write, requires_approval=True)])
    record = guard.records()[0]

    assert (len(ran), len(done), done[-1].output) == (20, 21, "done")
    assert (record.calls, record.blocks, record.run_id, len(guard.records())) == (25, 5, done[0].run_id, 1)
    assert len(notes(done[-1].all_messages())) == 1


def test_a_tool_that_asks_for_approval_has_no_outcome_until_it_gets_it() -> None:
    """It is the same call before and after approval."""
    guard = Guard()

    def write(ctx: RunContext, path: str) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "done"

    done = resumed(guard, loop(11, "write"), approved, tools=[write])

    assert (len(done), guard.records()[0].calls, guard.records()[0].warnings) == (12, 11, 1)


def test_a_result_from_elsewhere_is_recorded() -> None:
    """These are results from outside and denials; the model receives warnings about them."""
    outside = ExternalToolset([ToolDefinition(name="ask_user", parameters_json_schema={"type": "object"})])

    def answered(requests: DeferredToolRequests) -> DeferredToolResults:
        return DeferredToolResults(calls={call.tool_call_id: "no idea" for call in requests.calls})

    def denied(requests: DeferredToolRequests) -> DeferredToolResults:
        return DeferredToolResults(approvals={call.tool_call_id: ToolDenied("no") for call in requests.approvals})

    guard = Guard()
    done = resumed(guard, loop(22, "ask_user"), answered, toolsets=[outside])
    assert (len(done), guard.records()[0].calls, guard.records()[0].blocks) == (21, 22, 2)
    assert len(notes(done[-1].all_messages())) == 1

    guard = Guard()
    done = resumed(guard, loop(11), denied, tools=[Tool(read, requires_approval=True)])
    assert guard.records()[0].calls == 11
    assert {part.outcome for part in answers(done[-1].all_messages())} == {"denied"}


@pytest.mark.parametrize("answer", ["approved", "given"])
def test_a_call_that_is_settled_within_the_run_counts_once(answer: str) -> None:
    """A capability can approve or answer it."""
    guard = Guard()
    tool = ToolDefinition(name="write", parameters_json_schema={"type": "object"})
    tools: dict[str, dict[str, Any]] = {
        "approved": {"tools": [Tool(read, name="write", requires_approval=True)]},
        "given": {"toolsets": [ExternalToolset([tool])]},
    }

    async def settle(ctx: Any, requests: DeferredToolRequests) -> DeferredToolResults:
        given = {call.tool_call_id: "text" for call in requests.calls}
        return DeferredToolResults(calls=given, approvals=approved(requests).approvals)

    done = run(agent_of(guard, loop(22, "write"), HandleDeferredToolCalls(settle), **tools[answer]))
    record = guard.records()[0]

    assert (record.calls, record.warnings, record.blocks) == (22, 1, 2)
    assert [part.outcome for part in answers(done.all_messages())] == ["success"] * 20 + ["failed"] * 2


def test_a_warning_is_not_lost_where_a_run_is_put_off() -> None:
    """The warning is in the history with which the run continues."""
    write = Tool(read, name="write", requires_approval=True)
    last = called(("read", {"path": "/a"}, "c10"), ("write", {"path": "/b"}, "w"))
    guard = Guard()
    done = resumed(guard, [*loop(10), last], approved, tools=[read, write])

    assert len(done) == 2
    assert len(notes(done[0].all_messages())) == 1
    assert guard.records()[0].calls == 12


def test_tools_of_toolsets_are_guarded_by_the_names_that_the_model_sees() -> None:
    """This holds for any wrapper."""
    guard = Guard()
    toolset = FunctionToolset([read]).prefixed("files")
    done = run(agent_of(guard, loop(21, "files_read"), tools=[], toolsets=[toolset]))

    assert "`files_read`" in answers(done.all_messages())[-1].content


def test_a_result_that_other_capabilities_give_counts_as_the_tools() -> None:
    """It counts as the model receives it, because the guard is outermost wherever it is in the list."""
    numbers = iter(range(99))

    class Cache(AbstractCapability[Any]):
        async def wrap_tool_execute(self, ctx: Any, **call: Any) -> Any:
            raise SkipToolExecution(f"cached {next(numbers)}")

    class Cut(AbstractCapability[Any]):
        async def wrap_tool_execute(self, ctx: Any, *, args: Any, handler: Any, **call: Any) -> Any:
            try:
                return await handler(args)
            except SkipToolExecution as skipped:
                raise SkipToolExecution(skipped.result[:6]) from None

    guarding = [Cut(), WheelspinCapability(), Cache()]
    parts = answers(run(Agent(model_of(loop(21)), tools=[read], capabilities=guarding)).all_messages())

    assert [part.content for part in parts[:20]] == ["cached"] * 20
    assert parts[-1].outcome == "failed"


def test_a_cancelled_call_has_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cancellation passes through."""
    guard, recorded = Guard(), []

    async def wait(path: str) -> str:
        await asyncio.sleep(60)
        return "text"

    async def main() -> None:
        await asyncio.wait_for(agent_of(guard, loop(1, "wait"), tools=[wait]).run("go"), 0.5)

    monkeypatch.setattr(guard, "after", lambda *given: recorded.append(given))
    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert (guard.records()[0].calls, recorded) == (1, [])


@pytest.mark.parametrize("processors", [[ProcessHistory(summarized)], [ProcessHistory(halved)], []])
def test_a_loop_that_survives_a_compaction_ends_the_run(processors: list[Any]) -> None:
    """A new summary, including a provider's own, arms the guard, and so does losing half of the messages."""
    responses = loop(60)
    if not processors:
        responses[5] = ModelResponse([CompactionPart(id="cmp_1", provider_name="function"), *responses[5].parts])

    with pytest.raises(ToolLoopError) as ended:
        run(agent_of(Guard(), responses, *processors))
    assert ended.value.code == "compaction_loop_persisted"


def test_an_old_summary_and_a_sliding_window_do_not_arm_the_guard() -> None:
    """Neither is a new compaction."""
    events: list[Any] = []
    guard = Guard(listeners=[events.append])
    history = [ModelRequest([UserPromptPart("go")]), ModelResponse([CompactionPart("summary"), TextPart("done")])]
    run(agent_of(guard, loop(8)), message_history=history * 9)
    run(agent_of(guard, loop(8), ProcessHistory(lambda messages: messages[-5:])), message_history=history * 9)

    assert [(record.calls, record.code) for record in guard.records()] == [(8, None)] * 2
    assert events == []


@pytest.mark.parametrize("crashes", ["_before", "_after"])
def test_a_guard_that_crashes_breaks_no_agent(monkeypatch: pytest.MonkeyPatch, crashes: str) -> None:
    """All calls still run."""
    guard = crashing_guard(monkeypatch, crashes)
    done = run(agent_of(guard, [*loop(15), *loop(2, "missing", first=15)], retries=9))

    assert len(answers(done.all_messages())) == 17


@pytest.mark.parametrize("shape", ["_run_id", "_marks", "_outcome_of_part", "_outcome"])
def test_objects_of_another_shape_break_no_agent(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    """What cannot be read is not recorded, and the guard reports the crash."""
    guard, kinds = lenient_guard(monkeypatch)
    monkeypatch.setattr(adapter, shape, lambda *_, **__: 1 / 0)
    done = run(agent_of(guard, [*loop(3), *loop(2, "missing", first=3)], retries=9))

    assert [part.content for part in answers(done.all_messages())[:3]] == ["text"] * 3
    assert set(kinds) == {"crash"}


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert "text of" in str(run_page("pydantic_ai")["result"])
    run_looping_example("pydantic_ai_agent")
