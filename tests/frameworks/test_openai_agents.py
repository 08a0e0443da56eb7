"""The adapter for the OpenAI Agents SDK, with the real framework."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from agents import (
    Agent,
    AgentHooks,
    ModelBehaviorError,
    ModelSettings,
    OpenAIResponsesCompactionSession,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    ToolExecutionConfig,
    ToolGuardrailFunctionOutput,
    ToolOutputImage,
    UserError,
    default_tool_error_function,
    function_tool,
    handoff,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.mcp import MCPServerStdio
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai import AsyncOpenAI
from openai.types.responses import ResponseCompactionItem

from tests.frameworks.guards import crashing_guard, lenient_guard
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.openai_agents import (
    SERVER,
    RecordingGuard,
    agent_of,
    asking,
    compacting,
    model_of,
    play,
    play_streamed,
    shown_to,
    tools_of,
)
from wheelspin import Guard, LoopEvent
from wheelspin.adapters.openai_agents import guard_agent, guard_session
from wheelspin.errors import ToolLoopError
from wheelspin.testing import ScriptedCall, check_adapter

LOOP = [[ScriptedCall(f"c{number}", "read", "/a", "text")] for number in range(60)]
MOST: Any = {"max_turns": 100}


def run(agent: Agent[Any], text: Any = "go", **options: Any) -> Any:
    """Run an agent."""
    return asyncio.run(Runner.run(agent, text, **options))


@function_tool
def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def test_an_agent_does_what_the_guard_alone_decides() -> None:
    """This includes unknown tools, if the SDK reports them to the model."""
    check_adapter(play)


def test_a_streamed_run_does_what_the_guard_alone_decides() -> None:
    """The error leaves `stream_events`."""
    check_adapter(play_streamed)


def test_run_sync_is_guarded_alike() -> None:
    """The run ends with a `ToolLoopError` that contains the verdict."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        with pytest.raises(ToolLoopError) as ended:
            Runner.run_sync(agent_of(LOOP, Guard()), "go", **MOST)
    finally:
        loop.close()
    assert ended.value.code == "global_circuit_breaker"
    assert ended.value.verdict.stops


def test_calls_of_one_message_may_run_at_the_same_time() -> None:
    """Each call has one result, the loop is warned, blocked and ended, and the calls of a message share a turn."""
    script = [[ScriptedCall(f"c{row}_{at}", "read", f"/{at}", "text") for at in range(2)] for row in range(40)]
    guard = RecordingGuard()
    ran: list[str] = []
    agent = agent_of(script, guard, ran)

    with pytest.raises(ToolLoopError):
        run(agent, **MOST)
    shown = shown_to(agent.model)
    assert {len(texts) for texts in shown.values()} == {1}
    assert any(text.startswith("text\n\nLoop detected") for (text,) in shown.values())
    assert len(ran) < len(shown) - 2
    assert [call.turn_id for call in guard.calls[:4]] == ["m0", "m0", "m1", "m1"]


def test_each_run_is_its_own_and_the_records_have_the_sdks_names() -> None:
    """A run has the id of its trace; without `guard_session`, a session has the id of the trace's group."""
    guard = Guard()
    for group in ("s1", "s1", "s2"):
        config = RunConfig(group_id=group, trace_id=f"trace_{group}_{len(guard.records())}")
        run(agent_of(LOOP[:9], guard), run_config=config)

    records = guard.records()
    assert [(record.session_id, record.agent_id, record.calls, record.warnings) for record in records] == [
        ("s2", "reader", 9, 0),
        ("s1", "reader", 9, 0),
        ("s1", "reader", 9, 0),
    ]
    assert [record.run_id for record in records] == ["trace_s2_2", "trace_s1_1", "trace_s1_0"]


def test_runs_that_go_on_at_the_same_time_do_not_see_each_other() -> None:
    """They share one agent and one guard."""
    guard = Guard()
    agent = guard_agent(Agent("reader", tools=[read]), guard)

    async def run_both() -> None:
        models = [asking("read", 9), asking("read", 9)]
        await asyncio.gather(*(Runner.run(agent, "go", run_config=RunConfig(model=model)) for model in models))

    asyncio.run(run_both())
    assert [(record.calls, record.warnings) for record in guard.records()] == [(9, 0), (9, 0)]


