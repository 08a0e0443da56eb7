"""The guard: which call an outcome belongs to, which run a call is of, what a verdict says, how it fails."""

from __future__ import annotations

import itertools
import logging
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from wheelspin import Action, Finding, Guard, LoopEvent, Outcome, RunRecord, Settings, ToolCall, Verdict
from wheelspin.core.call_record import CallRecord
from wheelspin.core.detector_settings import DetectorSettings
from wheelspin.core.detectors.base import Detector, Rank
from wheelspin.core.events import ALLOW
from wheelspin.core.history import History
from wheelspin.core.known_tools import TOOLS
from wheelspin.testing import play

SAME = Outcome.result("same")


def _call(path: str = "/a", **ids: Any) -> ToolCall:
    return ToolCall("read", {"path": path}, **ids)


def _repeat(guard: Guard, times: int, *, outcome: Outcome = SAME, tool: str = "read", **ids: Any) -> list[Verdict]:
    """Ask for the same call so many times, each with an id of its own."""
    verdicts = []
    for _ in range(times):
        call = ToolCall(tool, {"path": "/a"}, **ids)
        verdicts.append(guard.before(call))
        if not verdicts[-1].stops:
            guard.after(call, outcome)
    return verdicts


def _actions(verdicts: list[Verdict]) -> list[Action]:
    return [verdict.action for verdict in verdicts]


class TestDefaults:
    def test_a_guard_that_is_made_without_settings_is_on(self) -> None:
        """Whoever makes a guard wants one: it blocks the twenty-first call."""
        assert _actions(_repeat(Guard(), 21))[20] == "block"

    def test_settings_are_taken_as_they_are(self) -> None:
        """Settings in which nothing is enabled leave the detectors off."""
        assert set(_actions(_repeat(Guard(Settings()), 60))) == {"allow"}

    def test_a_call_with_which_nothing_is_wrong_costs_no_object(self) -> None:
        """Allow is one shared verdict."""
        guard = Guard()

        assert guard.before(_call()) is guard.after(_call(), SAME) is ALLOW


CYCLES = ["A1*9", "(A1 B1)*8", "(A1 B1 C1)*6", "(e+ T!)*16", "a!*12", "a1*20", "?a*14", "~A1*16", "A%*20"]
NATURES = {"A%*8": "outage of a service", "A-*4": "refused on purpose", "A.*9": "not done yet"}


class TestTexts:
    def test_a_block_says_what_was_seen_and_what_to_do(self) -> None:
        """The reason is for people, the advice for the model; both name tool and count, neither the arguments."""
        verdict = _repeat(Guard(), 21, tool="Read")[-1]

        assert verdict.reason == (
            "`Read` was called 20 times with the same arguments and returned the same result each time (limit 20); "
            "this call is blocked."
        )
        assert verdict.advice.startswith("Loop detected: `Read` was called 20 times")
        assert "will not be run again" in verdict.advice
        assert "/a" not in verdict.reason + verdict.advice

    @pytest.mark.parametrize("times", [11, 21, 31])
    def test_every_rung_has_an_advice(self, times: int) -> None:
        """Warn, block and abort each tell the model something."""
        verdict = _repeat(Guard(), times)[-1]

        assert verdict.advice
        assert verdict.reason

    @pytest.mark.parametrize("trajectory", CYCLES)
    def test_a_second_advice_differs_from_the_first(self, trajectory: str) -> None:
        """It says what repeats first, and offers another way out each time."""
        moves = play(trajectory, Settings(enabled=True, preset="early"))
        advice = [move.verdict.advice for move in moves if move.verdict is not None and move.verdict.advice]

        assert len(advice) > 1
        assert all(text.startswith("Loop detected: ") for text in advice)
        ways_out = [text.split(". ", 2)[2] for text in advice]
        assert all(one != other for one, other in itertools.pairwise(ways_out[:3]))

    @pytest.mark.parametrize(("trajectory", "words"), NATURES.items())
    def test_the_advice_fits_what_the_outcomes_say(self, trajectory: str, words: str) -> None:
        """An outage is backed off from, a refusal is not asked again, what runs is waited for."""
        moves = play(trajectory, Settings(enabled=True, preset="early"))

        assert next(words in move.verdict.advice for move in moves if move.verdict and move.verdict.advice)

    def test_what_is_not_said_has_no_advice(self) -> None:
        """Between two warnings the finding is on the verdict, and the model hears nothing."""
        verdict = _repeat(Guard(), 12)[-1]

        assert (verdict.action, verdict.advice) == ("allow", "")
        assert verdict.finding is not None
        assert verdict.finding.count == 11

    @pytest.mark.parametrize("name", ["", "a\nb`c", "x" * 500, "\x1b[31mred"])
    def test_a_name_cannot_forge_the_text(self, name: str) -> None:
        """A model writes names; they end up on one line, short, and without signs that mean something."""
        reason = _repeat(Guard(), 21, tool=name)[-1].reason

        assert "\n" not in reason
        assert "\x1b" not in reason
        assert len(reason) < 300

    def test_a_name_that_is_no_text_is_a_tool(self) -> None:
        """An adapter that passes something else gets an answer all the same."""
        tool: Any = None

        assert _repeat(Guard(), 21, tool=tool)[-1].reason.startswith("`tool` was called")

    def test_a_row_of_blocked_calls_is_told_apart_from_one_call(self) -> None:
        """What ends the run is then not the newest call, but the row."""
        guard = Guard()
        verdict = ALLOW
        for number in range(31):
            call = ToolCall("read" if number % 2 else "list", {})
            verdict = guard.before(call)
            if not verdict.stops:
                guard.after(call, SAME)

        assert verdict.action == "abort"
        assert "10 calls were blocked in a row, most recently" in verdict.reason
        assert verdict.finding is not None
        assert verdict.finding.signatures == ()


