"""The adapter for Strands, with the real framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Barrier
from typing import Any

import pytest
from pydantic import BaseModel
from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.hooks import AfterInvocationEvent, AfterToolCallEvent, BeforeInvocationEvent, BeforeToolCallEvent
from strands.multiagent import GraphBuilder, Swarm

from tests.frameworks.guards import crashing_guard, lenient_guard
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.strands import (
    Scripted,
    agent_of,
    messages_of,
    play,
    play_in_turn,
    play_streamed,
    results,
    shown,
)
from wheelspin import Guard
from wheelspin.adapters import strands
from wheelspin.adapters.strands import WheelspinHooks
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, ScriptedCall, check_adapter

LOOP = [[ScriptedCall(f"c{number}", "read", "/a", "text")] for number in range(60)]


@pytest.mark.parametrize("player", [play, play_in_turn, play_streamed])
def test_an_agent_does_what_the_guard_alone_decides(player: Callable[[Any, Guard], AdapterRun]) -> None:
    """The calls of a message can run in parallel or one by one; the exception leaves a stream as well."""
    check_adapter(player)


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """Each result contains its own advice."""
    guard = Guard()
    barrier = Barrier(2, timeout=20)

    @tool
    def read(path: str) -> str:
        """Read a file."""
        barrier.wait()
        return f"text of {path}"

    script = [[ScriptedCall(f"{path}{number}", "read", path, "") for path in ("/a", "/b")] for number in range(9)]
    agent = agent_of(script, [], WheelspinHooks(guard), tools=[read])
    agent("go")
    texts = shown(agent)

    assert len(texts) == 18
    assert all(text.startswith(f"text of {call[:2]}") for call, (text,) in texts.items())
    assert [call for call, (text,) in texts.items() if "Loop detected" in text] == ["/b4"]
    assert [(record.calls, record.warnings) for record in guard.records()] == [(18, 1)]


def test_a_run_is_ended_with_an_exception_and_leaves_a_conversation_that_can_go_on() -> None:
    """Each call has its result, and the reason is the final message; the next invocation is a new run."""
    guard = Guard()
    model = Scripted(messages_of(LOOP[:36]))
    agent = agent_of(LOOP, [], WheelspinHooks(guard), model=model)

    with pytest.raises(ToolLoopError) as ended:
        agent("go")
    assert ended.value.code == "global_circuit_breaker"
    assert agent.messages[-1]["role"] == "assistant"
    assert agent.messages[-1]["content"][0]["text"] == ended.value.verdict.reason
    assert [result["status"] for result in results(agent)].count("error") == 11

    assert agent("go on").stop_reason == "end_turn"
    assert [(record.calls, record.warnings) for record in guard.records()] == [(5, 0), (31, 1)]


def test_a_run_can_be_ended_without_an_exception() -> None:
    """The reason is the agent's answer."""
    guard = Guard()
    result = agent_of(LOOP, [], WheelspinHooks(guard, on_abort="end"))("go")

    assert result.stop_reason == "end_turn"
    assert str(result).startswith("`read` was called 30 times")
    assert guard.records()[0].calls == 31


def test_a_wrong_option_is_refused() -> None:
    """The error lists the valid values."""
    with pytest.raises(ValueError, match="'raise' or 'end'"):
        WheelspinHooks(on_abort="stop")


def test_each_invocation_is_a_run_of_its_own_and_agents_do_not_see_each_other() -> None:
    """The same hooks can serve them all, and the records contain sessions and agents."""
    guard = Guard()
    hooks = WheelspinHooks(guard)
    one = agent_of(LOOP, [], hooks, model=Scripted(messages_of(LOOP[:9])), agent_id="one")
    one("go")
    one.model = Scripted(messages_of(LOOP[9:18]))
    one("again")
    two = agent_of(LOOP[:9], [], hooks, agent_id="two")
    asyncio.run(two.invoke_async("go"))

    records = guard.records()
    assert [(record.agent_id, record.calls, record.warnings) for record in records] == [
        ("two", 9, 0),
        ("one", 9, 0),
        ("one", 9, 0),
    ]
    assert len({record.run_id for record in records}) == 3
    if hasattr(one, "session_id"):
        assert [record.session_id for record in records] == [two.session_id, one.session_id, one.session_id]