def test_tools_of_an_mcp_server_are_guarded(tmp_path: Path) -> None:
    """The tools are created anew in each turn; their results are parts, and the advice is one more part."""
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    guard = RecordingGuard()

    async def play_with(model: ScriptedModel) -> None:
        async with MCPServerStdio({"command": sys.executable, "args": [str(path)]}) as server:
            agent = guard_agent(Agent("reader", model=model, mcp_servers=[server]), guard)
            await Runner.run(agent, "go", **MOST)

    model = asking("read", 22)
    asyncio.run(play_with(model))
    assert guard.outcomes[0] == ("read_0", "result", "text of /a")
    assert len(guard.outcomes) == 20
    (warned,) = shown_to(model)["read_10"]
    assert "text of /a" in warned
    assert "Loop detected" in warned
    asyncio.run(play_with(asking("fail", 1)))
    assert guard.outcomes[-1] == ("fail_0", "result", "Error executing tool fail")


def test_agents_that_are_tools_are_guarded_and_each_of_their_calls_is_a_run() -> None:
    """One call's inner calls do not count in another; the call itself counts for the calling agent."""
    guard = Guard()
    inner = Agent("inner", tools=[read], model=asking("read", 6))
    inner.model.extend(  # type: ignore[union-attr]
        [*(ModelStep(output=[function_call("read", {"path": "/a"}, call_id=f"more_{n}")]) for n in range(6))]
    )
    inner.model.extend([ModelStep(output=[assistant_message("done")])])  # type: ignore[union-attr]
    outer = guard_agent(Agent("outer", tools=[inner.as_tool("ask", "Ask.")], model=asking("ask", 2, input="x")), guard)
    run(outer, "go")

    by_run = {(record.agent_id, record.run_id): (record.calls, record.warnings) for record in guard.records()}
    (whole,) = [run for agent, run in by_run if agent == "outer"]
    assert by_run == {
        ("outer", whole): (2, 0),
        ("inner", f"{whole}/ask_0"): (6, 0),
        ("inner", f"{whole}/ask_1"): (6, 0),
    }


@pytest.mark.parametrize("wording", [{}, {"failure_error_function": lambda *_: "no"}, {"failure_error_function": None}])
def test_the_end_of_an_agent_that_is_a_tool_ends_the_run_around_it(wording: dict[str, Any]) -> None:
    """The SDK would turn it into text like any tool error; this also holds if a tool runs an agent itself."""
    inner = Agent("inner", tools=[read], model=asking("read"))
    tool = inner.as_tool("ask", "Ask.", max_turns=100, **wording)
    middle = guard_agent(Agent("middle", tools=[tool], model=asking("ask", input="x")))

    @function_tool
    async def ask_middle() -> str:
        """Ask."""
        return str((await Runner.run(middle, "go")).final_output)

    outer = guard_agent(Agent("outer", tools=[ask_middle], model=asking("ask_middle", x="x")))
    with pytest.raises(ToolLoopError):
        run(outer, "go")


def test_agents_that_are_reached_by_a_hand_off_are_guarded() -> None:
    """`handoffs` can contain agents or `Handoff` objects, and agents can hand off to each other."""
    guard = Guard()
    third = Agent("third", tools=[read], model=asking("read"))
    second = Agent("second", tools=[read], handoffs=[handoff(third)], model=asking("transfer_to_third", 1, x="x"))
    first = Agent("first", handoffs=[second], model=asking("transfer_to_second", 1, x="x"))
    second.handoffs.append(first)

    with pytest.raises(ToolLoopError):
        run(guard_agent(first, guard), **MOST)
    assert [(record.agent_id, record.calls) for record in guard.records()] == [("third", 31)]


