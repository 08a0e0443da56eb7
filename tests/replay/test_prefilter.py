"""The prefilter: it holds back what no detector finds anything in, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.core.test_detectors import ALL, settings_of
from tests.replay.test_engine import SCREENED, sessions
from wheelspin import Guard, Outcome, Replay, Settings, ToolCall, Verdict, notation
from wheelspin.core.call_record import CallRecord
from wheelspin.core.detector_settings import DetectorSettings
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Detector, Finding, Level, Scope
from wheelspin.core.history import History
from wheelspin.replay.engine import RunReport
from wheelspin.replay.prefilter import Bounds, Prefilter
from wheelspin.transcripts.base import Event, ToolCalled, ToolReturned


def _new_calls(count: int) -> list[Event]:
    events: list[Event] = []
    for number in range(count):
        call = ToolCall("read", {"n": number}, id=f"c{number}")
        events += [ToolCalled(number, call), ToolReturned(number, call, Outcome.result(f"text {number}"))]
    return events


def _played(session: list[Event], settings: Settings) -> list[RunReport]:
    replay = Replay(settings=settings)
    list(replay.play(session))
    return replay.runs


class NthCall(Detector):
    """A run of many calls, whatever they bring."""

    __slots__ = ()

    id = "nth-call"
    scope = Scope.RUN
    observation = "`{tool}` is call {count}"
    alternatives = ("Finish.",)

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Find something in each call from the fifth on."""
        del settings
        return self.found(Level.WARNING, history.next, 5, call.signature) if history.next >= 5 else None


def test_a_scan_asks_a_detector_that_does_not_say_what_it_needs_about_every_call() -> None:
    """Calls that are all new are evidence of nothing else."""
    session, settings = _new_calls(12), Settings(enabled=True, plugins=[NthCall])
    (run,) = Replay(settings=settings).scan(session)

    assert [each.code for each in run.interventions] == ["nth_call", "nth_call"]
    assert [run] == _played(session, settings)


def test_a_scan_holds_calls_back_if_the_detector_that_does_not_say_what_it_needs_is_off() -> None:
    """Its silence is no reason to feed the guard."""
    assert not Bounds(Settings(enabled=True, plugins=[NthCall])).can_hold
    assert Bounds(Settings(enabled=True, plugins=[NthCall], detectors={"nth_call": False})).can_hold


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
@given(sessions(), SCREENED)
def test_no_detector_finds_anything_before_it_has_what_it_needs(
    detector: Detector, session: list[Event], settings: Settings
) -> None:
    """Calls that are held back for this detector alone are nothing to it."""
    guard = Guard(settings, detectors=[detector])
    prefilter = Prefilter(Bounds(settings, [detector]), guard.tools)
    for event in session:
        match event:
            case ToolCalled() if event.call.agent_id is None:
                if not prefilter.ask(event):
                    return
                verdict = guard.before(event.call)
            case ToolReturned() if event.call.agent_id is None:
                if not prefilter.answer(event):
                    return
                verdict = guard.after(event.call, event.outcome)
            case _:
                continue
        assert verdict.finding is None


class Screened(Guard):
    """A guard that checks of each call that a prefilter would hold back that nothing is found in it."""

    def __init__(self, settings: Settings | None, **options: Any) -> None:
        """Begin with the first run."""
        super().__init__(settings, **options)
        self._prefilter: Prefilter | None = Prefilter(Bounds(self.settings, options["detectors"]), self.tools)

    def before(self, call: ToolCall) -> Verdict:
        """Check the verdict on a call."""
        if self._prefilter is not None and not self._prefilter.ask(ToolCalled(0, call)):
            self._prefilter = None
        return self._checked(super().before(call))

    def after(self, call: ToolCall, outcome: Outcome) -> Verdict:
        """Check the verdict on an outcome."""
        if self._prefilter is not None and not self._prefilter.answer(ToolReturned(0, call, outcome)):
            self._prefilter = None
        return self._checked(super().after(call, outcome))

    def user_message(self, *ids: Any, **agent: Any) -> None:
        """Check no further run."""
        self._prefilter = None
        super().user_message(*ids, **agent)

    def compacted(self, *ids: Any, **options: Any) -> None:
        """Check nothing after a compaction, which a prefilter knows nothing of."""
        self._prefilter = None
        super().compacted(*ids, **options)

    def _checked(self, verdict: Verdict) -> Verdict:
        assert self._prefilter is None or verdict.finding is None
        return verdict


@pytest.mark.parametrize(("detector", "case"), ALL)
def test_no_case_of_a_detector_has_a_finding_before_it_has_what_it_needs(
    detector: Detector, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases of each detector, with the detector alone."""
    monkeypatch.setattr(notation, "Guard", Screened)

    notation.play(case["play"], settings_of(case), detectors=[detector])
