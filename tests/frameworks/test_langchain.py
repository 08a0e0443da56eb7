"""The adapter for LangChain, with the real framework."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from threading import Barrier
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from tests.frameworks.guards import crashing_guard
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.langchain import Model, messages_of, play, play_in_a_graph, tools_of
from wheelspin import Guard
from wheelspin.adapters.langchain import WheelspinMiddleware
from wheelspin.errors import ToolLoopError
from wheelspin.testing import ScriptedCall, check_adapter

LOOP = [[ScriptedCall(f"c{number}", "read", "/a", "text")] for number in range(60)]
OLD = version("langgraph-prebuilt").startswith("1.0.")
LIMIT: Any = {"recursion_limit": 400}


def test_an_agent_does_what_the_guard_alone_decides() -> None:
    """A failing tool ends a LangChain agent by itself; its exception passes through unchanged."""
    check_adapter(play, without=["a failing tool"])


def test_a_plain_tool_node_does_what_the_guard_alone_decides() -> None:
    """This holds even if it turns all tool errors into results, except for the end of a run in old versions."""
    check_adapter(play_in_a_graph, without=["an aborted loop"] if OLD else [])


@pytest.mark.skipif(not OLD, reason="this version lets the end of a run through")
def test_an_old_tool_node_turns_the_end_of_a_run_into_results() -> None:
    """No further call runs, and the model receives the reason until it gives up."""
    done = play_in_a_graph(LOOP, Guard())

    assert (len(done.ran), done.ended) == (20, None)
    assert "the run is ended" in done.shown["c59"][0]


class Summarizing(Model):
    """A scripted model that returns a summary when asked for one."""

    summaries: list[int] = Field(default_factory=list)

    def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
        if len(messages) == 1:
            self.summaries.append(1)
            return ChatResult(generations=[ChatGeneration(message=AIMessage("summary"))])
        return super()._generate(messages, *args, **options)


def _agent(guard: Guard, script: Any, *more: Any, **options: Any) -> Any:
    middleware = [WheelspinMiddleware(guard, **options), *more]
    return create_agent(
        Model(messages=messages_of(script)),
        tools_of(script, []),
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """Each result contains its own advice."""
    guard, barrier = Guard(), Barrier(2, timeout=20)

    @tool
    def read(path: str) -> str:
        """Read a file."""
        barrier.wait()
        return f"text of {path}"

    script = [[ScriptedCall(f"{path}{number}", "read", path, "") for path in ("/a", "/b")] for number in range(9)]
    agent = create_agent(Model(messages=messages_of(script)), [read], middleware=[WheelspinMiddleware(guard)])
    done = agent.invoke({"messages": [("user", "go")]}, LIMIT)
    shown = {message.tool_call_id: message.text for message in done["messages"] if isinstance(message, ToolMessage)}

    assert set(shown) == {call.id for message in script for call in message}
    assert all(text.startswith(f"text of {call_id[:2]}") for call_id, text in shown.items())
    assert any("Loop detected" in text for text in shown.values())
    assert guard.records()[0].calls == 18


def test_a_run_can_be_ended_with_a_final_message_in_place_of_an_exception() -> None:
    """The reason is the agent's answer."""
    guard = Guard()
    config: Any = {**LIMIT, "configurable": {"thread_id": "t1"}}
    done = _agent(guard, LOOP, on_abort="end").invoke({"messages": [("user", "go")]}, config)

    last = done["messages"][-1]
    assert isinstance(last, AIMessage)
    assert last.text.startswith("`read` was called 30 times")
    assert set(done) == {"messages"}


def test_a_wrong_option_is_refused() -> None:
    """The error lists the valid values."""
    with pytest.raises(ValueError, match="'raise' or 'end'"):
        WheelspinMiddleware(on_abort="stop")


def test_async_agents_are_guarded_alike() -> None:
    """Coroutines are handled in the same way."""
    guard = Guard()
    agent = _agent(guard, LOOP)
    config: Any = {**LIMIT, "configurable": {"thread_id": "t1"}}

    with pytest.raises(ToolLoopError) as ended:
        asyncio.run(agent.ainvoke({"messages": [("user", "go")]}, config))
    assert ended.value.code == "global_circuit_breaker"


def test_each_invoke_is_a_run_of_its_own_and_threads_do_not_see_each_other() -> None:
    """One middleware can serve them all, and the records contain the threads."""
    guard = Guard()
    for thread in ("t1", "t1", "t2"):
        script = LOOP[:9]
        agent = _agent(guard, script)
        agent.invoke({"messages": [("user", "go")]}, {**LIMIT, "configurable": {"thread_id": thread}})

    records = guard.records()
    assert [(record.session_id, record.calls, record.warnings) for record in records] == [
        ("t2", 9, 0),
        ("t1", 9, 0),
        ("t1", 9, 0),
    ]
    assert len({record.run_id for record in records}) == 3


