"""The contract of a detector: what a class must say, and what follows from its scope and rank."""

from __future__ import annotations

from typing import Any

import pytest

from wheelspin import Detector, Finding, Guard, Level, Outcome, OutcomeStatus, Settings, ToolCall
from wheelspin.core.detector_settings import DetectorSettings
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Needs, Rank, Scope
from wheelspin.core.plugins import PluginError

COMPLETE: dict[str, Any] = {
    "__doc__": "A loop.",
    "id": "my-loop",
    "observation": "`{tool}` was called {count} times",
    "alternatives": ("Do something else.",),
}


class Busy(Detector):
    """A tool that is called very often, whatever with."""

    __slots__ = ()

    id = "busy"
    scope = Scope.TOOL
    observation = "`{tool}` was called {count} times"
    alternatives = ("Use another tool.", "Stop using it.")

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        count = sum(record.tool == call.tool for record in history)
        return self.graded(count, settings.thresholds_of(self), may_block=False)


@pytest.mark.parametrize("missing", ["__doc__", "id", "observation", "alternatives"])
def test_a_class_that_leaves_something_out_is_refused(missing: str) -> None:
    """No detector can warn in words that are not its own."""
    words = {"__doc__": "docstring", "id": "kebab case"}
    given = {name: value for name, value in COMPLETE.items() if name != missing}

    with pytest.raises(TypeError, match=words.get(missing, missing)):
        type("Incomplete", (Detector,), given)


@pytest.mark.parametrize("wrong", ["", "MyLoop", "my_loop", "my--loop", "my loop"])
def test_an_id_is_in_kebab_case(wrong: str) -> None:
    """The key in a configuration is made of it."""
    with pytest.raises(TypeError, match="kebab case"):
        type("Misnamed", (Detector,), {**COMPLETE, "id": wrong})


def test_a_pattern_about_a_tool_is_warned_about_once_per_threshold() -> None:
    """Not at each call, although the arguments and the outcomes differ."""
    guard = Guard(Settings(enabled=True, warning_threshold=5, plugins=[Busy]))
    warned = []
    for number in range(20):
        call = ToolCall("read", {"n": number})
        if guard.before(call).action == "warn":
            warned.append(number)
        guard.after(call, Outcome.result(f"this is the text of page {number}"))

    assert warned == [5, 10, 15]


def test_a_detector_warns_in_its_own_words() -> None:
    """The second advice is the second alternative."""
    guard = Guard(Settings(enabled=True, warning_threshold=2, plugins=[Busy]))
    advice = [guard.before(ToolCall("read", {"n": number})).advice for number in range(5)]

    assert advice[2] == (
        "Loop detected: `read` was called 2 times. Calling it again will not change that. Use another tool."
    )
    assert advice[4].endswith("Stop using it.")


def test_a_status_has_texts_of_its_own_unless_the_class_says_otherwise() -> None:
    """An outage is not the model's fault, whichever detector sees it."""
    finding = Finding("busy", Level.WARNING, 3, 3, (b"a",), status=OutcomeStatus.OUTAGE)

    assert "outage of a service" in Busy().suggest(finding, 0)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_built_in_detector_says_what_it_needs(detector: Detector) -> None:
    """Otherwise no scan could skip anything."""
    needs = detector.needs(Settings(enabled=True))

    assert isinstance(needs, Needs)
    assert 1 <= needs.calls <= 30


def test_the_documented_detectors_are_those_of_openclaw() -> None:
    """The shared thresholds are theirs before those of a preset."""
    assert [detector.id for detector in DETECTORS if detector.is_documented] == [
        "known-poll-no-progress",
        "generic-repeat",
        "ping-pong",
    ]
    assert {detector.rank for detector in DETECTORS} == set(Rank)


@pytest.mark.parametrize(
    ("plugin", "problem"),
    [
        ("no_such_module_anywhere", "cannot be imported"),
        ("wheelspin.errors", "defines no detector"),
        ("wheelspin.core.detectors.generic_repeat", "another detector with the id 'generic-repeat'"),
        (7, "not a detector"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_an_error(plugin: Any, problem: str) -> None:
    """It says which one, what is wrong, and the next step."""
    with pytest.raises(PluginError, match=problem):
        Settings(plugins=[plugin])


def test_a_plugin_is_configured_like_a_built_in_detector() -> None:
    """By its name in snake case, with a switch and thresholds."""
    given = {"busy": {"warning_threshold": 3, "critical_threshold": 4}}

    assert Settings(plugins=[Busy], detectors=given).thresholds["busy"] == (3, 4)
    assert not Settings(enabled=True, plugins=[Busy], detectors={"busy": False}).is_on(Busy())
    with pytest.raises(ValueError, match="there is no detector 'busy'"):
        Settings(detectors=given)
