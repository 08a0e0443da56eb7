"""The adapter of the OpenAI Agents SDK, with the real framework."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from agents import (
    Agent,
    AgentHooks,
    ModelBehaviorError,
    OpenAIResponsesCompactionSession,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    ToolExecutionConfig,
    ToolGuardrailFunctionOutput,
    ToolOutputImage,
    UserError,
    function_tool,
    handoff,
    set_tracing_disabled,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.mcp import MCPServerStdio
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai import AsyncOpenAI
from openai.types.responses import ResponseCompactionItem

from tests.frameworks.pages import run_example, run_page
from tests.frameworks.players.openai_agents import CONFIG, agent_of, play, play_streamed, said, shown_to
from wheelspin import Guard, LoopEvent, Outcome, ToolCall
from wheelspin.adapters.openai_agents import guard_agent, guard_session, tell_unknown_tools
from wheelspin.errors import ToolLoopError
from wheelspin.testing import ScriptedCall, check_adapter

if TYPE_CHECKING:
    from pathlib import Path

LOOP = [[ScriptedCall(f"c{number}", "read", "/a", "text")] for number in range(60)]
MOST: Any = {"max_turns": 100}
SERVER = """
from mcp.server import MCPServer

server = MCPServer("files")


@server.tool()
def read(path: str) -> str:
    return f"text of {path}"


@server.tool()
def fail(path: str) -> str:
    raise ValueError("no such file")


server.run("stdio")
"""


class Told(Guard):
    """A guard that keeps what it is told."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.calls: list[ToolCall] = []
        self.outcomes: list[tuple[str | None, str, object]] = []

    def after(self, call: ToolCall, outcome: Outcome) -> Any:
        self.calls.append(call)
        self.outcomes.append((call.id, outcome.kind, outcome.value))
        return super().after(call, outcome)


def asking(tool: str, times: int = 60, **arguments: Any) -> ScriptedModel:
    """Give a model that asks for the same again and again."""
    given = arguments or {"path": "/a"}
    calls = [function_call(tool, given, call_id=f"{tool}_{number}") for number in range(times)]
    steps = [ModelStep(output=[call], response_id=call.id) for call in calls]  # type: ignore[union-attr]
    return ScriptedModel([*steps, ModelStep(output=[assistant_message("done")])])


def run(agent: Agent[Any], text: Any = "go", **options: Any) -> Any:
    """Run an agent."""
    return asyncio.run(Runner.run(agent, text, **options))


@function_tool
def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def test_an_agent_does_what_the_bare_guard_says() -> None:
    """Also of a tool that is not there, where the SDK tells the model of it."""
    check_adapter(play)


def test_a_streamed_run_does_what_the_bare_guard_says() -> None:
    """The end comes out of `stream_events`."""
    check_adapter(play_streamed)


def test_run_sync_is_guarded_alike() -> None:
    """The end leaves it as a `ToolLoopError` that holds the verdict."""
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
    """Each has one result; the loop is warned about, blocked and ended, and the calls of a message share a turn."""
    script = [[ScriptedCall(f"c{row}_{at}", "read", f"/{at}", "text") for at in range(2)] for row in range(40)]
    guard = Told()
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
    """A run is named after its trace, a session after the group of traces where no session is given."""
    set_tracing_disabled(False)
    guard = Guard()
    try:
        for group in ("s1", "s1", "s2"):
            config = RunConfig(group_id=group, trace_id=f"trace_{group}_{len(guard.records())}")
            run(agent_of(LOOP[:9], guard), run_config=config)
    finally:
        set_tracing_disabled(True)

    records = guard.records()
    assert [(record.session_id, record.agent_id, record.calls, record.warnings) for record in records] == [
        ("s2", "reader", 9, 0),
        ("s1", "reader", 9, 0),
        ("s1", "reader", 9, 0),
    ]
    assert [record.run_id for record in records] == ["trace_s2_2", "trace_s1_1", "trace_s1_0"]


def test_runs_that_go_on_at_the_same_time_do_not_see_each_other() -> None:
    """One agent, one guard."""
    guard = Guard()
    agent = guard_agent(Agent("reader", tools=[read]), guard)

    async def run_both() -> None:
        models = [asking("read", 9), asking("read", 9)]
        await asyncio.gather(*(Runner.run(agent, "go", run_config=RunConfig(model=model)) for model in models))

    asyncio.run(run_both())
    assert [(record.calls, record.warnings) for record in guard.records()] == [(9, 0), (9, 0)]


def test_tools_of_an_mcp_server_are_guarded(tmp_path: Path) -> None:
    """They are made anew in each turn; their results are parts, and the advice is one more."""
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    guard = Told()

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
    """What one of them did does not count in another call of it; the call itself counts with the agent that makes it."""
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
    """The SDK would make a text of it, as of any error of a tool; also where a tool runs an agent by itself."""
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
    """Whether they stand in `handoffs` as they are or as a `Handoff`; agents may hand off to each other."""
    guard = Guard()
    third = Agent("third", tools=[read], model=asking("read"))
    second = Agent("second", tools=[read], handoffs=[handoff(third)], model=asking("transfer_to_third", 1, x="x"))
    first = Agent("first", handoffs=[second], model=asking("transfer_to_second", 1, x="x"))
    second.handoffs.append(first)

    with pytest.raises(ToolLoopError):
        run(guard_agent(first, guard), **MOST)
    assert [(record.agent_id, record.calls) for record in guard.records()] == [("third", 31)]


def test_tools_may_be_given_later_and_clones_and_hooks_are_guarded_as_well() -> None:
    """Also tools that are on in some turns only; hooks of the user's are called as ever."""
    started: list[str] = []

    class Hooks(AgentHooks[Any]):
        async def on_start(self, context: Any, agent: Any) -> None:
            started.append(agent.name)
            if not agent.tools:
                agent.tools.append(function_tool(lambda path: "text", name_override="read", is_enabled=lambda *_: True))

        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            started.append(response.response_id)

    agent = guard_agent(Agent("reader", model=asking("read", 25)))
    agent.hooks = Hooks()
    clone = agent.clone(name="clone", tools=[], model=asking("read", 25))
    for each in (agent, clone):
        run(each, **MOST)
        assert sum("Loop detected" in text for (text,) in shown_to(each.model).values()) == 6
    assert started[:2] + started[-2:] == ["reader", "read_0", "read_24", "resp-789"]
    assert isinstance(clone, Agent)
    assert type(clone).__name__ == "Agent"


def test_a_tool_that_is_not_there_ends_the_run_as_the_sdk_has_it() -> None:
    """Unless the run says otherwise; an answer of the model without calls is no tool."""
    guard = Told()
    with pytest.raises(ModelBehaviorError):
        run(agent_of([[ScriptedCall("c1", "missing", "/a", "")]], guard))
    agent = agent_of([[ScriptedCall("c2", "missing", "/a", "")]], guard)
    run(agent, run_config=RunConfig(tool_not_found_behavior="return_error_to_model"))
    assert guard.outcomes[-1] == ("c2", "unknown_tool", "Tool 'missing' not found.")


def compacting(request: httpx2.Request) -> httpx2.Response:
    """Answer as the provider does when it is asked to compact a conversation."""
    item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "secret"}
    body = {"id": "resp_1", "created_at": 1, "object": "response.compaction", "output": [item]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return httpx2.Response(200, json={**body, "usage": {**usage, **details}})


def test_a_loop_that_survives_the_compaction_of_a_session_ends_the_run() -> None:
    """The next run of the session sees the compaction; one from before the session was first seen arms nothing."""

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
    """The provider may compact in any response; it is then in what the model sees next, and arms once."""
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
