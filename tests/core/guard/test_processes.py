"""A guard whose state is saved and loaded between the events of a run."""

from __future__ import annotations

import pytest

from tests.core.guard.calls import SAME, read_call, repeat
from wheelspin import Guard
from wheelspin.core.events import ALLOW


class TestOtherProcesses:
    """Hosts ask and tell in processes that come and go, and some give their calls no ids."""

    @pytest.mark.parametrize("named", [True, False], ids=["with ids", "without ids"])
    def test_what_was_said_to_a_call_is_told_while_it_is_open(self, *, named: bool) -> None:
        """And after the guard was written down and read again, too."""
        guard = Guard()
        repeat(guard, 10)
        call = read_call(id="c1") if named else read_call()
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
        repeat(guard, 3)

        assert guard.asked(read_call()) is None
        assert guard.asked(read_call(id="c1")) is None

    def test_a_blocked_call_keeps_its_verdict(self) -> None:
        """For a second process that is asked about it."""
        guard = Guard()
        repeat(guard, 20)
        call = read_call(id="c1")
        assert guard.before(call).action == "block"

        asked = guard.asked(call)
        assert asked is not None
        assert (asked.action, asked.code, asked.finding and asked.finding.count) == ("block", "generic_repeat", 20)

    def test_the_call_that_ended_a_run_counts_once(self) -> None:
        """However often it is asked about; the next one counts."""
        guard = Guard()
        repeat(guard, 30)
        for call_id in ("c1", "c1", "c2", "c2"):
            assert guard.before(read_call(id=call_id)).action == "abort"

        asked = guard.asked(read_call(id="c2"))
        assert asked is not None
        assert asked.action == "abort"
        (record,) = guard.records()
        assert (record.calls, record.blocks) == (32, 12)

    def test_the_verdict_that_ended_a_run_is_given_for_as_long_as_the_run_is_on(self) -> None:
        """A new prompt, or another run, has not ended."""
        guard = Guard()
        assert guard.ending(session_id="s1") is None
        repeat(guard, 31, session_id="s1")

        ending = guard.ending(session_id="s1")
        assert ending is not None
        assert ending.code == "global_circuit_breaker"
        assert guard.ending("r2", "s1") is None
        assert guard.ending(session_id="s2") is None
        guard.user_message("s1")
        assert guard.ending(session_id="s1") is None
