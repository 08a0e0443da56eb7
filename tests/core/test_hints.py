"""What users declare about tools changes what is compared, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from wheelspin import Guard, Outcome, Settings, ToolCall, ToolHint
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.value_paths import parse, pick, without

Calls = list[tuple[str, Any, Any]]


def _actions(guard: Guard, calls: Calls) -> list[str]:
    """Play calls and give what is done with each."""
    done = []
    for number, (tool, arguments, outcome) in enumerate(calls):
        call = ToolCall(tool, arguments, id=f"c{number}")
        verdict = guard.before(call)
        if not verdict.stops:
            guard.after(call, outcome if isinstance(outcome, Outcome) else Outcome.result(outcome))
        done.append(verdict.action.value)
    return done


def _guard(preset: str = "early", **hints: ToolHint) -> Guard:
    return Guard(
        Settings(
            enabled=True, preset=preset, tool_hints={name.replace("_all", "*"): hint for name, hint in hints.items()}
        )
    )


def _first(done: list[str], action: str) -> int | None:
    return done.index(action) + 1 if action in done else None


def test_a_declared_poll_has_the_thresholds_of_polls() -> None:
    """Equal answers of it are waited for a little longer."""
    calls: Calls = [("ci_status", {"job": 7}, "red")] * 13

    assert _first(_actions(_guard(), calls), "block") == 4
    assert _first(_actions(_guard(ci_status=ToolHint(poll=True)), calls), "block") == 13


def test_what_is_no_identity_does_not_tell_calls_apart() -> None:
    """A volatile handle hides a repeat no longer."""
    calls: Calls = [("click", {"ref": f"E{number}", "label": "Submit"}, "nothing changed") for number in range(5)]

    assert _actions(_guard(), calls) == ["allow"] * 5
    assert _first(_actions(_guard(click=ToolHint(identity=["label"])), calls), "block") == 4


@pytest.mark.parametrize("volatile", ["at", "/restarted at [0-9:]+/"])
def test_what_is_declared_volatile_does_not_count(volatile: str) -> None:
    """A path of the result, or an expression for its texts; also where the result is a text that is JSON."""
    texts = [f"restarted at 14:02:0{number}" for number in range(5)]
    results = [{"at": text, "pod": "up"} for text in texts]
    hint = ToolHint(volatile=[volatile])

    for outcomes in (results, [f'{{"at": "{text}", "pod": "up"}}' for text in texts]):
        calls: Calls = [("restart", {}, outcome) for outcome in outcomes]
        assert _actions(_guard(), calls) == ["allow"] * 5
        assert _first(_actions(_guard(restart=hint), calls), "block") == 4


def test_a_success_of_a_tool_that_mutates_frees_what_failed_before() -> None:
    """The test that fails may be run again after each step of the work."""
    calls: Calls = []
    for number in range(12):
        calls += [("step", {"n": number}, "ok"), ("check", {}, Outcome.error("red"))]

    assert "block" in _actions(_guard(), calls)
    assert set(_actions(_guard(step=ToolHint(mutates=True)), calls)) == {"allow"}


def test_a_success_of_a_tool_that_mutates_is_always_new() -> None:
    """The same edit with the same acknowledgement is progress, if somebody says so."""
    calls: Calls = [("next_page", {}, "ok"), ("shot", {}, "the same picture")] * 8

    assert "warn" in _actions(_guard(), calls)
    assert set(_actions(_guard(next_page=ToolHint(mutates=True)), calls)) == {"allow"}


def test_an_ignored_tool_is_never_judged_and_leaves_no_trace() -> None:
    """Neither does it stand between two calls that are judged."""
    ignored = _guard(think=ToolHint(ignore=True))

    assert set(_actions(ignored, [("think", {}, "")] * 40)) == {"allow"}
    done = _actions(ignored, [("read", {}, "text"), ("think", {"t": 1}, "")] * 5)
    assert done[2::2] == ["allow", "warn", "block", "block"]


def test_a_tool_has_thresholds_of_its_own() -> None:
    """One alone keeps the other in order."""
    calls: Calls = [("deploy", {}, "no change")] * 6

    assert _first(_actions(_guard("standard", deploy=ToolHint(critical_threshold=4)), calls), "block") == 5
    assert _first(_actions(_guard("standard", deploy=ToolHint(critical_threshold=4)), calls), "warn") == 4
    assert "warn" not in _actions(_guard("early", deploy=ToolHint(warning_threshold=30)), calls)


def test_a_pattern_means_every_tool_that_it_matches_and_a_name_lies_over_it() -> None:
    """Names are compared trimmed and in lower case."""
    table = TOOLS.extended(hints={"MCP__*": ToolHint(poll=True, mutates=True), "mcp__db__write": ToolHint(poll=False)})

    assert table.look_up("mcp__ci__status", {}).polls
    assert table.look_up(" mcp__DB__read", {}).polls
    assert not table.look_up("mcp__db__write", {}).polls
    assert table.look_up("mcp__db__write", {}).mutates
    assert not table.look_up("read", {}).polls


FAULTY: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"poll": 1}, TypeError, "True or False"),
    ({"identity": "path"}, TypeError, "a list of strings"),
    ({"identity": [""]}, ValueError, "not a string"),
    ({"identity": ["a[b"]}, ValueError, "not a path"),
    ({"identity": ["a..b"]}, ValueError, "not a path"),
    ({"volatile": ["/(/"]}, ValueError, "not a regular expression"),
    ({"warning_threshold": 0}, ValueError, "1 or more"),
    ({"critical_threshold": 2.5}, TypeError, "a whole number"),
]


@pytest.mark.parametrize(("given", "error", "text"), FAULTY, ids=[str(given) for given, _, _ in FAULTY])
def test_a_hint_that_cannot_be_read_is_an_error(given: dict[str, Any], error: type[Exception], text: str) -> None:
    """Never a silent default."""
    with pytest.raises(error, match=text):
        ToolHint(**given)


VALUE = {"a": {"b": [{"c": 1, "d": 2}, {"c": 3}]}, "l": [[1], [2]], "n": None}
PATHS: list[tuple[str, Any, Any]] = [
    ("a.b[*].c", [1, 3], {"a": {"b": [{"d": 2}, {}]}, "l": [[1], [2]], "n": None}),
    ("a.b", [{"c": 1, "d": 2}, {"c": 3}], {"a": {}, "l": [[1], [2]], "n": None}),
    ("l[*][*]", [[1], [2]], {"a": VALUE["a"], "l": [[], []], "n": None}),
    ("n.x", None, VALUE),
    ("x", None, VALUE),
    ("a[*].b", None, VALUE),
    ("n", None, {"a": VALUE["a"], "l": [[1], [2]]}),
]


@pytest.mark.parametrize(("path", "picked", "left"), PATHS, ids=[path for path, _, _ in PATHS])
def test_a_path_leads_to_a_part_of_a_value(path: str, picked: Any, left: Any) -> None:
    """What is picked, and what is left without it; a path that leads nowhere changes nothing."""
    assert pick(VALUE, parse(path)) == picked
    assert without(VALUE, parse(path)) == left