def test_a_loop_that_survives_a_summarization_ends_the_run() -> None:
    """A summary that replaces older messages arms the guard; one from an earlier time does not."""
    guard = Guard()
    summarizer = SummarizationMiddleware(
        Model(messages=iter([AIMessage("summary")] * 9)), trigger=("messages", 14), keep=("messages", 2)
    )
    agent = _agent(guard, LOOP, summarizer)
    config: Any = {**LIMIT, "configurable": {"thread_id": "t1"}}

    with pytest.raises(ToolLoopError) as ended:
        agent.invoke({"messages": [("user", "go")]}, config)
    assert ended.value.code == "compaction_loop_persisted"
    state = agent.get_state(config).values["messages"]
    assert any(message.additional_kwargs.get("lc_source") for message in state if isinstance(message, HumanMessage))


def test_an_agent_that_is_created_for_each_request_keeps_its_state() -> None:
    """A summary written before the first call of the next request arms the guard, too."""
    guard, saver = Guard(), InMemorySaver()
    messages = list(messages_of(LOOP))

    def request(*part: Any) -> None:
        summarizer = SummarizationMiddleware(
            Model(messages=iter([AIMessage("summary")])), trigger=("messages", 14), keep=("messages", 2)
        )
        middleware = [WheelspinMiddleware(guard), summarizer]
        model, config = Model(messages=iter(part)), {**LIMIT, "configurable": {"thread_id": "t1"}}
        agent = create_agent(model, tools_of(LOOP, []), middleware=middleware, checkpointer=saver)
        agent.invoke({"messages": [("user", "go")]}, config)

    request(*messages[:6], AIMessage("done"))
    with pytest.raises(ToolLoopError) as ended:
        request(*messages[6:])
    assert ended.value.code == "compaction_loop_persisted"
    assert [record.calls for record in guard.records()] == [3, 6]


@pytest.mark.skipif(OLD, reason="deepagents needs a newer LangChain")
def test_a_loop_that_survives_a_summarization_of_deepagents_ends_the_run() -> None:
    """deepagents leaves the messages unchanged and keeps the cutoff in the state."""
    from deepagents import create_deep_agent

    guard = Guard()
    long = [[call._replace(result="text " * 12_000) for call in message] for message in LOOP[:18]]
    model = Summarizing(messages=messages_of(long))
    agent = create_deep_agent(model, tools_of(long, []), middleware=[WheelspinMiddleware(guard)])

    with pytest.raises(ToolLoopError) as ended:
        agent.invoke({"messages": [("user", "go")]}, LIMIT)
    assert ended.value.code == "compaction_loop_persisted"
    assert model.summaries == [1]


def test_an_exception_of_a_tool_passes_unchanged() -> None:
    """The guard records it first."""
    guard = Guard()
    script = [[ScriptedCall("c1", "read", "/a", "no such file", fails=True)]]

    with pytest.raises(RuntimeError, match="no such file"):
        _agent(guard, script).invoke({"messages": [("user", "go")]}, {"configurable": {"thread_id": "t1"}})
    assert guard.records()[0].calls == 1


def test_a_guard_that_crashes_breaks_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run."""
    guard = crashing_guard(monkeypatch)
    done = _agent(guard, LOOP[:15]).invoke(
        {"messages": [("user", "go")]}, {**LIMIT, "configurable": {"thread_id": "t1"}}
    )

    assert sum(isinstance(message, ToolMessage) for message in done["messages"]) == 15


def test_a_result_of_blocks_gets_the_advice_as_a_block() -> None:
    """Images and texts are unchanged."""

    @tool
    def read(path: str) -> list[dict[str, str]]:
        """Read a file."""
        return [{"type": "text", "text": "text"}]

    agent = create_agent(Model(messages=messages_of(LOOP[:11])), [read], middleware=[WheelspinMiddleware(Guard())])
    done = agent.invoke({"messages": [("user", "go")]}, LIMIT)
    contents = [message.content for message in done["messages"] if isinstance(message, ToolMessage)]

    assert [len(content) for content in contents] == [1] * 10 + [2]
    assert contents[-1][1]["text"].startswith("Loop detected")


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert run_page("langchain")["agent"]
    run_looping_example("langchain_agent")