def test_tools_may_be_given_later_and_clones_and_hooks_are_guarded_as_well() -> None:
    """This includes tools that are enabled only in some turns; the user's hooks are still called."""
    started: list[str] = []

    class Hooks(AgentHooks[Any]):
        async def on_start(self, context: Any, agent: Any) -> None:
            started.append(agent.name)

        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            started.append(response.response_id)

    agent = guard_agent(Agent("reader", model=asking("read", 25)))
    agent.hooks = Hooks()
    clone = agent.clone(name="clone", tools=[], model=asking("read", 25))
    for each in (agent, clone):
        each.tools.append(function_tool(lambda path: "text", name_override="read", is_enabled=lambda *_: True))
    for each in (agent, clone):
        run(each, **MOST)
        assert sum("Loop detected" in text for (text,) in shown_to(each.model).values()) == 6
    assert started[:2] + started[-2:] == ["reader", "read_0", "read_24", "resp-789"]
    assert type(clone).__name__ == "Agent"


def test_an_unknown_tool_ends_the_run_as_without_the_guard() -> None:
    """Unless the run is configured to return the error to the model."""
    guard = RecordingGuard()
    with pytest.raises(ModelBehaviorError):
        run(agent_of([[ScriptedCall("c1", "missing", "/a", "")]], guard))
    agent = agent_of([[ScriptedCall("c2", "missing", "/a", "")]], guard)
    run(agent, run_config=RunConfig(tool_not_found_behavior="return_error_to_model"))
    assert guard.outcomes[-1] == ("c2", "unknown_tool", "Tool 'missing' not found.")


def test_a_loop_that_survives_the_compaction_of_a_session_ends_the_run() -> None:
    """The next run of the session sees the compaction; one from before the session was first used arms nothing."""

    async def play_with(guard: Guard, *, first: Guard) -> None:
        client = AsyncOpenAI(api_key="none", http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(compacting)))
        store = SQLiteSession("s1")
        session = OpenAIResponsesCompactionSession("s1", store, client=client, should_trigger_compaction=lambda _: True)
        for each in (first, guard):
            await Runner.run(agent_of(LOOP[:5], each), "go", session=guard_session(session))
        store.close()

    guard = Guard()
    with pytest.raises(ToolLoopError) as ended:
        asyncio.run(play_with(guard, first=guard))
    assert ended.value.code == "compaction_loop_persisted"
    assert {record.session_id for record in guard.records()} == {"s1"}
    asyncio.run(play_with(Guard(), first=Guard()))


def test_a_loop_that_survives_a_compaction_within_a_run_ends_it() -> None:
    """The provider can compact in any response; the next request contains the compaction, which arms the guard once."""
    item = ResponseCompactionItem(id="cmp_1", type="compaction", encrypted_content="secret")
    calls = [function_call("read", {"path": "/a"}, call_id=f"c{number}") for number in range(9)]
    model = ScriptedModel(
        [ModelStep(output=[*([item] if number == 2 else []), call]) for number, call in enumerate(calls)]
    )
    seen: list[LoopEvent] = []

    with pytest.raises(ToolLoopError) as ended:
        run(guard_agent(Agent("reader", tools=[read], model=model), Guard(listeners=[seen.append])), **MOST)
    assert ended.value.code == "compaction_loop_persisted"
    assert [event.kind for event in seen].count("armed") == 1


def test_an_exception_of_a_tool_passes_as_it_does_without_the_guard() -> None:
    """The guard records it first; a text that the SDK or the user makes of an exception is recorded as an error."""
    script = [[ScriptedCall("c1", "read", "/a", "no such file", fails=True)]]
    for wording, shown in ((lambda *_: "sorry", "sorry"), (default_tool_error_function, "An error occurred")):
        guard = RecordingGuard()
        agent = guard_agent(
            Agent("reader", model=model_of(script), tools=tools_of(script, [], failure_error_function=wording)),
            guard,
        )
        run(agent)
        ((_, kind, value),) = guard.outcomes
        assert kind == "error"
        assert str(value).startswith(shown)

    guard = RecordingGuard()
    tools = tools_of(script, [], failure_error_function=None)
    with pytest.raises(UserError) as left:
        run(guard_agent(Agent("reader", model=model_of(script), tools=tools), guard))
    assert isinstance(left.value.__cause__, RuntimeError)
    assert guard.outcomes == [("c1", "error", "no such file")]


def test_a_timeout_is_recorded_as_an_error() -> None:
    """The SDK turns a timeout into text."""

    @function_tool(timeout=0.01)
    async def read(path: str) -> str:
        """Read a file."""
        await asyncio.sleep(9)
        return path

    guard = RecordingGuard()
    run(guard_agent(Agent("reader", model=asking("read", 1), tools=[read]), guard))
    assert guard.outcomes == [("read_0", "error", "Tool 'read' timed out after 0.01 seconds.")]


