"""What the guard reports: records, events and log lines."""

from __future__ import annotations

import logging

import pytest

from tests.core.guard.calls import read_call, repeat
from wheelspin import Guard, LoopEvent, Outcome, RunRecord, ToolCall
from wheelspin.core.known_tools import TOOLS


class TestRecord:
    def test_it_tells_why_a_run_ended(self) -> None:
        """Machine-readable code, detector, tool, count, threshold, reason, and at which call."""
        guard = Guard(clock=lambda: 1234.5)
        repeat(guard, 33, run_id="r1", session_id="s1", agent_id="a", tool="Read")
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
        repeat(guard, 12, run_id="r1")
        record = guard.record("r1")

        assert record is not None
        assert (record.calls, record.warnings, record.blocks, record.ended, record.ended_at) == (12, 1, 0, False, None)

    def test_runs_are_found_by_any_of_their_ids(self) -> None:
        """Without ids it is the run that was used last."""
        guard = Guard()
        guard.before(read_call(run_id="r1", session_id="s1"))
        guard.before(read_call(run_id="r1", session_id="s2"))
        guard.before(read_call(run_id="r2", session_id="s2"))

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
        repeat(guard, 31, id="c", run_id="r1", session_id="s1", agent_id="a", tool="Read")

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
        repeat(guard, 31, run_id="r1")
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
        repeat(guard, 3)

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
            repeat(Guard(), 31)
        finally:
            logger.handlers[:] = handlers
            logging.getLogger().handlers[:] = root_handlers

        assert capfd.readouterr() == ("", "")
