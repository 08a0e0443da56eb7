"""Replaying recorded sessions through a guard, as if it had been there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import OUTCOMES, SETTINGS, Answer, Ask, Happening, Host, streams
from wheelspin import Guard, Outcome, Replay, Settings, ToolCall, ToolHint
from wheelspin.config import config_from
from wheelspin.errors import ConfigError
from wheelspin.replay.engine import RunReport
from wheelspin.transcripts.base import (
    Compacted,
    ConfigChanged,
    Event,
    RunStarted,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    UserMessage,
)

LOW = Settings(enabled=True, warning_threshold=3, critical_threshold=5, global_circuit_breaker_threshold=8)


def _loop(times: int, *, first: int = 1, tokens: int = 0, **ids: Any) -> list[Event]:
    """Return the same call a number of times, on two lines each."""
    events: list[Event] = []
    for number in range(times):
        line = first + 2 * number
        call = ToolCall("Read", {"path": "/a"}, id=f"c{line}", turn_id=f"t{line}", **ids)
        events.append(ToolCalled(line, call))
        if tokens:
            events.append(TokensUsed(line, tokens, None, None, f"t{line}"))
        events.append(ToolReturned(line + 1, call, Outcome.result("same")))
    return events


def _played(events: Iterable[Event], **given_options: Any) -> list[RunReport]:
    replay = Replay(**({"settings": LOW} | given_options))
    list(replay.play(events))
    return replay.runs


def test_a_run_tells_where_the_guard_would_have_acted() -> None:
    """A warning, a block and an abort have line, call, tool and threshold; consecutive blocks are one intervention."""
    (run,) = _played(_loop(10))
    seen = [(each.action, each.line, each.call, each.times, each.count) for each in run.interventions]

    assert seen == [("warn", 7, 4, 1, 3), ("block", 11, 6, 3, 5), ("abort", 17, 9, 2, 8)]
    assert {each.tool for each in run.interventions} == {"Read"}
    assert [each.code for each in run.interventions] == [
        "generic_repeat",
        "generic_repeat",
        "global_circuit_breaker",
    ]
    assert (run.calls, run.warnings, run.blocks, run.ended) == (10, 1, 5, "global_circuit_breaker")


def test_the_outcome_of_a_call_that_would_not_have_run_is_not_fed() -> None:
    """The recording continues, but the guard does not see the outcome of a call that it blocked."""
    replay = Replay(settings=LOW)
    judged = list(replay.play(_loop(7)))

    assert [each.skipped for each in judged if isinstance(each.event, ToolReturned)] == [False] * 5 + [True] * 2


def test_tokens_of_a_turn_are_saved_when_all_its_calls_are() -> None:
    """The last report of a turn's tokens counts."""
    (run,) = _played(_loop(10, tokens=100))
    assert (run.tokens, run.saved_tokens) == (1000, 500)

    events = _loop(5, tokens=10)
    blocked = ToolCall("Read", {"path": "/a"}, id="x", turn_id="t")
    free = ToolCall("Read", {"path": "/b"}, id="y", turn_id="t")
    parallel: list[Event] = [
        TokensUsed(20, 1, None, None, "t"),
        ToolCalled(20, blocked),
        TokensUsed(21, 50, None, None, "t"),
        ToolCalled(21, free),
        TokensUsed(21, 60, None, None, "t"),
    ]
    (run,) = _played([*events, *parallel])
    assert (run.tokens, run.saved_tokens) == (110, 0)


def test_tokens_of_turns_without_ids_belong_to_the_calls_before() -> None:
    """Formats that record usage after the calls of a message need no turn ids."""
    events: list[Event] = []
    for number in range(7):
        call = ToolCall("read", {}, id=f"c{number}")
        events += [ToolCalled(number, call), TokensUsed(number, 10), ToolReturned(number, call, Outcome.result(1))]
    (run,) = _played([TokensUsed(0, 99), *events])

    assert (run.tokens, run.saved_tokens) == (70, 20)


def test_a_prompt_begins_a_run_and_an_idle_one_is_none() -> None:
    """Runs without ids are numbered in the order of their first calls."""
    events = [UserMessage(1), *_loop(2, first=2), UserMessage(8), UserMessage(9), *_loop(4, first=10)]
    runs = _played(events)

    assert [(run.run, run.line, run.calls, run.is_clean) for run in runs] == [("#1", 2, 2, True), ("#2", 10, 4, False)]


