"""Settings: checked, put in order, with a notice for all that was changed or cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from wheelspin import Settings, ToolHint


def _notices(**given: Any) -> dict[str, str]:
    return {notice.setting: notice.text for notice in Settings(**given).notices}


def test_the_defaults_are_the_documented_ones() -> None:
    """They are in order, reachable, and leave `enabled` unset."""
    settings = Settings()

    assert settings.enabled is None
    assert (settings.history_size, settings.warning_threshold, settings.critical_threshold) == (30, 10, 20)
    assert (settings.unknown_tool_threshold, settings.global_circuit_breaker_threshold, settings.window_size) == (
        10,
        30,
        3,
    )
    assert settings.switched_off == frozenset()
    assert settings.notices == ()


@pytest.mark.parametrize(
    ("given", "resolved"),
    [
        ((12, 5, 6), (12, 13, 14)),
        ((10, 10, 30), (10, 11, 30)),
        ((10, 20, 20), (10, 20, 21)),
        ((25, 20, 30), (25, 26, 30)),
        ((1, 1, 1), (1, 2, 3)),
        ((3, 5, 8), (3, 5, 8)),
    ],
)
def test_thresholds_in_the_wrong_order_are_raised(given: tuple[int, int, int], resolved: tuple[int, int, int]) -> None:
    """First the critical one above the warning, then the breaker above the critical one (SPEC 2.2)."""
    warning, critical, breaker = given
    settings = Settings(
        warning_threshold=warning, critical_threshold=critical, global_circuit_breaker_threshold=breaker
    )

    assert (
        settings.warning_threshold,
        settings.critical_threshold,
        settings.global_circuit_breaker_threshold,
    ) == resolved


def test_each_raise_is_a_notice() -> None:
    """Whoever sets 5 and gets 13 is told so."""
    notices = _notices(warning_threshold=12, critical_threshold=5, global_circuit_breaker_threshold=6)

    assert notices["critical_threshold"] == "raised from 5 to 13: it must be above the warning threshold, 12"
    assert notices["global_circuit_breaker_threshold"].startswith("raised from 6 to 14")


def test_a_window_of_one_call_is_raised_to_two() -> None:
    """One call cannot show a repeat (SPEC 7)."""
    assert Settings(window_size=1).window_size == 2
    assert _notices(window_size=1) == {"window_size": "raised from 1 to 2: one call cannot show a repeat"}


@pytest.mark.parametrize(
    ("given", "dead"),
    [
        (
            {"history_size": 8},
            {"warning_threshold", "critical_threshold", "unknown_tool_threshold", "global_circuit_breaker_threshold"},
        ),
        ({"history_size": 15}, {"critical_threshold", "global_circuit_breaker_threshold"}),
        ({"critical_threshold": 40}, {"critical_threshold", "global_circuit_breaker_threshold"}),
        ({"unknown_tool_threshold": 31}, {"unknown_tool_threshold"}),
        ({"history_size": 60}, set()),
    ],
)
def test_a_threshold_that_can_never_be_reached_is_a_notice(given: dict[str, Any], dead: set[str]) -> None:
    """A rule that is dead says so, and which one it is (SPEC 2.2)."""
    notices = _notices(**given)

    assert set(notices) == dead
    assert all("calls kept" in text or "raised" in text for text in notices.values())


@pytest.mark.parametrize("value", [0, -1, 1.5, "10", True, float("nan"), float("inf")])
def test_what_is_no_whole_number_from_one_on_is_an_error(value: Any) -> None:
    """Never a silent default; the error names the setting."""
    with pytest.raises((TypeError, ValueError), match="history_size"):
        Settings(history_size=value)


def test_a_whole_float_is_a_whole_number() -> None:
    """`10.0` is ten."""
    size: Any = 10.0

    assert Settings(history_size=size).history_size == 10


@pytest.mark.parametrize(
    "given", [{"enabled": 1}, {"detectors": {"ping_pong": "no"}}, {"detectors": {"stagnation": {"enabled": 0}}}]
)
def test_a_switch_is_a_boolean(given: Any) -> None:
    """Nothing else is on or off."""
    with pytest.raises(TypeError, match=r"True(,| or) False"):
        Settings(**given)


def test_a_detector_that_is_not_known_cannot_be_switched() -> None:
    """A misspelled name would leave the detector on."""
    with pytest.raises(ValueError, match="generic_repeat"):
        Settings(detectors={"genericRepeat": False})


def test_settings_that_observe_are_the_same_but_for_their_mode() -> None:
    """Those that they were made of stay as they are."""
    enforcing = Settings(
        enabled=True, preset="early", detectors={"ping_pong": False}, tool_hints={"poll": ToolHint(poll=True)}
    )
    observing = enforcing.observing()
    differing = [name for name in Settings.__slots__ if getattr(enforcing, name) != getattr(observing, name)]

    assert differing == ["mode"]
    assert (enforcing.mode, observing.mode) == ("enforce", "observe")


def test_thresholds_of_one_detector_in_the_wrong_order_are_raised_with_a_notice() -> None:
    """As the shared ones are; the notice names the detector."""
    settings = Settings(enabled=True, detectors={"ping_pong": {"warning_threshold": 10, "critical_threshold": 5}})

    assert settings.thresholds["ping_pong"] == (10, 11)
    assert [(notice.setting, "raised from 5 to 11" in notice.text) for notice in settings.notices] == [
        ("ping_pong", True)
    ]


def test_outages_have_thresholds_of_their_own() -> None:
    """And no switch: they are told from loops, not detected."""
    settings = Settings(enabled=True, infrastructure_failures={"warning_threshold": 3, "critical_threshold": 6})

    assert settings.outage_thresholds == (3, 6)
    with pytest.raises(ValueError, match="has no 'enabled'"):
        Settings(infrastructure_failures={"enabled": False})


@pytest.mark.parametrize("given", [7, "off", None])
def test_what_is_set_of_a_detector_is_a_switch_or_a_mapping(given: Any) -> None:
    """Anything else is an error that says so."""
    with pytest.raises(TypeError, match="`ping_pong` must be True, False or a mapping"):
        Settings(detectors={"ping_pong": given})