def test_an_approval_is_not_an_outcome_and_the_run_continues_after_it() -> None:
    """A call that is checked twice counts once."""
    guard = Guard()

    def approved(event: BeforeToolCallEvent) -> None:
        event.interrupt("approval", "may it?")

    agent = agent_of(LOOP[:12], [], WheelspinHooks(guard))
    agent.hooks.add_callback(BeforeToolCallEvent, approved)
    result = agent("go")
    for _ in range(12):
        assert result.stop_reason == "interrupt"
        answers: Any = [
            {"interruptResponse": {"interruptId": interrupt.id, "response": "yes"}} for interrupt in result.interrupts
        ]
        result = agent(answers)

    assert result.stop_reason == "end_turn"
    assert [(record.calls, record.warnings) for record in guard.records()] == [(12, 1)]
    assert sum("Loop detected" in text for (text,) in shown(agent).values()) == 1


def test_a_retry_is_not_a_second_call() -> None:
    """Its outcome is the one the model receives, no matter which hook asked for the retry or when."""
    guard = Guard()
    tries: list[str] = []

    def again(event: AfterToolCallEvent) -> None:
        tries.append(event.tool_use["toolUseId"])
        event.retry = tries.count(event.tool_use["toolUseId"]) < 3

    ran: list[str] = []
    agent = agent_of(LOOP[:9], ran, WheelspinHooks(guard))
    agent.hooks.add_callback(AfterToolCallEvent, again)
    agent("go")

    assert len(ran) == 27
    assert [(record.calls, record.warnings) for record in guard.records()] == [(9, 0)]


def test_a_call_that_another_hook_refuses_was_denied() -> None:
    """It counts as a call without progress."""
    guard = Guard()

    def refuse(event: BeforeToolCallEvent) -> None:
        event.cancel_tool = event.cancel_tool or "the policy forbids it"

    ran: list[str] = []
    agent = agent_of(LOOP[:12], ran, WheelspinHooks(guard))
    agent.hooks.add_callback(BeforeToolCallEvent, refuse)
    agent("go")

    assert ran == []
    assert guard.records()[0].calls == 12
    texts = [text for (text,) in shown(agent).values()]
    assert all(text.startswith("the policy forbids it") for text in texts)
    assert "Loop detected" in texts[10]


def test_a_call_of_a_tool_by_the_program_itself_is_not_guarded() -> None:
    """Only calls that the model asks for are checked for loops."""
    guard = Guard()
    agent = agent_of(LOOP[:1], [], WheelspinHooks(guard))
    for _ in range(40):
        assert agent.tool.read(path="/a", record_direct_tool_call=False)["status"] == "success"

    assert guard.records() == []


def test_a_run_that_another_hook_has_go_on_is_one_run() -> None:
    """A loop that continues after the agent's answer is the same loop, and is ended for good."""
    guard = Guard()
    resumed: list[bool] = []

    def go_on(event: AfterInvocationEvent) -> None:
        if len(resumed) < 3:
            resumed.append(True)
            event.resume = "not yet"

    messages: list[Any] = [*LOOP[:10], "done", *LOOP[10:20], "done", *LOOP[20:]]
    agent = agent_of(LOOP, [], WheelspinHooks(guard), model=Scripted(iter(messages)))
    agent.hooks.add_callback(AfterInvocationEvent, go_on)

    with pytest.raises(ToolLoopError):
        agent("go")
    assert [record.calls for record in guard.records()] == [31]


def _summarizer() -> SummarizingConversationManager:
    """Return a summarizer whose own agent writes the summaries."""
    writer = Agent(Scripted(iter(["summary"] * 9)), callback_handler=None)
    return SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=2, summarization_agent=writer)


