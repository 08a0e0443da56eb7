"""The adapter of Google's ADK, with the real framework."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.adk.agents import LiveRequestQueue, LlmAgent, LoopAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool
from google.adk.version import __version__
from google.genai import types

from tests.frameworks.guards import RecordingGuard, crashing_guard, lenient_guard
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.google_adk import (
    Line,
    Live,
    Metered,
    Model,
    Streaming,
    agent_of,
    answer,
    ended_with,
    message_with,
    messages_of,
    play,
    play_with_a_handler,
    run,
    shown_in,
    transfers,
)
from wheelspin import Guard
from wheelspin.adapters.google_adk import WheelspinPlugin
from wheelspin.errors import ToolLoopError
from wheelspin.testing import ScriptedCall, check_adapter
from wheelspin.watch import OnAbort

LOOP = [[ScriptedCall(f"c{number}", "read", "/a", "text")] for number in range(60)]
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL:UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what ADK itself calls
]
ANSWERS_UNKNOWN_TOOLS = int(__version__.split(".")[0]) >= 2


def _runner(guard: Guard, agent: Any, *more: BasePlugin, on_abort: OnAbort = "end", **options: Any) -> Any:
    plugins = [WheelspinPlugin(guard, on_abort=on_abort), *more]
    return InMemoryRunner(app=App(name="files", root_agent=agent, plugins=plugins, **options))


def _texts(events: list[Any]) -> list[str]:
    return [part.text for event in events if event.content for part in event.content.parts if part.text]


def test_an_agent_does_what_the_guard_alone_decides() -> None:
    """A failing tool ends an ADK agent by itself, and in ADK 1 so does an unknown tool."""
    check_adapter(play, without=["a failing tool", *([] if ANSWERS_UNKNOWN_TOOLS else ["an unknown tool"])])


def test_an_agent_that_handles_errors_of_tools_does_what_the_guard_alone_decides() -> None:
    """The agent's callback turns errors into results, and advice is added to these."""
    check_adapter(play_with_a_handler)


def test_a_run_ends_with_a_final_message_that_names_the_reason() -> None:
    """The event contains the code."""
    guard = Guard()
    events = asyncio.run(run(_runner(guard, agent_of(LOOP))))

    assert _texts(events)[-1].startswith("`read` was called 30 times")
    assert events[-1].is_final_response()
    assert ended_with(events) == "global_circuit_breaker"


def test_a_run_can_be_ended_with_an_exception_whose_cause_is_typed() -> None:
    """By then every call of the session has its result."""
    runner = _runner(Guard(), agent_of(LOOP), on_abort="raise")

    async def ended() -> Any:
        with pytest.raises(RuntimeError) as error:
            await run(runner)
        session = await runner.session_service.get_session(app_name="files", user_id="user", session_id="s1")
        return error.value.__cause__, session.events

    cause, events = asyncio.run(ended())
    assert isinstance(cause, ToolLoopError)
    assert cause.code == "global_circuit_breaker"
    calls = [call.id for event in events for call in event.get_function_calls()]
    assert [response.id for event in events for response in event.get_function_responses()] == calls


def test_a_wrong_option_is_refused() -> None:
    """The error lists the valid values."""
    with pytest.raises(ValueError, match="'raise' or 'end'"):
        WheelspinPlugin(on_abort="stop")


def test_a_runner_that_is_not_async_is_guarded_alike() -> None:
    """The runner uses a thread of its own."""
    runner = _runner(Guard(), agent_of(LOOP))
    asyncio.run(runner.session_service.create_session(app_name="files", user_id="user", session_id="s1"))
    message = types.Content(role="user", parts=[types.Part(text="go")])

    assert ended_with(list(runner.run(user_id="user", session_id="s1", new_message=message)))


def test_a_streamed_run_counts_each_call_once() -> None:
    """Partial messages are not calls."""
    guard = Guard()
    agent = agent_of(LOOP, model=Streaming(says=messages_of(LOOP)))
    streamed = asyncio.run(run(_runner(guard, agent), run_config=RunConfig(streaming_mode=StreamingMode.SSE)))

    assert ended_with(streamed) == "global_circuit_breaker"
    assert guard.records()[0].calls == len(shown_in(streamed)) == 31


def test_each_invocation_is_a_run_of_its_own_and_sessions_do_not_see_each_other() -> None:
    """One plugin can serve them all, and the records contain ADK's ids."""
    guard = Guard()
    script = [*LOOP[:9], [], *LOOP[9:18], [], *LOOP[18:27]]
    says = (answer("done") if not message else message_with(*message) for message in [*script, []])
    runner = _runner(guard, agent_of(LOOP, model=Model(says=says)))

    async def thrice() -> list[Any]:
        return [await run(runner, session) for session in ("s1", "s1", "s2")]

    runs = asyncio.run(thrice())
    records = [(r.run_id, r.session_id, r.agent_id, r.calls, r.warnings) for r in guard.records()]
    assert records == [
        (runs[2][0].invocation_id, "s2", "agent", 9, 0),
        (runs[1][0].invocation_id, "s1", "agent", 9, 0),
        (runs[0][0].invocation_id, "s1", "agent", 9, 0),
    ]


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """Each waits for the other and gets its own advice."""
    meeting = asyncio.Barrier(2)

    async def read(path: str) -> str:
        """Read a file."""
        await meeting.wait()
        return f"text of {path}"

    script = [[ScriptedCall(f"{path}{n}", "read", path, "") for path in "ab"] for n in range(8)]
    shown = shown_in(asyncio.run(run(_runner(Guard(), agent_of(script, tools=[read])))))

    assert len(shown) == 16
    assert all(text.startswith(f"text of {call[0]}") for call, (text,) in shown.items())
    assert {call[0] for call, (text,) in shown.items() if "Loop detected" in text}