class TestWhichCall:
    def test_an_outcome_belongs_to_its_call_id(self) -> None:
        """Outcomes come in any order, and each goes to its call."""
        guard = Guard()
        calls = [_call(id=f"c{number}") for number in range(21)]
        for call in calls[:20]:
            guard.before(call)
        for call in reversed(calls[:20]):
            guard.after(call, SAME)

        assert guard.before(calls[20]).action == "block"

    def test_without_ids_it_belongs_to_the_newest_open_call_of_its_kind(self) -> None:
        """A host without call ids is guarded all the same."""
        guard = Guard()
        for _ in range(20):
            guard.before(_call("/a"))
            guard.before(_call("/b"))
            guard.after(_call("/a"), SAME)

        verdict = guard.before(_call("/a"))

        assert verdict.finding is not None
        assert verdict.finding.detector == "ping-pong"
        assert verdict.finding.no_progress is False, "of /b nothing is known, and of /a every outcome"

    def test_an_outcome_without_a_call_is_a_step(self) -> None:
        """A host that tells outcomes only is guarded by them."""
        guard = Guard()
        for number in range(20):
            guard.after(_call(id=f"c{number}"), SAME)

        assert guard.before(_call()).action == "block"
        record = guard.record()
        assert record is not None
        assert record.calls == 21

    def test_an_outcome_that_is_told_twice_counts_once(self) -> None:
        """Hosts that tell of a call in two events do not count it twice."""
        guard = Guard(Settings(enabled=True, warning_threshold=3))
        for number in range(2):
            call = _call(id=f"c{number}")
            guard.before(call)
            guard.after(call, SAME)
            guard.after(call, SAME)

        assert guard.before(_call(id="c9")).action == "allow"

    def test_the_outcome_of_a_blocked_call_is_known(self) -> None:
        """The host answers it, and may tell so; neither its answer nor a veto counts as a step."""
        guard = Guard()
        _repeat(guard, 20)
        blocked = _call(id="x")
        assert guard.before(blocked).action == "block"

        guard.after(blocked, Outcome.error("blocked"))
        guard.after(blocked, Outcome.veto())
        finding = guard.before(_call()).finding

        assert finding is not None
        assert finding.count == 21

    def test_a_call_that_is_announced_again_is_one_call(self) -> None:
        """Streaming hosts announce a call as its arguments grow; the last announcement is the call."""
        guard = Guard(Settings(enabled=True, warning_threshold=3, critical_threshold=5))
        for number in range(6):
            for text in ("", "O", "Oslo", "Oslo", "Oslo"):
                guard.before(ToolCall("weather", {"city": text, "day": number}, id=f"c{number}"))
            guard.after(ToolCall("weather", {"city": "Oslo", "day": number}, id=f"c{number}"), SAME)

        record = guard.record()
        assert record is not None
        assert (record.calls, record.warnings) == (6, 0)

    def test_a_call_that_is_announced_again_gets_the_same_verdict(self) -> None:
        """A host that goes by the last answer does not lose the warning."""
        guard = Guard()
        _repeat(guard, 10)

        first, second = guard.before(_call(id="x")), guard.before(_call(id="x"))

        assert first.action == "warn"
        assert first == second
        record = guard.record()
        assert record is not None
        assert record.warnings == 1

    def test_an_id_that_is_used_for_every_call_means_the_newest(self) -> None:
        """Some models number their calls anew in each turn."""
        assert _actions(_repeat(Guard(), 31, id="call_0"))[10::10] == ["warn", "block", "abort"]

    def test_a_call_that_never_comes_back_is_no_evidence(self) -> None:
        """It counts for the warning, never for a block."""
        guard = Guard()
        actions = [guard.before(_call(id=f"c{number}")).action for number in range(60)]

        assert set(actions) == {"allow", "warn"}

    def test_an_outcome_that_the_host_never_learned_leaves_the_call_open(self) -> None:
        """To say so is as good as to say nothing."""
        assert set(_actions(_repeat(Guard(), 60, outcome=Outcome.missing()))) == {"allow", "warn"}

    def test_an_outcome_that_comes_after_the_user_spoke_belongs_to_the_run_before(self) -> None:
        """Where runs have no ids, a call that is still open is looked for in the run that it was asked for in."""
        guard = Guard()
        call = _call(id="c1")
        guard.before(call)
        guard.user_message()
        guard.after(call, SAME)

        assert [record.calls for record in guard.records()] == [1]

    @pytest.mark.parametrize("wrong", ["", 7, 2**600, ["c"], object()])
    def test_an_id_may_be_anything(self, wrong: Any) -> None:
        """What is no text, or an endless one, is an id all the same."""
        guard = Guard()

        assert _actions(_repeat(guard, 21, id=wrong, run_id=wrong, session_id=wrong, agent_id=wrong))[20] == "block"