@pytest.mark.parametrize("manager", [_summarizer, lambda: SlidingWindowConversationManager(6)])
def test_a_loop_that_survives_a_compaction_ends_the_run(manager: Any) -> None:
    """Older messages were removed because the context was too long."""
    guard = Guard()
    model = Scripted(messages_of(LOOP), longest=14)
    agent = agent_of(LOOP, [], WheelspinHooks(guard), model=model, conversation_manager=manager())

    with pytest.raises(ToolLoopError) as ended:
        agent("go")
    assert ended.value.code == "compaction_loop_persisted"
    assert guard.records()[0].calls < 14
    assert agent.conversation_manager.removed_message_count > 0


def test_messages_that_are_cut_off_between_runs_do_not_arm_the_guard() -> None:
    """A window is applied after a run, when no loop is in progress."""
    guard = Guard()
    agent = agent_of(LOOP, [], WheelspinHooks(guard), conversation_manager=SlidingWindowConversationManager(4))
    for start in range(0, 25, 5):
        agent.model = Scripted(messages_of(LOOP[start : start + 5]))
        agent("go")

    assert agent.conversation_manager.removed_message_count > 0
    assert not guard.is_armed(guard.records()[0].session_id, agent_id=agent.agent_id)
    assert [record.calls for record in guard.records()] == [5] * 5


class Answer(BaseModel):
    """A structured answer."""

    path: str


def test_an_answer_with_a_form_works_and_a_loop_before_it_is_ended() -> None:
    """Strands implements structured output as a tool."""
    guard = Guard()
    script = [*LOOP[:3], [ScriptedCall("last", "Answer", "/a", "")]]
    result = agent_of(script, [], WheelspinHooks(guard))("go", structured_output_model=Answer)
    assert result.structured_output == Answer(path="/a")

    with pytest.raises(ToolLoopError):
        agent_of(LOOP, [], WheelspinHooks(guard))("go", structured_output_model=Answer)
    ended = agent_of(LOOP, [], WheelspinHooks(guard, on_abort="end"))("go", structured_output_model=Answer)
    assert ended.structured_output is None


def test_an_end_comes_out_of_a_graph() -> None:
    """The graph's agents share a guard, but their calls count separately."""
    guard = Guard()
    hooks = WheelspinHooks(guard)
    builder = GraphBuilder().set_max_node_executions(9)
    for name in ("one", "two"):
        builder.add_node(agent_of(LOOP[:9], [], hooks, agent_id=name, name=name), name)
    builder.add_node(agent_of(LOOP, [], hooks, agent_id="three", name="three"), "three")
    builder.add_edge("one", "three")
    builder.add_edge("two", "three")

    with pytest.raises(ToolLoopError) as ended:
        builder.build()("go")
    assert ended.value.code == "global_circuit_breaker"
    found = {(record.agent_id, record.calls, record.warnings) for record in guard.records()}
    assert found == {("one", 9, 0), ("two", 9, 0), ("three", 31, 1)}


def test_agents_of_a_swarm_hand_over_under_one_guard() -> None:
    """A hand-off is a tool call, and what follows is a run of the next agent."""
    guard = Guard()
    hooks = WheelspinHooks(guard)
    script = [*LOOP[:9], [ScriptedCall("over", "handoff_to_agent", "two", "")]]
    one = agent_of(LOOP, [], hooks, agent_id="one", name="one", model=Scripted(messages_of(script)))
    two = agent_of(LOOP[:9], [], hooks, agent_id="two", name="two")
    done = Swarm([one, two], entry_point=one)("go")

    assert done.status.value == "completed"
    assert [node.node_id for node in done.node_history] == ["one", "two"]
    found = [(record.agent_id, record.calls, record.warnings) for record in guard.records()]
    assert found == [("two", 9, 0), ("one", 10, 0)]