def test_calls_name_the_event_that_asked_for_them() -> None:
    """Calls of one message have the same turn id."""
    guard = RecordingGuard()
    script = [[ScriptedCall(f"{path}{n}", "read", f"/{path}{n}", "text") for path in "ab"] for n in range(3)]
    events = asyncio.run(run(_runner(guard, agent_of(script))))

    assert list(guard.turns.values()) == [event.id for event in events if event.get_function_calls() for _ in "ab"]


def test_a_loop_that_survives_a_compaction_ends_the_run() -> None:
    """A compaction by ADK within an invocation arms the guard."""
    summarizer = LlmEventSummarizer(llm=Model(says=iter([answer("summary")] * 99)))
    config = EventsCompactionConfig(
        summarizer=summarizer, compaction_interval=99, overlap_size=0, token_threshold=150, event_retention_size=2
    )
    agent = agent_of(LOOP, model=Metered(says=messages_of(LOOP)))
    runner = _runner(Guard(), agent, events_compaction_config=config)

    assert ended_with(asyncio.run(run(runner))) == "compaction_loop_persisted"


def test_a_compaction_between_invocations_arms_and_one_from_before_does_not() -> None:
    """A guard added later does not mistake an old summary for a new one."""
    summarizer = LlmEventSummarizer(llm=Model(says=iter([answer("summary")] * 99)))
    config = EventsCompactionConfig(summarizer=summarizer, compaction_interval=1, overlap_size=0)
    says = (answer("done") if not message else message_with(*message) for message in [*LOOP[:2], [], *LOOP[2:8], []])
    agent = agent_of(LOOP, model=Model(says=says))
    armed = _runner(Guard(), agent, events_compaction_config=config)

    async def twice(later: Any) -> Any:
        await run(armed)
        session = await armed.session_service.get_session(app_name="files", user_id="user", session_id="s1")
        assert any(event.actions.compaction for event in session.events)
        later.session_service = armed.session_service
        return ended_with(await run(later))

    assert asyncio.run(twice(armed)) == "compaction_loop_persisted"
    agent.model = Model(says=iter([*(message_with(*message) for message in LOOP[:2]), answer("done")] * 9))
    armed = _runner(Guard(), agent, events_compaction_config=config)
    assert asyncio.run(twice(_runner(Guard(), agent_of(LOOP[:6])))) is None


def test_an_exception_of_a_tool_passes_unchanged() -> None:
    """The guard records it, and the advice of a warning becomes a note."""
    guard = RecordingGuard()
    script = [[ScriptedCall("c1", "read", "/a", "no such file", fails=True)]]

    with pytest.raises(RuntimeError, match=r"^no such file$"):
        asyncio.run(run(_runner(guard, agent_of(script))))
    assert guard.kinds == ["error"]


def test_a_guard_that_crashes_breaks_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run."""
    guard = crashing_guard(monkeypatch)
    events = asyncio.run(run(_runner(guard, agent_of(LOOP[:35]))))

    assert shown_in(events) == {f"c{number}": ["text"] for number in range(35)}


def test_a_session_of_another_shape_breaks_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the adapter cannot read is not guarded, and the guard reports the crash."""
    guard, kinds = lenient_guard(monkeypatch)
    monkeypatch.setattr("wheelspin.adapters.google_adk._marks", lambda _: 1 / 0)
    done = asyncio.run(run(_runner(guard, agent_of(LOOP[:35]))))

    assert len(shown_in(done)) == 35
    assert guard.records() == []
    assert set(kinds) == {"crash"}


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"rows": 3}, {"rows": 3}),
        (["a", 1], {"result": ["a", 1]}),
        (None, {"result": None}),
        ({"error": "no such file"}, {"error": "no such file"}),
    ],
)
def test_a_result_that_is_not_text_is_unchanged(result: Any, shown: dict[str, Any]) -> None:
    """The advice is added beside the tool's result, which is unchanged."""

    def read(path: str) -> Any:
        """Read a file."""
        return result

    before = str(result)
    events = asyncio.run(run(_runner(Guard(), agent_of(LOOP[:11], tools=[read]))))
    responses = [response.response for event in events for response in event.get_function_responses()]

    assert responses[:10] == [shown] * 10
    advice = responses[10].pop("wheelspin")
    assert advice.startswith("Loop detected")
    assert responses[10] == shown
    assert str(result) == before