class TestRewrittenArguments:
    def test_a_host_that_rewrites_arguments_is_guarded_by_what_it_runs(self) -> None:
        """The step is signed anew, no second one appears, and the next call is judged as it will be run."""
        guard = Guard()
        verdicts = []
        for number in range(21):
            verdicts.append(guard.before(_call("a", id=f"c{number}")))
            if not verdicts[-1].stops:
                guard.after(_call("/src/a", id=f"c{number}"), SAME)

        assert [verdict.code for verdict in verdicts[10:11] + verdicts[20:]] == ["generic_repeat"] * 2
        assert verdicts[20].action == "block"

    def test_a_host_that_rewrites_in_ever_new_ways_is_not_stopped(self) -> None:
        """What was run differs each time, and that is what counts."""
        guard = Guard()
        for number in range(40):
            verdict = guard.before(_call("a", id=f"c{number}"))
            assert verdict.action == "allow"
            guard.after(_call(f"/src/{number}", id=f"c{number}"), SAME)

    def test_a_host_that_stops_rewriting_is_judged_by_what_it_runs_then(self) -> None:
        """The first time that a call is run as it was asked for, the expectation is dropped."""
        guard = Guard()
        guard.before(_call("a", id="c0"))
        guard.after(_call("/src/a", id="c0"), SAME)
        for number in range(1, 22):
            verdict = guard.before(_call("a", id=f"c{number}"))
            if not verdict.stops:
                guard.after(_call("a", id=f"c{number}"), SAME)

        assert verdict.action == "block"

    def test_rewritten_calls_are_forgotten_rather_than_kept_without_end(self) -> None:
        """State is bounded."""
        guard = Guard()
        for number in range(200):
            guard.before(_call(f"{number}", id=f"c{number}"))
            guard.after(_call(f"/src/{number}", id=f"c{number}"), SAME)

        ((*_, run),) = guard.dump()["runs"]
        assert len(run["rewritten"]) <= 30