@pytest.mark.parametrize("part", ["_before", "_after"])
def test_a_guard_that_crashes_breaks_no_agent(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run."""
    guard = crashing_guard(monkeypatch, part)
    agent = agent_of(LOOP[:10], guard)

    assert run(agent, **MOST).final_output == "done"
    assert list(shown_to(agent.model).values()) == [["text"]] * 10


def test_objects_of_another_shape_break_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for every object the adapter reads; the guard reports the crash."""
    guard, kinds = lenient_guard(monkeypatch)
    monkeypatch.setattr("wheelspin.adapters.openai_agents._Run.of", lambda *_: 1 / 0)
    agent = agent_of(LOOP[:15], guard)
    assert run(agent, **MOST).final_output == "done"
    assert list(shown_to(agent.model).values()) == [["text"]] * 15
    assert set(kinds) == {"crash"}


def test_results_that_are_no_texts_get_the_advice_in_their_own_kind() -> None:
    """An image stays an image; other values are sent to the model as text, as without the guard."""
    image = ToolOutputImage(image_url="data:image/png;base64,AA==")
    for result, before in ((image, "input_image"), ({"a": 1}, "{'a': 1"), ([1], "[1"), (7, "7"), (None, "None")):
        tool = function_tool(lambda path, result=result: result, name_override="read")
        tool.params_json_schema["required"] = ["path"]
        agent = guard_agent(Agent("reader", model=asking("read", 12), tools=[tool]))
        run(agent, **MOST)
        plain, warned = (shown_to(agent.model)[f"read_{number}"][0] for number in (9, 10))
        assert all(before in text for text in (plain, warned))
        assert "Loop detected" in warned
        assert "Loop detected" not in plain


def test_what_the_users_own_guardrails_reject_stays_rejected() -> None:
    """Advice never restores a withheld output; a call they reject is recorded as denied."""

    @tool_output_guardrail
    def withhold(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("withheld")

    @tool_input_guardrail
    def refuse(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("refused")

    for options, kind, text in (
        ({"tool_output_guardrails": [withhold]}, "result", "withheld"),
        ({"tool_input_guardrails": [refuse]}, "denied", "refused"),
    ):
        guard = RecordingGuard()
        tool = function_tool(lambda path: "secret", name_override="read", **options)
        agent = guard_agent(Agent("reader", model=asking("read", 12), tools=[tool]), guard)
        run(agent, **MOST)
        assert list(shown_to(agent.model).values()) == [[text]] * 12
        assert {recorded for _, recorded, _ in guard.outcomes} == {kind}


def test_an_approval_is_not_an_outcome_and_the_resumed_call_counts_once() -> None:
    """It counts in the interrupted run, even after the run's state was saved and loaded."""
    for writes in (False, True):
        guard = RecordingGuard()
        tool = function_tool(lambda path: "text", name_override="read", needs_approval=True)
        agent = guard_agent(Agent("reader", model=asking("read", 1), tools=[tool]), guard)
        config = RunConfig(tool_execution=ToolExecutionConfig(pre_approval_tool_input_guardrails=True))
        state = run(agent, run_config=config).to_state()
        assert guard.outcomes == []
        if writes:
            state = asyncio.run(RunState.from_string(agent, state.to_string()))
        state.approve(state.get_interruptions()[0])
        assert run(agent, state, run_config=config).final_output == "done"
        assert [record.calls for record in guard.records()] == [1]
        assert [kind for _, kind, _ in guard.outcomes] == ["result"]


def test_a_run_may_stop_on_its_first_tool() -> None:
    """A forced tool choice is unchanged."""
    settings = ModelSettings(tool_choice="required")
    agent = agent_of(LOOP[:3], Guard(), tool_use_behavior="stop_on_first_tool", model_settings=settings)
    assert run(agent).final_output == "text"
    assert agent.model.last_call.model_settings.tool_choice == "required"  # type: ignore[union-attr]


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert run_page("openai_agents")["agent"]
    run_looping_example("openai_agents_agent")
