"""The original code's verdicts on recorded traces: equal, except for the deviations that are listed line by line."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from tests.conftest import shared
from wheelspin import Guard, Outcome, Settings, ToolCall, ToolTable, Verdict
from wheelspin.config import config_from
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.known_tools import TOOLS

TRACES = sorted(shared("golden").glob("*.jsonl"))
DEVIATIONS: dict[str, list[dict[str, Any]]] = json.loads((Path(__file__).parent / "golden_deviations.json").read_text())


def _config(head: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of a trace; no trace has invalid values such as a threshold of 0."""
    return head.get("file") or {"tools": {"loopDetection": head["config"]}}


def _call(event: dict[str, Any]) -> ToolCall:
    return ToolCall(event["tool"], event.get("params"), id=event.get("id"), run_id=event.get("run"))


def _outcome(event: dict[str, Any]) -> Outcome:
    if "error" in event:
        return Outcome.error(event["error"])
    return Outcome.result(event["result"]) if "result" in event else Outcome.missing()


def _before(verdict: Verdict) -> dict[str, Any]:
    finding = verdict.finding
    if finding is None:
        return {"level": "none", "blocked": verdict.stops}
    return {"level": finding.level, "detector": finding.code, "count": finding.count, "blocked": verdict.stops}


def _settings(head: dict[str, Any], *, documented: bool) -> Settings:
    """Return the settings of a trace, with all detectors or only with the documented ones."""
    config = copy.deepcopy(_config(head))
    if documented:
        beyond = [detector for detector in DETECTORS if detector.can_switch and not detector.is_documented]
        off = {to_camel(detector.name): False for detector in beyond}
        block = config.setdefault("tools", {}).setdefault("loopDetection", {})
        block["detectors"] = block.get("detectors", {}) | off
    return config_from(config).for_agent(head.get("agent"))


def _differing_lines(trace: Path, *, documented: bool = True) -> list[int]:
    head, *events = [json.loads(line) for line in trace.read_text().splitlines()]
    tools: ToolTable = TOOLS.extended(sends=head.get("sendTools", []))
    guard = Guard(_settings(head, documented=documented), tools=tools)
    differing = []
    for number, event in enumerate(events, 2):
        if "before" in event:
            differs = _before(guard.before(_call(event["before"]))) != event["expect"]
        elif "after" in event:
            verdict = guard.after(_call(event["after"]), _outcome(event["after"]))
            differs = (verdict.code == "compaction_loop_persisted") != event["expect"]["abort"]
        else:
            guard.compacted()
            differs = False
        if differs:
            differing.append(number)
    return differing


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.stem)
def test_verdicts_equal_the_original_but_for_the_listed_deviations(trace: Path) -> None:
    """Every line has the original's verdict, and every line that is listed as deviating still deviates."""
    listed = sorted(line for row in DEVIATIONS.get(trace.stem, []) for line in row["lines"])

    assert listed == _differing_lines(trace)


def test_every_listed_deviation_names_its_reason() -> None:
    """Each reason is one of the fourteen deviations of SPEC 11, or the window size of SPEC 7."""
    reasons = {reason for rows in DEVIATIONS.values() for row in rows for reason in row["deviations"]}

    assert reasons <= {*range(1, 15), "window size"}
    assert set(DEVIATIONS) <= {trace.stem for trace in TRACES}