class TestWhichRun:
    def test_runs_do_not_see_each_other(self) -> None:
        """Interleaved runs are counted apart, each with a history of its own."""
        guard = Guard()
        verdicts: dict[str, list[Verdict]] = {"r1": [], "r2": []}
        for _ in range(21):
            for run, of_run in verdicts.items():
                of_run.extend(_repeat(guard, 1, run_id=run))

        assert [_actions(given)[20] for given in verdicts.values()] == ["block", "block"]

    @pytest.mark.parametrize("kind", ["run_id", "session_id", "agent_id"])
    def test_calls_of_another_run_session_or_agent_are_free(self, kind: str) -> None:
        """A block concerns one run of one session of one agent."""
        guard = Guard()
        one: dict[str, Any] = {kind: "one"}
        _repeat(guard, 21, **one)

        assert guard.before(_call(**{kind: "other"})).action == "allow"

    def test_agents_are_compared_trimmed_and_lower_cased(self) -> None:
        """As in the configuration."""
        guard = Guard()
        _repeat(guard, 20, agent_id="Main")

        assert guard.before(_call(agent_id=" main ")).action == "block"

    def test_the_user_opens_a_new_run(self) -> None:
        """Where the host gives no run ids, a message of the user begins a run."""
        guard = Guard()
        _repeat(guard, 21)
        guard.user_message()

        assert guard.before(_call()).action == "allow"

    def test_the_user_opens_no_run_where_the_host_names_them(self) -> None:
        """A host that starts runs by id knows better."""
        guard = Guard()
        guard.run_started("r1")
        _repeat(guard, 20)
        guard.user_message()

        assert guard.before(_call()).action == "block"

    def test_calls_without_a_run_id_belong_to_the_run_that_was_started_last(self) -> None:
        """A host need not repeat the id in each call."""
        guard = Guard()
        guard.run_started("r1")
        _repeat(guard, 20)

        assert guard.before(_call(run_id="r1")).action == "block"
        guard.run_started("r2")
        assert guard.before(_call()).action == "allow"

    def test_a_run_that_was_ended_begins_anew_when_it_is_started_again(self) -> None:
        """A host that lets the user go on with the same id is not stopped for ever."""
        guard = Guard()
        guard.run_started("r1")
        assert _repeat(guard, 31)[-1].action == "abort"
        assert guard.before(_call("/other")).action == "abort"

        guard.run_started("r1")

        assert guard.before(_call()).action == "allow"

    def test_a_run_that_goes_on_is_not_begun_anew(self) -> None:
        """Telling of the same run once more does not refund its counts."""
        guard = Guard()
        guard.run_started("r1")
        _repeat(guard, 20)
        guard.run_started("r1")

        assert guard.before(_call()).action == "block"

    @pytest.mark.parametrize(
        ("which", "left"),
        [
            ({}, 0),
            ({"run_id": "r1"}, 3),
            ({"session_id": "s1"}, 2),
            ({"agent_id": "B"}, 2),
            ({"session_id": "s1", "agent_id": "a"}, 3),
            ({"run_id": "r9"}, 4),
        ],
    )
    def test_what_is_reset_is_forgotten(self, which: dict[str, str], left: int) -> None:
        """Every id that is given must match."""
        guard = Guard()
        for agent, session, run in (("a", "s1", "r1"), ("a", "s2", "r2"), ("b", "s1", "r3"), ("b", "s2", "r4")):
            guard.before(_call(agent_id=agent, session_id=session, run_id=run))

        guard.reset(**which)

        assert len(guard.records()) == left

    def test_a_reset_run_is_free(self) -> None:
        """Nothing of it is remembered."""
        guard = Guard()
        _repeat(guard, 21, run_id="r1")
        guard.reset(run_id="r1")

        assert guard.before(_call(run_id="r1")).action == "allow"

    def test_runs_are_kept_least_recently_used(self) -> None:
        """State is bounded: the run that was not used for longest goes first."""
        guard = Guard(max_runs=2)
        for run in ("r1", "r2", "r1", "r3"):
            guard.before(_call(run_id=run))

        assert [record.run_id for record in guard.records()] == ["r3", "r1"]

    def test_sessions_are_kept_least_recently_used(self) -> None:
        """The window of a session that was not used for long is forgotten too."""
        guard = Guard(max_runs=2)
        for number in range(5):
            guard.before(_call(session_id=f"s{number}"))

        assert len(guard.dump()["sessions"]) == 2


