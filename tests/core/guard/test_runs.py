"""Which run a call belongs to, and how long runs are kept."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.guard.calls import actions_of, read_call, repeat
from wheelspin import Guard, Verdict


class TestWhichRun:
    def test_runs_do_not_see_each_other(self) -> None:
        """Interleaved runs are counted apart, each with a history of its own."""
        guard = Guard()
        verdicts: dict[str, list[Verdict]] = {"r1": [], "r2": []}
        for _ in range(21):
            for run, of_run in verdicts.items():
                of_run.extend(repeat(guard, 1, run_id=run))

        assert [actions_of(given)[20] for given in verdicts.values()] == ["block", "block"]

    @pytest.mark.parametrize("kind", ["run_id", "session_id", "agent_id"])
    def test_calls_of_another_run_session_or_agent_are_free(self, kind: str) -> None:
        """A block concerns one run of one session of one agent."""
        guard = Guard()
        one: dict[str, Any] = {kind: "one"}
        repeat(guard, 21, **one)

        assert guard.before(read_call(**{kind: "other"})).action == "allow"

    def test_agents_are_compared_trimmed_and_lower_cased(self) -> None:
        """As in the configuration."""
        guard = Guard()
        repeat(guard, 20, agent_id="Main")

        assert guard.before(read_call(agent_id=" main ")).action == "block"

    def test_the_user_opens_a_new_run(self) -> None:
        """Where the host gives no run ids, a message of the user begins a run."""
        guard = Guard()
        repeat(guard, 21)
        guard.user_message()

        assert guard.before(read_call()).action == "allow"

    def test_the_user_opens_no_run_where_the_host_names_them(self) -> None:
        """A host that starts runs by id knows better."""
        guard = Guard()
        guard.run_started("r1")
        repeat(guard, 20)
        guard.user_message()

        assert guard.before(read_call()).action == "block"

    def test_calls_without_a_run_id_belong_to_the_run_that_was_started_last(self) -> None:
        """A host need not repeat the id in each call."""
        guard = Guard()
        guard.run_started("r1")
        repeat(guard, 20)

        assert guard.before(read_call(run_id="r1")).action == "block"
        guard.run_started("r2")
        assert guard.before(read_call()).action == "allow"

    def test_a_run_that_was_ended_begins_anew_when_it_is_started_again(self) -> None:
        """A host that lets the user go on with the same id is not stopped for ever."""
        guard = Guard()
        guard.run_started("r1")
        assert repeat(guard, 31)[-1].action == "abort"
        assert guard.before(read_call("/other")).action == "abort"

        guard.run_started("r1")

        assert guard.before(read_call()).action == "allow"

    def test_a_run_that_goes_on_is_not_begun_anew(self) -> None:
        """Announcing the same run again does not reset its counts."""
        guard = Guard()
        guard.run_started("r1")
        repeat(guard, 20)
        guard.run_started("r1")

        assert guard.before(read_call()).action == "block"

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
            guard.before(read_call(agent_id=agent, session_id=session, run_id=run))

        guard.reset(**which)

        assert len(guard.records()) == left

    def test_a_reset_run_is_free(self) -> None:
        """Nothing of it is remembered."""
        guard = Guard()
        repeat(guard, 21, run_id="r1")
        guard.reset(run_id="r1")

        assert guard.before(read_call(run_id="r1")).action == "allow"

    def test_runs_are_kept_least_recently_used(self) -> None:
        """State is bounded: the run that was not used for longest goes first."""
        guard = Guard(max_runs=2)
        for run in ("r1", "r2", "r1", "r3"):
            guard.before(read_call(run_id=run))

        assert [record.run_id for record in guard.records()] == ["r3", "r1"]

    def test_sessions_are_kept_least_recently_used(self) -> None:
        """The window of a session that was not used for long is forgotten too."""
        guard = Guard(max_runs=2)
        for number in range(5):
            guard.before(read_call(session_id=f"s{number}"))

        assert len(guard.dump()["sessions"]) == 2