def test_callbacks_of_the_user_see_and_change_the_results_of_warned_calls() -> None:
    """The advice is added after the callbacks."""
    results = []

    def redact(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> dict[str, Any]:
        results.append(tool_response)
        return {"result": "redacted"}

    events = asyncio.run(run(_runner(Guard(), agent_of(LOOP[:11], after_tool_callback=redact))))
    assert results == ["text"] * 11
    (text,) = shown_in(events)["c10"]
    assert text.startswith("redacted\nLoop detected")


def test_the_outcome_of_a_tool_that_runs_long_comes_later() -> None:
    """The model sees what the tool returns at first, if anything."""

    def start(path: str) -> Any:
        """Start a job."""
        return {"ticket": path} if path == "/a" else None

    guard = RecordingGuard()
    script = [[ScriptedCall("c1", "start", "/a", "")], [ScriptedCall("c2", "start", "/b", "")]]
    events = asyncio.run(run(_runner(guard, agent_of(script, tools=[LongRunningFunctionTool(start)]))))

    assert guard.kinds == ["result", "missing"]
    assert list(shown_in(events)) == ["c1"]


@pytest.mark.parametrize(("confirmed", "kind"), [(True, "result"), (False, "denied")])
def test_a_call_that_waits_for_the_user_has_no_outcome(confirmed: bool, kind: str) -> None:
    """The outcome arrives with the user's answer."""

    def read(path: str) -> str:
        """Read a file."""
        return "text"

    guard = RecordingGuard()
    runner = _runner(guard, agent_of(LOOP[:1], tools=[FunctionTool(read, require_confirmation=True)]))

    async def confirm() -> None:
        events = await run(runner)
        assert guard.kinds == ["missing"]
        (asking,) = [
            call for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation"
        ]
        given = types.FunctionResponse(id=asking.id, name=asking.name, response={"confirmed": confirmed})
        await run(runner, message=types.Content(role="user", parts=[types.Part(function_response=given)]))

    asyncio.run(confirm())
    assert guard.kinds == ["missing", kind]


def test_agents_that_hand_over_to_each_other_forever_are_ended() -> None:
    """Each agent has its own record within the invocation."""
    guard = Guard()
    child = LlmAgent(name="child", model=transfers("parent"))
    parent = LlmAgent(name="parent", model=transfers("child"), sub_agents=[child])
    events = asyncio.run(run(_runner(guard, parent), run_config=RunConfig(max_llm_calls=400)))

    assert ended_with(events) == "global_circuit_breaker"
    assert {(record.run_id, record.agent_id) for record in guard.records()} == {
        (events[0].invocation_id, "parent"),
        (events[0].invocation_id, "child"),
    }


def test_an_agent_that_is_a_tool_has_runs_of_its_own() -> None:
    """The calling agent receives the reason as the answer and continues."""
    guard = Guard()
    call = types.FunctionCall(id="up", name="child", args={"request": "look"})
    above = [LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)])), answer("done")]
    child = agent_of(LOOP, name="child")
    parent = LlmAgent(name="parent", model=Model(says=iter(above)), tools=[AgentTool(child)])
    events = asyncio.run(run(_runner(guard, parent)))

    assert shown_in(events)["up"][0].startswith("`read` was called 30 times")
    assert _texts(events)[-1] == "done"
    assert [record.agent_id for record in guard.records()] == ["parent", "child"]
    assert len({record.run_id for record in guard.records()}) == 2


def test_a_loop_of_agents_is_left_when_one_is_ended() -> None:
    """A `LoopAgent` has no limit of its own."""
    looping = LoopAgent(name="loop", sub_agents=[agent_of(LOOP)])
    events = asyncio.run(run(_runner(Guard(), looping)))

    assert sum(bool(event.custom_metadata) for event in events) == 1


def _live(guard: Guard, calls: int, a_message: int) -> list[dict[str, Any]]:
    line = Line(calls, a_message)
    runner = _runner(guard, agent_of(LOOP, model=Live(says=iter(()), line=line)))

    async def live() -> None:
        await runner.session_service.create_session(app_name="files", user_id="user", session_id="s1")
        line.queue = queue = LiveRequestQueue()
        queue.send_content(types.Content(role="user", parts=[types.Part(text="go")]))
        stream = runner.run_live(user_id="user", session_id="s1", live_request_queue=queue)
        async for event in stream:
            if event.turn_complete:
                break
        await stream.aclose()

    asyncio.run(live())
    return [answer.response for answer in line.answers]


def test_a_live_session_is_warned_and_blocked() -> None:
    """It is not ended; every further call is answered with the reason."""
    answers = _live(Guard(), calls=40, a_message=99)

    assert answers[:10] == [{"result": "text"}] * 10
    assert answers[10]["wheelspin"].startswith("Loop detected")
    assert all(answer["error"] for answer in answers[20:])


def test_in_a_live_session_each_message_of_the_user_opens_a_run() -> None:
    """A few equal calls after each message are not a loop."""
    guard = Guard()
    answers = _live(guard, calls=40, a_message=8)

    assert answers == [{"result": "text"}] * 40
    assert [record.calls for record in guard.records()] == [8] * 5


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    assert run_page("google_adk")["app"]
    run_looping_example("google_adk_agent")