class TestRecord:
    def test_it_tells_why_a_run_ended(self) -> None:
        """Machine-readable code, detector, tool, count, threshold, reason, and at which call."""
        guard = Guard(clock=lambda: 1234.5)
        _repeat(guard, 33, run_id="r1", session_id="s1", agent_id="a", tool="Read")
        record = guard.record("r1")

        assert record == RunRecord(
            run_id="r1",
            session_id="s1",
            agent_id="a",
            calls=33,
            warnings=1,
            blocks=13,
            code="global_circuit_breaker",
            detector="global-circuit-breaker",
            tool="Read",
            count=30,
            threshold=30,
            reason=(
                "`Read` was called 30 times with the same arguments and returned the same result each time (limit 30); "
                "the run is ended."
            ),
            ended_at_call=31,
            ended_at=1234.5,
            signatures=(TOOLS.signed(ToolCall("Read", {"path": "/a"}))[1].hex(),),
        )

    def test_a_run_that_goes_on_has_no_code(self) -> None:
        """Its counts are there."""
        guard = Guard()
        _repeat(guard, 12, run_id="r1")
        record = guard.record("r1")

        assert record is not None
        assert (record.calls, record.warnings, record.blocks, record.ended, record.ended_at) == (12, 1, 0, False, None)

    def test_runs_are_found_by_any_of_their_ids(self) -> None:
        """Without ids it is the run that was used last."""
        guard = Guard()
        guard.before(_call(run_id="r1", session_id="s1"))
        guard.before(_call(run_id="r1", session_id="s2"))
        guard.before(_call(run_id="r2", session_id="s2"))

        newest, first = guard.record(), guard.record("r1", "s1")
        assert newest is not None
        assert first is not None
        assert (newest.run_id, first.session_id) == ("r2", "s1")
        assert guard.record("r9") is None
        assert guard.record(agent_id="x") is None


class TestEvents:
    def test_each_verdict_that_says_something_is_an_event(self) -> None:
        """Warnings, blocks and aborts come with ids, counts and fingerprints."""
        events: list[LoopEvent] = []
        guard = Guard(listeners=[events.append])
        _repeat(guard, 31, id="c", run_id="r1", session_id="s1", agent_id="a", tool="Read")

        assert [event.kind for event in events] == ["warning", *["block"] * 10, "abort"]
        block = events[1]
        assert (block.run_id, block.session_id, block.agent_id, block.call_id) == ("r1", "s1", "a", "c")
        assert (block.tool, block.detector, block.code, block.level, block.action) == (
            "Read",
            "generic-repeat",
            "generic_repeat",
            "critical",
            "block",
        )
        assert (block.count, block.threshold, len(block.fingerprints[0])) == (20, 20, 32)

    def test_no_event_and_no_state_holds_an_argument_or_a_result(self) -> None:
        """They can hold secrets (SPEC 8)."""
        events: list[LoopEvent] = []
        guard = Guard(listeners=[events.append])
        for _ in range(35):
            call = ToolCall("read", {"key": "SECRET-argument"}, id="c", run_id="r1")
            if not guard.before(call).stops:
                guard.after(call, Outcome.result({"text": "SECRET-result"}))

        assert "SECRET" not in repr(events) + repr(guard.dump()) + repr(guard.records())

    def test_arming_is_an_event(self) -> None:
        """So that one can see that a compaction arrived."""
        events: list[LoopEvent] = []
        guard = Guard(listeners=[events.append])
        guard.compacted("s1", agent_id="a")
        guard.compacted("s1", ok=False)

        assert [(event.kind, event.session_id, event.agent_id, event.threshold) for event in events] == [
            ("armed", "s1", "a", 3)
        ]


