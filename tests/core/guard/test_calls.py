"""Which call an outcome belongs to, also when the host rewrites its arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.guard.calls import SAME, actions_of, read_call, repeat
from wheelspin import Guard, Outcome, Settings, ToolCall


class TestWhichCall:
    def test_an_outcome_belongs_to_its_call_id(self) -> None:
        """Outcomes come in any order, and each goes to its call."""
        guard = Guard()
        calls = [read_call(id=f"c{number}") for number in range(21)]
        for call in calls[:20]:
            guard.before(call)
        for call in reversed(calls[:20]):
            guard.after(call, SAME)

        assert guard.before(calls[20]).action == "block"

    def test_without_ids_it_belongs_to_the_newest_open_call_of_its_kind(self) -> None:
        """A host without call ids is guarded all the same."""
        guard = Guard()
        for _ in range(20):
            guard.before(read_call("/a"))
            guard.before(read_call("/b"))
            guard.after(read_call("/a"), SAME)

        verdict = guard.before(read_call("/a"))

        assert verdict.finding is not None
        assert verdict.finding.detector == "ping-pong"
        assert verdict.finding.no_progress is False, "of /b nothing is known, and of /a every outcome"

    def test_an_outcome_without_a_call_is_a_step(self) -> None:
        """A host that tells outcomes only is guarded by them."""
        guard = Guard()
        for number in range(20):
            guard.after(read_call(id=f"c{number}"), SAME)

        assert guard.before(read_call()).action == "block"
        record = guard.record()
        assert record is not None
        assert record.calls == 21

    def test_an_outcome_that_is_told_twice_counts_once(self) -> None:
        """Hosts that tell of a call in two events do not count it twice."""
        guard = Guard(Settings(enabled=True, warning_threshold=3))
        for number in range(2):
            call = read_call(id=f"c{number}")
            guard.before(call)
            guard.after(call, SAME)
            guard.after(call, SAME)

        assert guard.before(read_call(id="c9")).action == "allow"

    def test_the_outcome_of_a_blocked_call_is_known(self) -> None:
        """The host answers it, and may tell so; neither its answer nor a veto counts as a step."""
        guard = Guard()
        repeat(guard, 20)
        blocked = read_call(id="x")
        assert guard.before(blocked).action == "block"

        guard.after(blocked, Outcome.error("blocked"))
        guard.after(blocked, Outcome.veto())
        finding = guard.before(read_call()).finding

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
        repeat(guard, 10)

        first, second = guard.before(read_call(id="x")), guard.before(read_call(id="x"))

        assert first.action == "warn"
        assert first == second
        record = guard.record()
        assert record is not None
        assert record.warnings == 1

    def test_an_id_that_is_used_for_every_call_means_the_newest(self) -> None:
        """Some models number their calls anew in each turn."""
        assert actions_of(repeat(Guard(), 31, id="call_0"))[10::10] == ["warn", "block", "abort"]

    def test_a_call_that_never_comes_back_is_no_evidence(self) -> None:
        """It counts for the warning, never for a block."""
        guard = Guard()
        actions = [guard.before(read_call(id=f"c{number}")).action for number in range(60)]

        assert set(actions) == {"allow", "warn"}

    def test_an_outcome_that_the_host_never_learned_leaves_the_call_open(self) -> None:
        """To say so is as good as to say nothing."""
        assert set(actions_of(repeat(Guard(), 60, outcome=Outcome.missing()))) == {"allow", "warn"}

    def test_an_outcome_that_comes_after_the_user_spoke_belongs_to_the_run_before(self) -> None:
        """Where runs have no ids, a call that is still open is looked for in the run that it was asked for in."""
        guard = Guard()
        call = read_call(id="c1")
        guard.before(call)
        guard.user_message()
        guard.after(call, SAME)

        assert [record.calls for record in guard.records()] == [1]

    @pytest.mark.parametrize("wrong", ["", 7, 2**600, ["c"], object()])
    def test_an_id_may_be_anything(self, wrong: Any) -> None:
        """What is no text, or an endless one, is an id all the same."""
        guard = Guard()

        assert actions_of(repeat(guard, 21, id=wrong, run_id=wrong, session_id=wrong, agent_id=wrong))[20] == "block"


class TestRewrittenArguments:
    def test_a_host_that_rewrites_arguments_is_guarded_by_what_it_runs(self) -> None:
        """The step is signed anew, no second one appears, and the next call is judged as it will be run."""
        guard = Guard()
        verdicts = []
        for number in range(21):
            verdicts.append(guard.before(read_call("a", id=f"c{number}")))
            if not verdicts[-1].stops:
                guard.after(read_call("/src/a", id=f"c{number}"), SAME)

        assert [verdict.code for verdict in verdicts[10:11] + verdicts[20:]] == ["generic_repeat"] * 2
        assert verdicts[20].action == "block"

    def test_a_host_that_rewrites_in_ever_new_ways_is_not_stopped(self) -> None:
        """What was run differs each time, and that is what counts."""
        guard = Guard()
        for number in range(40):
            verdict = guard.before(read_call("a", id=f"c{number}"))
            assert verdict.action == "allow"
            guard.after(read_call(f"/src/{number}", id=f"c{number}"), SAME)

    def test_a_host_that_stops_rewriting_is_judged_by_what_it_runs_then(self) -> None:
        """The first time that a call is run as it was asked for, the expectation is dropped."""
        guard = Guard()
        guard.before(read_call("a", id="c0"))
        guard.after(read_call("/src/a", id="c0"), SAME)
        for number in range(1, 22):
            verdict = guard.before(read_call("a", id=f"c{number}"))
            if not verdict.stops:
                guard.after(read_call("a", id=f"c{number}"), SAME)

        assert verdict.action == "block"

    def test_rewritten_calls_are_forgotten_rather_than_kept_without_end(self) -> None:
        """State is bounded."""
        guard = Guard()
        for number in range(200):
            guard.before(read_call(f"{number}", id=f"c{number}"))
            guard.after(read_call(f"/src/{number}", id=f"c{number}"), SAME)

        ((*_, run),) = guard.dump()["runs"]
        assert len(run["rewritten"]) <= 30
