"""The adapter for Microsoft Agent Framework, with the real framework."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_framework import (
    CompactionProvider,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    InMemoryHistoryProvider,
    Message,
    MiddlewareFailure,
    SummarizationStrategy,
    TruncationStrategy,
    apply_compaction,
    tool,
)

from tests.frameworks.guards import RecordingGuard, crashing_guard, lenient_guard
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.agent_framework import (
    Client,
    agent_of,
    answer,
    ended_with,
    message_with,
    messages_of,
    play,
    play_streamed,
    shown_to,
    tools_of,
)
from wheelspin import Guard
from wheelspin.adapters.agent_framework import WheelspinMiddleware, guarded_compaction
from wheelspin.errors import ToolLoopError
from wheelspin.testing import ScriptedCall, check_adapter

pytestmark = pytest.mark.filterwarnings("ignore:.*experimental:FutureWarning")
LOOP = [[ScriptedCall(f"c{number}", "read", "/a", "text")] for number in range(60)]


def _agent(guard: Guard, script: Any = LOOP, *, says: Any = None, tools: Any = None, **more: Any) -> Any:
    client = Client(messages_of(script) if says is None else says)
    return agent_of(client, tools_of(script, []) if tools is None else tools, guard, **more)


def _run(agent: Any, message: Any = "go", **more: Any) -> Any:
    return asyncio.run(agent.run(message, **more))


def _streamed(agent: Any, **more: Any) -> Any:
    async def run() -> Any:
        streamed = agent.run("go", stream=True, **more)
        async for _ in streamed:
            pass
        return await streamed.get_final_response()

    return asyncio.run(run())


def _several(*scripts: Any) -> Any:
    """Yield the messages of a model that answers after each script."""
    for script in scripts:
        for message in script:
            yield message_with(*message)
        yield answer("done")


def test_an_agent_does_what_the_guard_alone_decides() -> None:
    """This includes failing and unknown tools, whose results the framework makes itself."""
    check_adapter(play)


def test_a_streamed_run_that_ends_with_a_final_message_does_what_the_guard_alone_decides() -> None:
    """Each call counts once, and the reason is the answer."""
    check_adapter(play_streamed)


@pytest.mark.parametrize("stream", [False, True])
def test_the_error_that_ends_a_run_leaves_the_agent(stream: bool) -> None:
    """It is of the only type that the framework lets through, and the session keeps nothing of the run."""
    guard = Guard()
    agent = _agent(guard)
    session = agent.create_session()

    with pytest.raises(ToolLoopError) as ended:
        _streamed(agent, session=session) if stream else _run(agent, session=session)
    assert ended.value.code == "global_circuit_breaker"
    assert isinstance(ended.value, MiddlewareFailure)
    assert guard.records()[0].calls == 31
    assert not session.state.get("in_memory")


def test_a_conversation_that_the_service_keeps_gets_a_result_of_each_call() -> None:
    """The framework sends a result for the call that ended the run, and the guard lets the request through."""
    client = Client(messages_of(LOOP), conversation="conversation")
    agent = agent_of(client, tools_of(LOOP, []), Guard())

    with pytest.raises(ToolLoopError):
        _run(agent, session=agent.create_session())
    assert list(shown_to(client)) == ["c30"]


def test_a_run_can_be_ended_with_a_final_message() -> None:
    """The response holds the code."""
    done = _run(_agent(Guard(), on_abort="end"))

    assert done.text.splitlines()[-1].startswith("`read` was called 30 times")
    assert ended_with(done) == "global_circuit_breaker"


def test_a_wrong_option_is_refused() -> None:
    """The error lists the valid values."""
    with pytest.raises(ValueError, match="'raise' or 'end'"):
        WheelspinMiddleware(on_abort="stop")


def test_a_loop_on_an_unknown_tool_ends_the_run() -> None:
    """The framework calls no function middleware for a call of an unknown tool."""
    script = [[ScriptedCall(f"c{number}", "missing", "/a", "")] for number in range(60)]

    with pytest.raises(ToolLoopError) as ended:
        _run(_agent(Guard(), script))
    assert ended.value.verdict.finding is not None


def test_results_of_earlier_runs_are_not_counted_again() -> None:
    """Each model call of a session contains the results of earlier runs."""
    guard = Guard()
    missing = [[ScriptedCall(f"c{number}", "missing", "/a", "")] for number in range(6)]
    agent = _agent(guard, says=_several(missing, LOOP[:1], []))
    session = agent.create_session()
    for _ in range(3):
        _run(agent, session=session)

    assert [record.calls for record in guard.records()] == [1, 6]


def test_each_run_is_its_own_and_sessions_do_not_see_each_other() -> None:
    """One middleware can serve them all, and the records contain the framework's sessions and agents."""
    guard = Guard()
    agent = _agent(guard, says=_several(LOOP[:9], LOOP[9:18], LOOP[18:27]))
    first, second = agent.create_session(), agent.create_session()
    for session in (first, first, second):
        _run(agent, session=session)

    assert [(r.session_id, r.agent_id, r.calls, r.warnings) for r in guard.records()] == [
        (second.session_id, "agent", 9, 0),
        (first.session_id, "agent", 9, 0),
        (first.session_id, "agent", 9, 0),
    ]
    assert len({record.run_id for record in guard.records()}) == 3


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """Each waits for the other and gets its own advice."""
    script = [[ScriptedCall(f"{path}{n}", "read", path, "") for path in "ab"] for n in range(8)]

    async def run() -> dict[str, list[str]]:
        meeting = asyncio.Barrier(2)

        @tool(approval_mode="never_require")
        async def read(path: str) -> str:
            """Read a file."""
            await meeting.wait()
            return f"text of {path}"

        agent = _agent(Guard(), script, tools=[read])
        await agent.run("go")
        return shown_to(agent.client)

    shown = asyncio.run(run())
    assert len(shown) == 16
    assert all(text.startswith(f"text of {call[0]}") for call, (text,) in shown.items())
    assert any("Loop detected" in text for (text,) in shown.values())