class TestLog:
    def test_it_writes_to_the_standard_loggers(self, caplog: pytest.LogCaptureFixture) -> None:
        """Warnings at WARNING, blocks and aborts at ERROR, arming at INFO (SPEC 8)."""
        caplog.set_level(logging.INFO, "wheelspin")
        guard = Guard()
        _repeat(guard, 31, run_id="r1")
        guard.compacted()

        lines = [(record.name, record.levelname) for record in caplog.records]
        assert lines[0] == ("wheelspin.loop_detection", "WARNING")
        assert set(lines[1:12]) == {("wheelspin.loop_detection", "ERROR")}
        assert lines[12] == ("wheelspin.post_compaction_guard", "INFO")
        assert caplog.messages[-1] == "post-compaction guard armed for 3 attempts"
        assert caplog.messages[0].startswith("generic_repeat: `read` was called 10 times")
        assert caplog.messages[0].endswith("[run=r1]")

    def test_the_loop_after_a_compaction_is_an_error_of_its_own_logger(self, caplog: pytest.LogCaptureFixture) -> None:
        """It names the tool and the number of identical calls."""
        guard = Guard()
        guard.compacted()
        _repeat(guard, 3)

        assert caplog.records[-1].name == "wheelspin.post_compaction_guard"
        assert caplog.records[-1].levelname == "ERROR"
        assert "compaction_loop_persisted: after a compaction, `read` was called 3 times" in caplog.text

    def test_it_is_silent_where_logging_is_not_configured(self, capfd: pytest.CaptureFixture[str]) -> None:
        """A library does not write to the terminal of its user."""
        logger = logging.getLogger("wheelspin")
        handlers, root_handlers = logger.handlers[:], logging.getLogger().handlers[:]
        logger.handlers.clear()
        logging.getLogger().handlers.clear()
        try:
            _repeat(Guard(), 31)
        finally:
            logger.handlers[:] = handlers
            logging.getLogger().handlers[:] = root_handlers

        assert capfd.readouterr() == ("", "")


class Crashing(Detector):
    """A detector with a bug."""

    id = "crashing"
    observation = "`{tool}` was called"
    alternatives = ("Do something else.",)

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        raise KeyError("SECRET-argument")


class CrashingFirst(Crashing):
    """One that is asked first."""

    rank = Rank.FIRST


