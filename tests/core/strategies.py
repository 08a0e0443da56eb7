"""Streams of events for the property tests: small alphabets, so that loops come about."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from wheelspin import Guard, Outcome, Settings, ToolCall, ToolHint, Verdict

OUTCOMES = [
    Outcome.result("one"),
    Outcome.result("two"),
    Outcome.error("failed"),
    Outcome.unknown_tool("unknown tool"),
    Outcome.denied("no"),
    Outcome.shell("out", exit_code=1),
    Outcome.missing(),
    Outcome.result([object()]),
    Outcome.error("503 service unavailable"),
    Outcome.error("refused at 10:00:01 by the user"),
    Outcome.result("status: running"),
    Outcome.result("a text that is long enough to tell something"),
]


class Ask(NamedTuple):
    """A call is asked for."""

    call: ToolCall


class Answer(NamedTuple):
    """The newest call that runs and is not answered yet comes back, or one before it."""

    place: int
    outcome: Outcome


class Say(NamedTuple):
    """Something else happens."""

    what: str
    run: str | None = None


Happening = Ask | Answer | Say


@st.composite
def calls(draw: st.DrawFn, runs: tuple[str | None, ...] = (None, "r1")) -> ToolCall:
    """Give a call from a small alphabet."""
    tool = draw(st.sampled_from(["read", "list", "command_status"]))
    return ToolCall(
        tool,
        {"n": draw(st.sampled_from([1, 1, 1, 2]))},
        id=draw(st.sampled_from([None, "c1", "c2", "c3"])),
        run_id=draw(st.sampled_from(runs)),
        turn_id=draw(st.sampled_from([None, None, "t1", "t2"])),
    )


@st.composite
def loops(draw: st.DrawFn) -> list[Happening]:
    """Give a stretch in which a call, a pair or a triple repeats with mostly equal outcomes."""
    pattern = draw(st.lists(calls(), min_size=1, max_size=3))
    outcome = draw(st.sampled_from(OUTCOMES))
    stretch: list[Happening] = []
    for number in range(draw(st.integers(1, 12))):
        for call in pattern:
            stretch.append(Ask(ToolCall(call.tool, call.arguments, id=f"l{number}", run_id=call.run_id)))
            stretch.append(Answer(0, outcome))
    return stretch


@st.composite
def streams(draw: st.DrawFn) -> list[Happening]:
    """Give a stream of events in which loops, single calls and everything else follow each other."""
    single = st.one_of(
        st.builds(Ask, calls()),
        st.builds(Answer, st.integers(0, 2), st.sampled_from(OUTCOMES)),
        st.builds(Say, st.sampled_from(["compacted", "user_message", "failed_compaction"])),
        st.builds(Say, st.just("run_started"), st.sampled_from(["r1", "r2"])),
    )
    parts = draw(st.lists(loops() | single.map(lambda event: [event]), max_size=10))
    return [event for part in parts for event in part]


SETTINGS = st.builds(
    Settings,
    enabled=st.sampled_from([True, True, True, None]),
    history_size=st.sampled_from([3, 8, 30]),
    warning_threshold=st.sampled_from([1, 2, 3]),
    critical_threshold=st.sampled_from([2, 4, 6]),
    unknown_tool_threshold=st.sampled_from([2, 4]),
    global_circuit_breaker_threshold=st.sampled_from([6, 9]),
    window_size=st.sampled_from([2, 3]),
) | st.builds(
    Settings,
    enabled=st.sampled_from([True]),
    preset=st.sampled_from(["early"]),
    tool_hints=st.dictionaries(
        st.sampled_from(["read", "l*", "command_status"]),
        st.builds(
            ToolHint,
            poll=st.sampled_from([None, True]),
            mutates=st.sampled_from([None, True]),
            identity=st.sampled_from([None, ["n"], ["x"]]),
            critical_threshold=st.sampled_from([None, 3]),
        ),
        max_size=2,
    ),
)


class Host:
    """A host that feeds a stream to a guard and heeds its verdicts."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.verdicts: list[Verdict] = []
        self._running: list[ToolCall] = []

    def feed(self, event: Happening) -> None:
        """Feed one event."""
        match event:
            case Ask(call):
                verdict = self.guard.before(call)
                self.verdicts.append(verdict)
                if not verdict.stops:
                    self._running.append(call)
            case Answer(place, outcome):
                if self._running:
                    call = self._running.pop(max(-1 - place, -len(self._running)))
                    self.verdicts.append(self.guard.after(call, outcome))
            case Say():
                self._say(event)

    def _say(self, event: Say) -> None:
        match event.what:
            case "run_started":
                self.guard.run_started(event.run or "")
            case "user_message":
                self.guard.user_message()
            case what:
                self.guard.compacted(ok=what == "compacted")

    def described(self) -> list[Any]:
        """Give what the verdicts say, for comparing."""
        return [(str(verdict.action), verdict.code, verdict.finding, verdict.reason) for verdict in self.verdicts]