@pytest.mark.parametrize("stream", [False, True])
def test_calls_name_the_message_that_asked_for_them(stream: bool) -> None:
    """Calls of one message have the same turn id."""
    guard = RecordingGuard()
    script = [[ScriptedCall(f"{path}{n}", "read", f"/{path}{n}", "text") for path in "ab"] for n in range(3)]
    _streamed(_agent(guard, script)) if stream else _run(_agent(guard, script))

    turns = [{guard.turns[f"a{n}"], guard.turns[f"b{n}"]} for n in range(3)]
    assert [len(turn) for turn in turns] == [1, 1, 1]
    assert len(set.union(*turns) - {None}) == 3


def _truncation() -> TruncationStrategy:
    return TruncationStrategy(max_n=16, compact_to=4)


@pytest.mark.parametrize("place", ["agent", "client", "run"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_loop_that_survives_a_compaction_ends_the_run(place: str, stream: bool) -> None:
    """It does not matter where the strategy was set."""
    client = Client(messages_of(LOOP), **({"compaction_strategy": _truncation()} if place == "client" else {}))
    of_agent = {"compaction_strategy": _truncation()} if place == "agent" else {}
    of_run = {"compaction_strategy": _truncation()} if place == "run" else {}
    agent = agent_of(client, tools_of(LOOP, []), Guard(), on_abort="end", **of_agent)

    done = _streamed(agent, **of_run) if stream else _run(agent, **of_run)
    assert ended_with(done) == "compaction_loop_persisted"


@pytest.mark.parametrize(("wrapped", "ended"), [(True, "compaction_loop_persisted"), (False, None)])
@pytest.mark.parametrize("run", [_run, _streamed])
@pytest.mark.parametrize("when", ["before_strategy", "after_strategy"])
def test_a_compaction_provider_arms_the_guard_where_its_strategy_is_wrapped(
    run: Any, wrapped: bool, ended: str | None, when: str
) -> None:
    """A compaction before a run, or after the previous one, arms the guard for that run."""
    strategy: Any = SummarizationStrategy(client=Client(iter([answer("summary")] * 99)), target_count=2, threshold=2)
    compaction = CompactionProvider(**{when: guarded_compaction(strategy) if wrapped else strategy})
    providers = [InMemoryHistoryProvider(), compaction]
    agent = _agent(
        Guard(),
        says=_several(LOOP[:4], LOOP[4:9]),
        on_abort="end",
        context_providers=providers if when == "before_strategy" else providers[::-1],
    )
    session = agent.create_session()
    assert ended_with(run(agent, session=session)) is None
    assert ended_with(run(agent, session=session)) == ended


def test_a_compaction_outside_of_a_guarded_run_does_not_arm_a_guard() -> None:
    """Outside a guarded run there is no guard to arm."""
    messages = [Message("user", [Content.from_text("text")]) for _ in range(40)]
    kept = asyncio.run(apply_compaction(messages, strategy=guarded_compaction(_truncation())))
    assert len(kept) == 4


def test_an_exception_of_a_tool_passes_unchanged() -> None:
    """The guard records it, and the framework turns it into a result."""
    guard = RecordingGuard()
    agent = _agent(guard, [[ScriptedCall("c1", "read", "/a", "no such file", fails=True)]])
    done = _run(agent)
    (result,) = [c for message in done.messages for c in message.contents if c.type == "function_result"]

    assert result.exception == "no such file"
    assert guard.kinds == ["error"]


def test_a_guard_that_crashes_breaks_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run."""
    guard = crashing_guard(monkeypatch)
    agent = _agent(guard, LOOP[:35])
    _run(agent)

    assert shown_to(agent.client) == {f"c{number}": ["text"] for number in range(35)}


def test_what_cannot_be_read_is_not_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent still works, and the guard reports the crash."""
    guard, kinds = lenient_guard(monkeypatch)
    monkeypatch.setattr("wheelspin.adapters.agent_framework._Run.make_call", lambda *_: 1 / 0)
    monkeypatch.setattr("wheelspin.adapters.agent_framework._ModelCalls._check_results", lambda *_: 1 / 0)
    agent = _agent(guard, LOOP[:35])
    _run(agent)

    assert len(shown_to(agent.client)) == 35
    assert set(kinds) == {"crash"}


@pytest.mark.parametrize(
    "result", [{"rows": 3}, ["a", 1], None, [Content.from_uri("http://a/b.png", media_type="image/png")]]
)
def test_a_result_that_is_not_text_is_unchanged(result: Any) -> None:
    """The advice is added as one more part."""

    @tool(approval_mode="never_require")
    def read(path: str) -> Any:
        """Read a file."""
        return result

    done = _run(_agent(Guard(), LOOP[:11], tools=[read]))
    items = [[i.to_dict() for i in c.items] for m in done.messages for c in m.contents if c.type == "function_result"]

    assert items[:10] == [items[0]] * 10
    assert items[10][:-1] == items[0]
    assert items[10][-1]["text"].startswith("Loop detected")


def test_middleware_of_the_user_changes_the_results_of_warned_calls() -> None:
    """The advice is added after the middleware has run."""

    class Redacts(FunctionMiddleware):
        async def process(self, context: FunctionInvocationContext, call_next: Any) -> None:
            await call_next()
            context.result = "redacted"

    client = Client(messages_of(LOOP[:11]))
    agent = agent_of(client, tools_of(LOOP, []), Guard())
    agent.middleware = [Redacts(), *agent.middleware]
    _run(agent)

    (text,) = shown_to(client)["c10"]
    assert text.startswith("redacted\nLoop detected")


@pytest.mark.parametrize(("approved", "kinds"), [(True, ["result"]), (False, [])])
def test_a_call_that_waits_for_approval_has_no_outcome(approved: bool, kinds: list[str]) -> None:
    """The call runs when it is approved, and never if it is rejected."""

    @tool(approval_mode="always_require")
    def read(path: str) -> str:
        """Read a file."""
        return "text"

    guard = RecordingGuard()
    agent = _agent(guard, LOOP[:1], tools=[read])
    session = agent.create_session()
    (asking,) = _run(agent, session=session).user_input_requests
    assert guard.kinds == []
    _run(agent, Message("user", [asking.to_function_approval_response(approved)]), session=session)
    assert guard.kinds == kinds


def test_a_result_that_asks_for_approval_is_not_an_outcome() -> None:
    """Middleware can ask for approval, too."""

    class Asks(FunctionMiddleware):
        async def process(self, context: FunctionInvocationContext, call_next: Any) -> None:
            call = Content.from_function_call("c0", "read", arguments={"path": "/a"})
            context.result = Content.from_function_approval_request("c0", call)

    guard = RecordingGuard()
    agent = _agent(guard, LOOP[:1])
    agent.middleware = [*agent.middleware, Asks()]

    assert len(_run(agent).user_input_requests) == 1
    assert guard.kinds == []


def _two(guard: Guard, on_abort: str) -> Any:
    child = _agent(guard, on_abort=on_abort)
    child.name = "child"
    call = Content.from_function_call("up", "child", arguments={"task": "look"})
    as_tool = child.as_tool(name="child", arg_name="task", approval_mode="never_require")
    return agent_of(Client(iter([[call], answer("done")])), [as_tool], guard, on_abort=on_abort)


def test_an_agent_that_is_a_tool_has_runs_of_its_own() -> None:
    """With a final message, the calling agent receives the reason as a result and continues."""
    guard = Guard()
    agent = _two(guard, "end")

    assert _run(agent).text == "done"
    assert "`read` was called 30 times" in shown_to(agent.client)["up"][0]
    assert [record.agent_id for record in guard.records()] == ["agent", "child"]
    assert len({record.run_id for record in guard.records()}) == 2


def test_the_error_that_ends_an_agent_that_is_a_tool_ends_the_one_above() -> None:
    """The error does not become a tool result."""
    with pytest.raises(ToolLoopError):
        _run(_two(Guard(), "raise"))


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert run_page("agent_framework")["agent"]
    run_looping_example("agent_framework_agent")