class TestFailure:
    @pytest.fixture(autouse=True)
    def _fail_open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """These tests ask for the way in which a guard fails in production."""
        monkeypatch.setattr(Guard, "strict", False)

    @pytest.mark.parametrize("detector", [Crashing(), CrashingFirst()])
    def test_a_detector_that_crashes_is_left_out(self, detector: Detector) -> None:
        """The others still count, an event says so, and nothing of the call is in it."""
        from wheelspin.core.detectors import DETECTORS

        events: list[LoopEvent] = []
        guard = Guard(detectors=[detector, *DETECTORS], listeners=[events.append])
        verdicts = _repeat(guard, 21)

        assert verdicts[20].action == "block"
        crashes = [event for event in events if event.kind == "crash"]
        assert crashes[0].code == "crashing"
        assert crashes[0].cause is not None
        assert crashes[0].cause.startswith("KeyError in check, line ")
        assert "SECRET" not in repr(crashes)

    def test_a_crash_of_the_guard_lets_the_call_pass(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It fails open, loudly, before and after (SPEC 9)."""
        monkeypatch.setattr(History, "append", lambda *_: 1 / 0)
        guard = Guard()

        assert guard.before(_call()) is ALLOW
        assert guard.after(_call(), SAME) is ALLOW
        assert "crashed with ZeroDivisionError" in caplog.text
        assert caplog.records[0].levelname == "ERROR"

    def test_a_listener_that_crashes_costs_nobody_anything(self, caplog: pytest.LogCaptureFixture) -> None:
        """The verdict stands, the other listeners are told, and so is the log."""
        events: list[LoopEvent] = []

        def crash(_: LoopEvent) -> None:
            raise RuntimeError

        guard = Guard(listeners=[crash, events.append])
        verdicts = _repeat(guard, 11)

        assert verdicts[10].action == "warn"
        assert [event.kind for event in events] == ["warning", "crash"]
        assert "a listener crashed with RuntimeError" in caplog.text

    def test_what_is_no_call_passes(self) -> None:
        """An adapter with a bug does not take the agent down."""
        wrong: Any = "read"

        assert Guard().before(wrong) is ALLOW

    def test_under_test_the_same_crash_is_raised(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A bug must not hide behind failing open."""
        monkeypatch.setattr(Guard, "strict", True)
        guard = Guard(detectors=[Crashing()])

        with pytest.raises(KeyError):
            guard.before(_call())


class TestThreads:
    @pytest.fixture(autouse=True)
    def _switch_often(self) -> Iterator[None]:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        yield
        sys.setswitchinterval(interval)

    @staticmethod
    def _work(guard: Guard, *, period: int) -> None:
        def work(number: int) -> None:
            for step in range(200):
                arguments = {"n": step % period}
                call = ToolCall("read", arguments, id=f"c{step}", run_id=f"r{number % 4}", session_id=f"s{number}")
                if not guard.before(call).stops:
                    guard.after(call, SAME)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def test_many_threads_lose_no_step(self) -> None:
        """Eight threads with one guard: each run is counted as if it were alone."""
        guard = Guard()
        self._work(guard, period=200)

        assert sorted(record.calls for record in guard.records()) == [200] * 8

    def test_many_threads_lose_no_event_and_tell_none_twice(self) -> None:
        """Whichever thread hands it to the listeners."""
        told: list[str] = []
        self._work(Guard(listeners=[lambda event: told.append(event.kind)]), period=1)

        assert Counter(told) == {"warning": 8, "block": 8 * 10, "abort": 8 * 170}

    def test_a_listener_may_ask_the_guard(self) -> None:
        """Events are told when the guard is done, so that it can be asked from a listener."""
        seen: list[int] = []
        guard: Guard

        def ask(_: LoopEvent) -> None:
            record = guard.record("r1")
            assert record is not None
            seen.append(record.calls)

        guard = Guard(listeners=[ask])
        _repeat(guard, 11, run_id="r1")

        assert seen == [11]


def test_what_cannot_be_looked_into_is_never_blocked() -> None:
    """Two such results may differ although nothing shows it: the calls are warned about, no more."""
    actions = [_repeat(Guard(), 40, outcome=Outcome.result([object()]))[number].action for number in (10, 20, 30, 39)]

    assert actions == ["warn", "warn", "warn", "allow"]


def test_an_adapter_that_knows_its_tools_is_guarded_by_what_it_knows() -> None:
    """A tool that sends, declared by the host, is recognised as repeating itself although each answer has a new id."""
    guard = Guard(tools=TOOLS.extended(sends=["telegram"]))
    verdict = ALLOW
    for number in range(21):
        call = ToolCall("Telegram", {"to": 1, "text": "hi"})
        verdict = guard.before(call)
        if not verdict.stops:
            guard.after(call, Outcome.result({"ok": True, "message_id": number}))

    assert verdict.action == "block"


def test_a_disabled_guard_does_nothing_at_all() -> None:
    """An explicit `false` turns both mechanisms off."""
    guard = Guard(Settings(enabled=False))
    guard.compacted()

    assert set(_actions(_repeat(guard, 60))) == {"allow"}
    assert guard.record() is None


class TestOtherProcesses:
    """Hosts ask and tell in processes that come and go, and some give their calls no ids."""

    @pytest.mark.parametrize("named", [True, False], ids=["with ids", "without ids"])
    def test_what_was_said_to_a_call_is_told_while_it_is_open(self, *, named: bool) -> None:
        """And after the guard was written down and read again, too."""
        guard = Guard()
        _repeat(guard, 10)
        call = _call(id="c1") if named else _call()
        warning = guard.before(call)
        again = Guard()
        again.load(guard.dump())

        assert warning.action == "warn"
        assert again.asked(call) == warning
        again.after(call, SAME)
        assert again.asked(call) == (ALLOW if named else None)

    def test_a_call_that_was_never_asked_about_has_no_verdict(self) -> None:
        """Not even where the guard knows its like."""
        guard = Guard()
        _repeat(guard, 3)

        assert guard.asked(_call()) is None
        assert guard.asked(_call(id="c1")) is None

    def test_a_blocked_call_keeps_its_verdict(self) -> None:
        """For a second process that is asked about it."""
        guard = Guard()
        _repeat(guard, 20)
        call = _call(id="c1")
        assert guard.before(call).action == "block"

        asked = guard.asked(call)
        assert asked is not None
        assert (asked.action, asked.code, asked.finding and asked.finding.count) == ("block", "generic_repeat", 20)

    def test_the_call_that_ended_a_run_counts_once(self) -> None:
        """However often it is asked about; the next one counts."""
        guard = Guard()
        _repeat(guard, 30)
        for call_id in ("c1", "c1", "c2", "c2"):
            assert guard.before(_call(id=call_id)).action == "abort"

        asked = guard.asked(_call(id="c2"))
        assert asked is not None
        assert asked.action == "abort"
        (record,) = guard.records()
        assert (record.calls, record.blocks) == (32, 12)

    def test_the_verdict_that_ended_a_run_is_given_for_as_long_as_the_run_is_on(self) -> None:
        """A new prompt, or another run, has not ended."""
        guard = Guard()
        assert guard.ending(session_id="s1") is None
        _repeat(guard, 31, session_id="s1")

        ending = guard.ending(session_id="s1")
        assert ending is not None
        assert ending.code == "global_circuit_breaker"
        assert guard.ending("r2", "s1") is None
        assert guard.ending(session_id="s2") is None
        guard.user_message("s1")
        assert guard.ending(session_id="s1") is None


def _fail(guard: Guard, times: int, tool: str = "read") -> list[Verdict]:
    """Call a tool with other arguments each time, and let it fail the same way."""
    verdicts = []
    for number in range(times):
        call = ToolCall(tool, {"path": f"/{number}"}, run_id="r1")
        verdicts.append(guard.before(call))
        if not verdicts[-1].stops:
            guard.after(call, Outcome.error("failed"))
    return verdicts


def _alternate(guard: Guard, times: int) -> list[Verdict]:
    """Make two calls in turn."""
    verdicts = []
    for number in range(times):
        call = _call(f"/{number % 2}", run_id="r1")
        verdicts.append(guard.before(call))
        if not verdicts[-1].stops:
            guard.after(call, SAME)
    return verdicts


class TestAllow:
    """The user says that a run may go on."""

    def test_a_run_that_was_ended_goes_on_and_is_counted_anew(self) -> None:
        """Its record says who said so and when, and keeps its counts."""
        guard = Guard(clock=lambda: 7.0)
        _repeat(guard, 31, run_id="r1")

        assert guard.allow("r1", by="sam") == 1
        record = guard.record("r1")
        assert record is not None
        assert (record.ended, record.allowed_by, record.allowed_at, record.signatures) == (False, "sam", 7.0, ())
        assert (record.calls, record.blocks) == (31, 11)
        actions = _actions(_repeat(guard, 31, run_id="r1"))
        assert actions.index(Action.WARN) == 10
        assert actions.index(Action.BLOCK) == 20
        assert actions.index(Action.ABORT) == 30

    @pytest.mark.parametrize(
        ("loop", "most"),
        [
            (lambda guard, times: _repeat(guard, times, run_id="r1"), 10),
            (_alternate, 9),
            (_fail, 10),
            (lambda guard, times: _repeat(guard, times, run_id="r1", outcome=Outcome.unknown_tool("no tool")), 10),
        ],
        ids=["a repeated call", "a ping-pong", "a tool that fails", "a tool that is not there"],
    )
    def test_a_signature_frees_the_pattern_that_it_is_blocked_for(self, loop: Any, most: int) -> None:
        """From the record, and after the guard was written down and read again, too."""
        guard = Guard()
        assert loop(guard, 25)[-1].stops
        again = Guard()
        again.load(guard.dump())
        record = again.record("r1")
        assert record is not None
        signature = record.signatures[-1]

        assert again.allow(signature=signature, by="sam") == 1
        assert set(_actions(loop(again, most))) == {"allow"}

    def test_what_else_is_blocked_stays_blocked(self) -> None:
        """Only the one pattern is free."""
        guard = Guard()
        _repeat(guard, 21, run_id="r1")
        _repeat(guard, 21, run_id="r1", tool="list")
        record = guard.record("r1")
        assert record is not None
        assert len(record.signatures) == 2

        assert guard.allow(signature=record.signatures[0]) == 1
        assert _actions(_repeat(guard, 1, run_id="r1")) == ["allow"]
        assert _actions(_repeat(guard, 1, run_id="r1", tool="list")) == ["block"]

    @pytest.mark.parametrize("given", [{"run_id": "r2"}, {"session_id": "s"}, {"signature": "00"}, {"signature": "no"}])
    def test_where_nothing_is_meant_nothing_is_freed(self, given: dict[str, str]) -> None:
        """And the record is as it was."""
        guard = Guard()
        _repeat(guard, 31, run_id="r1")
        before = guard.record("r1")

        assert guard.allow(**given) == 0
        assert guard.record("r1") == before