def test_an_end_is_a_failure_in_the_result_of_a_swarm() -> None:
    """A swarm does not raise an agent's exception but keeps it in the result."""
    looping = agent_of(LOOP, [], WheelspinHooks(), name="two")
    done = Swarm([looping], entry_point=looping)("go")

    assert done.status.value == "failed"
    assert isinstance(done.results["two"].result, ToolLoopError)


def test_an_agent_that_is_a_tool_and_loops_is_a_tool_that_fails() -> None:
    """The calling agent receives the reason and continues."""
    guard = Guard()
    hooks = WheelspinHooks(guard)
    below = agent_of(LOOP, [], hooks, agent_id="below", name="below", description="Reads files.")
    script = [[ScriptedCall("a1", "below", "/a", "")]]
    above = agent_of(script, [], hooks, agent_id="above", tools=[below.as_tool()])
    above("go")

    assert "`read` was called 30 times" in shown(above)["a1"][0]


def test_an_exception_of_a_tool_is_left_as_it_is() -> None:
    """Strands turns it into a result, and other hooks see it."""
    guard = Guard()
    seen: list[Any] = []
    script = [[ScriptedCall("c1", "read", "/a", "no such file", fails=True)]]
    agent = agent_of(script, [], WheelspinHooks(guard))
    agent.hooks.add_callback(AfterToolCallEvent, lambda event: seen.append(event.exception))
    agent("go")

    assert isinstance(seen[0], RuntimeError)
    assert guard.records()[0].calls == 1


def test_a_guard_that_crashes_breaks_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run."""
    guard = crashing_guard(monkeypatch)
    ran: list[str] = []
    agent_of(LOOP[:15], ran, WheelspinHooks(guard))("go")

    assert len(ran) == 15


def test_an_agent_that_cannot_be_read_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls are not guarded, and the guard reports the crash."""
    guard, kinds = lenient_guard(monkeypatch)
    ran: list[str] = []
    agent = agent_of(LOOP[:15], ran, WheelspinHooks(guard))
    agent.hooks.add_callback(BeforeInvocationEvent, lambda _: monkeypatch.delattr(strands, "ToolCall"))
    agent("go")

    assert len(ran) == 15
    assert set(kinds) == {"crash"}
    assert guard.records() == []


def test_a_result_of_blocks_gets_the_advice_as_a_block() -> None:
    """Images and JSON are unchanged, and metadata that does not distinguish results is ignored."""
    guard = Guard()

    @tool
    def read(path: str) -> dict[str, Any]:
        """Read a file."""
        image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
        return {"status": "success", "content": [{"json": {"path": path}}, image]}

    agent = agent_of(LOOP[:11], [], WheelspinHooks(guard), tools=[read])
    agent("go")
    contents = [result["content"] for result in results(agent)]

    assert [len(content) for content in contents] == [2] * 10 + [3]
    assert contents[-1][:2] == contents[0]
    assert contents[-1][2]["text"].startswith("Loop detected")


def test_a_tool_that_was_cancelled_has_no_outcome() -> None:
    """The call stays open and is not evidence of a loop."""
    guard = Guard()

    @tool
    def read(path: str) -> dict[str, Any]:
        """Read a file."""
        return {"status": "error", "content": [{"text": "stopped"}], "cancelled": True}

    agent = agent_of(LOOP[:30], [], WheelspinHooks(guard), tools=[read])
    agent("go")

    assert "cancelled" in results(agent)[0]
    assert guard.records()[0].blocks == 0


def test_a_result_of_another_shape_breaks_no_agent() -> None:
    """The call is not guarded."""
    guard = Guard()

    def odd(event: AfterToolCallEvent) -> None:
        event.result = {"toolUseId": event.tool_use["toolUseId"], "content": [None]}  # type: ignore[typeddict-item]

    agent = agent_of(LOOP[:12], [], WheelspinHooks(guard))
    agent.hooks.add_callback(AfterToolCallEvent, odd)
    agent("go")

    assert [(record.calls, record.blocks) for record in guard.records()] == [(12, 0)]


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert run_page("strands")["agent"]
    run_looping_example("strands_agent")
