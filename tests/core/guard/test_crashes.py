"""A guard that crashes lets the call pass and reports the crash."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.guard.calls import SAME, read_call, repeat
from wheelspin import Finding, Guard, LoopEvent
from wheelspin.core.call_record import CallRecord
from wheelspin.core.detector_settings import DetectorSettings
from wheelspin.core.detectors.base import Detector, Rank
from wheelspin.core.events import ALLOW
from wheelspin.core.history import History


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
        verdicts = repeat(guard, 21)

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

        assert guard.before(read_call()) is ALLOW
        assert guard.after(read_call(), SAME) is ALLOW
        assert "crashed with ZeroDivisionError" in caplog.text
        assert caplog.records[0].levelname == "ERROR"

    def test_a_listener_that_crashes_costs_nobody_anything(self, caplog: pytest.LogCaptureFixture) -> None:
        """The verdict stands, the other listeners are told, and so is the log."""
        events: list[LoopEvent] = []

        def crash(_: LoopEvent) -> None:
            raise RuntimeError

        guard = Guard(listeners=[crash, events.append])
        verdicts = repeat(guard, 11)

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
            guard.before(read_call())