def test_runs_sessions_and_agents_are_reported_apart() -> None:
    """Each run, session and agent has counts of its own."""
    events = [
        *_loop(3, run_id="r1"),
        RunStarted(0, "r2"),
        *_loop(3),
        *_loop(3, session_id="s"),
        *_loop(3, agent_id="helper"),
    ]
    runs = _played(events)

    assert [(run.run, run.session, run.agent, run.is_clean) for run in runs] == [
        ("r1", None, None, True),
        ("r2", None, None, True),
        ("#1", "s", None, True),
        ("#1", None, "helper", True),
    ]


def test_the_loop_after_a_compaction_is_seen_at_its_outcome() -> None:
    """The intervention has the line of the outcome that ended the run."""
    (run,) = _played([Compacted(1), *_loop(4, first=2)])

    assert [(each.action, each.line, each.times) for each in run.interventions[-1:]] == [("abort", 7, 2)]
    assert run.ended == "compaction_loop_persisted"


def test_interventions_of_calls_that_never_come_back_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of blocked calls that wait for their outcome is limited."""
    monkeypatch.setattr("wheelspin.replay.engine._MOST_STOPPED", 3)
    replay = Replay(settings=LOW)
    stopped = [event for event in _loop(30) if isinstance(event, ToolCalled) or event.line < 12]
    replay.scan(stopped)

    assert len(replay._stopped) == 3


class TestConfiguration:
    CONFIG: ClassVar[Any] = {
        "tools": {"loopDetection": {"enabled": False}},
        "agents": {
            "list": [
                {"id": "main", "tools": {"loopDetection": {"enabled": True, "warningThreshold": 2}}},
                {"id": "Helper", "tools": {"loopDetection": {"enabled": True, "warningThreshold": 4}}},
            ]
        },
    }

    @pytest.mark.parametrize(("agent", "first"), [(None, 5), ("main", 5), ("HELPER ", 9), ("other", None)])
    def test_each_agent_has_the_settings_of_its_block(self, agent: str | None, first: int | None) -> None:
        """An event without an agent belongs to `main`; an agent without a block has the global settings."""
        runs = _played(_loop(6, agent_id=agent), config=config_from(self.CONFIG))
        warned = [each.line for run in runs for each in run.interventions]

        assert (warned[0] if warned else None) == first

    @pytest.mark.parametrize("agent", [None, "a3f9"])
    def test_the_agent_that_the_user_names_holds_for_events_that_name_none(self, agent: str | None) -> None:
        """It also applies to sub-agents that the configuration does not name."""
        (run,) = _played(_loop(6, agent_id=agent), config=config_from(self.CONFIG), agent="helper")

        assert run.interventions[0].line == 9

    def test_a_file_may_say_what_holds(self) -> None:
        """A configuration in the file applies unless the user gives one."""
        block = {"tools": {"loopDetection": {"enabled": True, "warningThreshold": 2}}}
        (run,) = _played([ConfigChanged(1, block), *_loop(3, first=2)], settings=Settings())
        assert run.interventions[0].count == 2

        (run,) = _played([ConfigChanged(1, block), *_loop(3, first=2)], config=config_from({}))
        assert run.is_clean

    def test_a_file_that_says_it_wrongly_is_refused(self) -> None:
        """The error names the line."""
        with pytest.raises(ConfigError, match="line 1"):
            _played([ConfigChanged(1, {"tools": {"loopDetection": {"enabled": "yes"}}})])


def _copy(call: ToolCall) -> ToolCall:
    return ToolCall(call.tool, call.arguments, id=call.id, run_id=call.run_id, turn_id=call.turn_id)


def _as_events(stream: list[Happening]) -> list[Event]:
    """Return the events that a host records without a guard, when every call runs."""
    events: list[Event] = []
    running: list[ToolCall] = []
    for line, event in enumerate(stream, 1):
        match event:
            case Ask(call):
                running.append(call)
                events.append(ToolCalled(line, call))
            case Answer(place, outcome):
                if running:
                    events.append(ToolReturned(line, running.pop(max(-1 - place, -len(running))), outcome))
            case _ if event.what == "run_started":
                events.append(RunStarted(line, event.run or ""))
            case _ if event.what == "user_message":
                events.append(UserMessage(line))
            case _:
                events.append(Compacted(line, ok=event.what == "compacted"))
    return events


@given(streams(), SETTINGS)
def test_live_equals_replay(stream: list[Happening], settings: Settings) -> None:
    """A replay of a session has the verdicts that the guard gave live."""
    live = Host(Guard(settings))
    events: list[Event] = []
    for line, event in enumerate(_as_events(stream), 1):
        events.append(event._replace(line=line))
    stopped: set[int] = set()
    said: list[str] = []
    for event in events:
        match event:
            case ToolCalled():
                verdict = live.guard.before(event.call)
                said.append(verdict.reason)
                if verdict.stops:
                    stopped.add(id(event.call))
            case ToolReturned() if id(event.call) not in stopped:
                said.append(live.guard.after(event.call, event.outcome).reason)
            case RunStarted():
                live.guard.run_started(event.run_id)
            case UserMessage():
                live.guard.user_message()
            case Compacted():
                live.guard.compacted(ok=event.ok)
            case _:
                pass
    fresh = [event._replace(call=_copy(event.call)) if isinstance(event, ToolCalled) else event for event in events]
    calls = {
        id(old.call): new.call
        for old, new in zip(events, fresh, strict=True)
        if isinstance(old, ToolCalled) and isinstance(new, ToolCalled)
    }
    again = [
        event._replace(call=calls[id(event.call)]) if isinstance(event, ToolReturned) else event for event in fresh
    ]
    replayed = [
        judged.verdict.reason
        for judged in Replay(settings=settings).play(again)
        if isinstance(judged.event, ToolCalled | ToolReturned) and not judged.skipped
    ]

    assert said == replayed


def _happened(what: str, line: int, agent: str | None) -> Event:
    if what == "run_started":
        return RunStarted(line, "r1", None, agent)
    return Compacted(line, None, agent) if what == "compacted" else UserMessage(line, None, agent)


NEWS = Outcome.result("each time another")
HAPPENINGS = st.lists(st.sampled_from(["user_message", "compacted", "run_started"]), max_size=2)
SHAPES: list[list[int | None]] = [[1], [1, 2], [None], [1, None]]
PATTERNS = st.lists(st.sampled_from([1, 2, 3, None])) | st.sampled_from(SHAPES)


@st.composite
def sessions(draw: st.DrawFn) -> list[Event]:
    """Draw a recorded session of repetitive and other stretches, with outcomes that come late or never."""
    told = [Outcome.result("a longer text that tells something"), Outcome.result("it is pending")]
    failed = [Outcome.error("503 service unavailable"), Outcome.error("denied by the user"), Outcome.denied("no")]
    outcomes = st.sampled_from(
        [*OUTCOMES[:4], *told, *failed, Outcome.unknown_tool("no such tool"), Outcome.missing(), NEWS]
    )
    events: list[Event] = []
    waiting: list[ToolCall] = []
    for _ in range(draw(st.integers(1, 6))):
        agent = draw(st.sampled_from([None, None, "helper", " Helper"]))
        for what in draw(HAPPENINGS):
            events.append(_happened(what, len(events) + 1, agent))
        pattern = draw(PATTERNS)
        tool = draw(st.sampled_from(["read", "command_status"]))
        has_ids, lag, outcome = draw(st.booleans()), draw(st.sampled_from([0, 0, 1, 3, 40])), draw(outcomes)
        in_messages = draw(st.sampled_from([None, 1, 3]))
        for _ in range(draw(st.integers(1, 14))):
            for path in pattern:
                line = len(events) + 1
                arguments = {"path": line if path is None else path}
                turn = f"m{line // in_messages}" if in_messages else None
                call = ToolCall(tool, arguments, id=f"c{line}" if has_ids else None, turn_id=turn, agent_id=agent)
                events.append(ToolCalled(line, call))
                waiting.append(call)
                if len(waiting) > lag:
                    came = Outcome.result(f"new {line}") if outcome is NEWS else outcome
                    events.append(ToolReturned(line, waiting.pop(0), came))
    return events


SCREENED = st.builds(
    Settings,
    enabled=st.sampled_from([True, True, True, None]),
    history_size=st.sampled_from([8, 30]),
    warning_threshold=st.sampled_from([3, 5, 10]),
    critical_threshold=st.sampled_from([7, 20]),
    unknown_tool_threshold=st.sampled_from([2, 3, 10]),
    window_size=st.sampled_from([2, 3]),
) | st.builds(
    Settings,
    enabled=st.sampled_from([True]),
    preset=st.sampled_from(["early"]),
    tool_hints=st.dictionaries(
        st.sampled_from(["read", "command*"]),
        st.builds(
            ToolHint,
            poll=st.sampled_from([None, True]),
            identity=st.sampled_from([None, ["path"], ["other"]]),
            mutates=st.sampled_from([None, True]),
            ignore=st.sampled_from([None, None, True]),
            warning_threshold=st.sampled_from([None, 2, 30]),
        ),
    ),
)


def _many(arguments: Iterable[Any], *, open_for: int = 0, new: bool = False) -> list[Event]:
    """Return a call for each of the arguments, answered after a number of further calls, equally or differently."""
    calls = [ToolCall("read", given, id=f"c{number}") for number, given in enumerate(arguments)]
    events: list[Event] = []
    for number, call in enumerate(calls):
        events.append(ToolCalled(number, call))
        if number >= open_for:
            told = Outcome.result(f"text {number}" if new else "same")
            events.append(ToolReturned(number, calls[number - open_for], told))
    return events


def _turns(names: str) -> list[Event]:
    """Return calls named by letters, with one outcome each; `-` is a new call that never returns."""
    events: list[Event] = []
    for number, name in enumerate(names):
        call = ToolCall("read", {"path": name if name != "-" else f"/{number}"}, id=f"t{number}")
        came = [] if name == "-" else [ToolReturned(number, call, Outcome.result(f"text of {name}"))]
        events += [ToolCalled(number, call), *came]
    return events


LATE = ToolCall("read", {"path": "/a"}, id="late")
MIXED = [{"n": 1.5, "m": float("nan"), "l": [1, 2]}, {"n": 1}, {"n": 1.0}, "text", None, {"t": "x" * 999}, {"b": True}]


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(_many({"n": number // 2} for number in range(300)), id="a long quiet run"),
        pytest.param(_many([*({"n": n} for n in range(300)), *[{"n": 1}] * 40]), id="a loop after a long quiet run"),
        pytest.param(_many(({"n": number} for number in range(90)), open_for=35), id="calls that outlive the history"),
        pytest.param(_many(({"n": n} for n in range(400)), new=True), id="a long run of news"),
        pytest.param(
            [*_many(({"n": n // 2} for n in range(90)), new=True), *_many([{"n": 1}] * 40)],
            id="a loop after a long run of news",
        ),
        pytest.param(
            _turns("abcdefgh" * 2 + "-" * 24 + "efgh" * 3),
            id="what brings nothing new leaves the history, and counts on",
        ),
        pytest.param(_many(MIXED * 12), id="arguments of all kinds"),
        pytest.param(_many([{"n": 1}, {"n": 1.0}] * 12), id="equal numbers of two types"),
        pytest.param(
            [
                event
                for call in (ToolCall("read", {"path": "/a"}, id=f"c{number}") for number in range(4))
                for event in (ToolCalled(1, call), ToolReturned(1, call, Outcome.denied("no")))
            ],
            id="a call that is refused again and again",
        ),
        pytest.param(
            [ToolCalled(1, LATE), UserMessage(2), *_loop(9), ToolReturned(3, LATE, Outcome.result("same")), *_loop(12)],
            id="an outcome that comes after the next prompt",
        ),
    ],
)
def test_a_scan_of_a_special_session_tells_what_a_replay_tells(session: list[Event]) -> None:
    """Each of these sessions takes another path through the prefilter."""
    settings = Settings(enabled=True)

    assert Replay(settings=settings).scan(session) == _played(session, settings=settings)


@given(sessions(), SCREENED)
def test_a_scan_tells_what_a_replay_tells(session: list[Event], settings: Settings) -> None:
    """The prefilter, with which a scan skips quiet stretches, changes no verdict."""
    assert Replay(settings=settings).scan(session) == _played(session, settings=settings)
