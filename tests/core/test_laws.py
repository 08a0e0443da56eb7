"""The laws of SPEC 10, as properties of streams of events."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.core.strategies import SETTINGS, Answer, Ask, Happening, Host, streams
from tests.core.test_fingerprint import ANYTHING, Hostile
from wheelspin import Guard, Outcome, Settings, ToolCall
from wheelspin.core.presets import NUMBERS

MANY = settings(max_examples=2 * settings().max_examples)


@MANY
@given(streams(), SETTINGS)
def test_state_written_and_read_back_after_each_event_gives_the_same_verdicts(
    stream: list[Happening], given_settings: Settings
) -> None:
    """A guard whose process ends after every event is as good as one that was never stopped."""
    lasting, stopped = Host(Guard(given_settings)), Host(Guard(given_settings))
    for event in stream:
        lasting.feed(event)
        stopped.feed(event)
        written = json.dumps(stopped.guard.dump())
        stopped.guard = Guard(given_settings)
        stopped.guard.load(json.loads(written))

    assert lasting.described() == stopped.described()
    assert lasting.guard.records() == stopped.guard.records()
    assert lasting.guard.dump() == stopped.guard.dump()


@MANY
@given(streams(), streams(), SETTINGS, st.randoms())
def test_runs_do_not_see_each_other(
    left: list[Happening], right: list[Happening], given_settings: Settings, random: Any
) -> None:
    """Two sessions that interleave in any order get the verdicts that each gets alone."""
    alone = []
    for stream in (left, right):
        host = Host(Guard(given_settings))
        for event in stream:
            host.feed(event)
        alone.append(host.described())

    guard = Guard(given_settings)
    hosts = [_InSession(guard, "s1"), _InSession(guard, "s2")]
    waiting = [list(left), list(right)]
    while any(waiting):
        which = random.choice([number for number in (0, 1) if waiting[number]])
        hosts[which].feed(waiting[which].pop(0))

    assert alone == [host.described() for host in hosts]


class _InSession(Host):
    """A host of one session among others."""

    def __init__(self, guard: Guard, session: str) -> None:
        super().__init__(guard)
        self._session = session

    def feed(self, event: Happening) -> None:
        if isinstance(event, Ask):
            call = event.call
            ids = {"id": call.id, "run_id": call.run_id, "turn_id": call.turn_id, "session_id": self._session}
            event = Ask(ToolCall(call.tool, call.arguments, **ids))
        super().feed(event)

    def _say(self, event: Any) -> None:
        match event.what:
            case "run_started":
                self.guard.run_started(event.run or "", self._session)
            case "user_message":
                self.guard.user_message(self._session)
            case what:
                self.guard.compacted(self._session, ok=what == "compacted")


@MANY
@given(streams(), SETTINGS)
def test_progress_is_never_stopped(stream: list[Happening], given_settings: Settings) -> None:
    """Where every call brings an outcome that it never brought before, no call is blocked and no run is ended."""
    host = Host(Guard(given_settings))
    for number, event in enumerate(stream):
        host.feed(event._replace(outcome=Outcome.result(number)) if isinstance(event, Answer) else event)

    assert not any(verdict.stops for verdict in host.verdicts)


@MANY
@given(streams(), SETTINGS, st.booleans())
def test_no_detector_fires_while_each_call_brings_a_new_outcome(
    stream: list[Happening], given_settings: Settings, fails: bool
) -> None:
    """But for the documented ones that count calls, and only warn; a failure that is new each time is news, too."""
    assume(given_settings.warning_threshold > 1)
    host = Host(Guard(given_settings))
    for number, event in enumerate(stream):
        if isinstance(event, Ask):
            host.feed(event)
            host.feed(Answer(0, Outcome.error(f"error {number}") if fails else Outcome.result(f"{number} came back")))
    found = {verdict.finding.detector for verdict in host.verdicts if verdict.finding is not None}

    assert found <= {"generic-repeat", "ping-pong"}
    assert not any(verdict.stops for verdict in host.verdicts)


@MANY
@given(streams(), SETTINGS, st.sampled_from(["standard", "early"]))
def test_observing_gives_the_verdicts_of_enforcing_up_to_the_first_stop(
    stream: list[Happening], given_settings: Settings, preset: str
) -> None:
    """Nothing is ever changed: no call is stopped, and no advice is given."""
    numbers = {name: getattr(given_settings, name) for name in NUMBERS["standard"]} if preset == "standard" else {}
    hosts = [
        Host(Guard(Settings(given_settings.enabled, preset=preset, mode=mode, **numbers)))
        for mode in ("enforce", "observe")
    ]
    for event in stream:
        for host in hosts:
            host.feed(event)
        enforced, observed = ([(verdict.due, verdict.finding) for verdict in host.verdicts] for host in hosts)
        assert enforced == observed
        if any(verdict.stops for verdict in hosts[0].verdicts):
            break
    for event in stream:
        hosts[1].feed(event)

    assert all(verdict.action == "allow" and not verdict.advice for verdict in hosts[1].verdicts)


@MANY
@given(streams(), SETTINGS)
def test_nothing_is_stopped_without_evidence(stream: list[Happening], given_settings: Settings) -> None:
    """Where no outcome is ever told, no call is blocked and no run is ended."""
    host = Host(Guard(given_settings))
    for event in stream:
        host.feed(event._replace(outcome=Outcome.missing()) if isinstance(event, Answer) else event)

    assert not any(verdict.stops for verdict in host.verdicts)


@MANY
@given(streams(), SETTINGS)
def test_a_stop_says_what_it_rests_on(stream: list[Happening], given_settings: Settings) -> None:
    """Each stop has a critical finding that has reached its limit, a reason and an advice; nothing else stops."""
    host = Host(Guard(given_settings))
    for event in stream:
        host.feed(event)

    for verdict in host.verdicts:
        finding = verdict.finding
        assert verdict.stops == (finding is not None and finding.level == "critical")
        if finding is not None:
            assert finding.count >= finding.threshold
            assert verdict.reason
            assert bool(verdict.advice) == (verdict.action != "allow")


@MANY
@given(streams(), SETTINGS)
def test_an_ended_run_stays_ended(stream: list[Happening], given_settings: Settings) -> None:
    """After an abort every later call of the run is stopped with the same verdict, until the run is begun anew."""
    host = Host(Guard(given_settings))
    ended: dict[str | None, str] = {}
    for event in stream:
        before = len(host.verdicts)
        host.feed(event)
        if not isinstance(event, Ask):
            ended.clear()
            continue
        (verdict,) = host.verdicts[before:]
        run = event.call.run_id
        assert ended.get(run, verdict.reason) == verdict.reason
        if verdict.action == "abort":
            ended[run] = verdict.reason


class Hedgehog(Hostile):
    """A hostile object that can be shown where a test fails."""

    __repr__ = object.__repr__


KEYS = ["details", "content", "type", "status", "exitCode", "tail", "aggregated", "text", "id", "messageId", "message"]
STATUSES = ["running", "completed", "approval-pending", "text"]
SHAPED = st.recursive(
    ANYTHING | st.sampled_from(STATUSES) | st.builds(Hedgehog),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=15,
)


@MANY
@given(ANYTHING | st.builds(Hedgehog), SHAPED, ANYTHING)
def test_no_input_raises(arguments: Any, result: Any, name: Any) -> None:
    """Whatever a model writes and a tool gives, the guard answers."""
    guard = Guard()
    for tool in ("read", "exec", "process", "message", name):
        for given_arguments in (arguments, {"action": "poll", "x": arguments}, {"action": "send", "x": arguments}):
            call = ToolCall(tool, given_arguments, id=name)
            guard.before(call)
            for outcome in (Outcome.result(result), Outcome.result({"details": result, "content": result})):
                guard.after(call, outcome)
                guard.after(call, Outcome.error(result, kind="x"))


@given(st.integers(1, 12), st.integers(0, 30))
def test_memory_is_bounded(size: int, repeats: int) -> None:
    """However long a run is, no more than its newest calls are kept, and nothing grows beside them."""
    guard = Guard(Settings(enabled=True, history_size=size))
    for number in range(100 + repeats):
        call = ToolCall("read", {"n": number % (size + 3)}, id=f"c{number}")
        if not guard.before(call).stops:
            guard.after(call, Outcome.result(number % 2))

    ((*_, run),) = guard.dump()["runs"]
    assert len(run["records"]) <= size
    assert all(len(run[kept]) <= size for kept in ("warned", "pending", "rewritten", "patterns"))
