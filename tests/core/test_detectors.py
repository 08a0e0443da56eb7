"""The contract that every detector keeps, and its cases: data beside this file, one file a detector."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wheelspin import Settings
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Detector
from wheelspin.testing import Played, check_detector, play

FOLDER = Path(__file__).parent / "detectors"
SECTIONS = (
    "What it detects:",
    "Why it is a loop:",
    "Example:",
    "Options:",
    "Not to be confused with:",
    "False positives:",
)
CLAIM = re.compile(r"`(?P<play>[^`]+)` (?P<claim>[^.`]+)\.")
ON = {"enabled": True}


def _cases(detector: Detector) -> list[dict[str, Any]]:
    file = FOLDER / f"{detector.id.replace('-', '_')}.toml"
    cases: list[dict[str, Any]] = tomllib.loads(file.read_text())["case"]
    return cases


def settings_of(case: dict[str, Any]) -> Settings:
    """Return the settings that a case is played with."""
    given = case.get("settings", ON)
    return Settings(**({} if given == {} else ON | given))


def _done(moves: list[Played], action: str) -> list[int]:
    return [move.call for move in moves if move.call and move.verdict and move.verdict.action == action]


ALL = [
    pytest.param(detector, case, id=f"{detector.id}: {case['name']}")
    for detector in DETECTORS
    for case in _cases(detector)
]


@pytest.mark.parametrize(("detector", "case"), ALL)
def test_a_case_gives_the_actions_that_it_names_and_no_others(detector: Detector, case: dict[str, Any]) -> None:
    """Warnings, blocks and aborts come at the calls that the case names."""
    moves = play(case["play"], settings_of(case))

    assert case.get("warns", []) == _done(moves, "warn"), detector.id
    assert case.get("blocks", []) == _done(moves, "block")
    assert case.get("aborts", []) == _done(moves, "abort")


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_detector_keeps_the_laws_when_it_is_asked_alone(detector: Detector) -> None:
    """No crash, no state, no stop without evidence."""
    check_detector(detector)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_detector_is_named_after_its_file(detector: Detector) -> None:
    """The id is the file's name in kebab case."""
    module = Path(inspect.getfile(type(detector))).stem

    assert module == detector.id.replace("-", "_")


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_detector_has_a_page(detector: Detector) -> None:
    """Its docstring has all the sections that a page has, in their order."""
    page = inspect.getdoc(type(detector)) or ""

    assert [section for section in SECTIONS if section in page] == list(SECTIONS)
    assert [page.index(section) for section in SECTIONS] == sorted(page.index(section) for section in SECTIONS)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_the_example_on_the_page_is_true(detector: Detector) -> None:
    """Every trajectory in the section "Example" does what is said of it."""
    page = inspect.getdoc(type(detector)) or ""
    example = " ".join(page.split("Example:")[1].split("Options:")[0].split())
    claims = list(CLAIM.finditer(example))
    acted = set()

    for claim in claims:
        moves = play(claim["play"])
        alone = play(claim["play"], detectors=[detector])
        acted |= {move.verdict.finding.detector for move in alone if move.verdict and move.verdict.finding}
        for action in ("warn", "block", "abort"):
            said = re.search(rf"{action}s (at|from) ([\d, and]+)", claim["claim"])
            wanted = [int(number) for number in re.findall(r"\d+", said[2])] if said else []
            done = _done(moves, action)
            assert wanted == (done[:1] if said and said[1] == "from" else done), claim["play"]
    assert detector.id in acted


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_third_of_the_cases_stays_quiet(detector: Detector) -> None:
    """A detector is tested as much for what it must leave alone."""
    cases = _cases(detector)
    quiet = [case for case in cases if not {"warns", "blocks", "aborts"} & set(case)]

    assert len(quiet) * 3 >= len(cases) >= 5


def test_every_detector_has_a_file_of_cases() -> None:
    """No file of cases is left without its detector, either."""
    assert {path.stem for path in FOLDER.glob("*.toml")} == {detector.id.replace("-", "_") for detector in DETECTORS}


def test_a_detector_keeps_no_state() -> None:
    """A detector has nothing to keep a state in."""
    assert all(not hasattr(detector, "__dict__") for detector in DETECTORS)


DOCUMENTED = ("A1*45", "(A1 B1)*25", "~A1*45", "A+*30", "?A*30", "(A1 B+)*25", "[A1 B1]*20")
BEYOND = ("(A1 B1 C1)*20", "(e+ T!)*30", "a!*45", "?a*45", "A%*45", "A-*45", "a1*45", "(a! b! c!)*20", "a.*45")


def _grid(trajectories: tuple[str, ...]) -> Iterator[tuple[str, Settings, Settings]]:
    for trajectory in trajectories:
        for factor in (1, 2):
            low = Settings(enabled=True, history_size=100, warning_threshold=3, critical_threshold=6)
            high = Settings(
                enabled=True,
                history_size=100,
                warning_threshold=3 * factor + 1,
                critical_threshold=6 * factor + 1,
                unknown_tool_threshold=10 * factor + 1,
                global_circuit_breaker_threshold=30 * factor + 1,
            )
            yield trajectory, low, high


def _stopped(moves: list[Played]) -> list[int]:
    return sorted(_done(moves, "block") + _done(moves, "abort"))


@pytest.mark.parametrize(("trajectory", "low", "high"), list(_grid(DOCUMENTED)))
def test_higher_thresholds_never_stop_more(trajectory: str, low: Settings, high: Settings) -> None:
    """Whoever raises a threshold gets fewer calls stopped, and never one that was free (SPEC 10)."""
    assert set(_stopped(play(trajectory, high))) <= set(_stopped(play(trajectory, low)))


@pytest.mark.parametrize(("trajectory", "low", "high"), list(_grid(BEYOND)))
def test_higher_thresholds_never_stop_sooner(trajectory: str, low: Settings, high: Settings) -> None:
    """Where a call is free once after a block, another one may be stopped; at no place have more been."""
    strict, lenient = _stopped(play(trajectory, low)), _stopped(play(trajectory, high))

    assert len(lenient) <= len(strict)
    assert all(sooner <= later for sooner, later in zip(strict, lenient, strict=False))
