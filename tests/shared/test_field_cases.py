"""Cases made from public reports of what users needed the guard to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import shared
from wheelspin import Outcome, Replay, ToolCall, Verdict
from wheelspin.config import config_from
from wheelspin.transcripts.base import Compacted, Event, RunStarted, ToolCalled, ToolReturned, UserMessage

CASES = [json.loads(line) for line in (shared("cases") / "cases_open.jsonl").read_text().splitlines()]
SEED = [case for case in CASES if not case["beyond_seed"]]
BEYOND = [case for case in CASES if case["beyond_seed"]]


def _special(kind: str, value: Any) -> Any:
    cyclic: list[Any] = [1]
    cyclic.append(cyclic)
    return {
        "nan": float("nan"),
        "inf": float("inf"),
        "cyclic": cyclic,
        "object": object(),
        "bytes": bytes.fromhex(value or ""),
        "set": {1, 2},
        "tuple": (1, 2),
        "bigint": 2**200,
        "intkeys": {1: "a", 2: "b"},
    }[kind]


def _filled(value: Any, i: int, o: int) -> Any:
    """Fill the placeholders of a repeated event."""
    if isinstance(value, dict):
        if "$special" in value:
            return _special(value["$special"], value.get("value"))
        return {key: _filled(item, i, o) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, i, o) for item in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    if value in {"{i:int}", "{i:float}"}:
        return i if value == "{i:int}" else float(i)
    value = value.replace("{i}", str(i)).replace("{o}", str(o))
    while "{i+" in value:
        head, rest = value.split("{i+", 1)
        plus, tail = rest.split("}", 1)
        value = f"{head}{i + int(plus)}{tail}"
    while "{pad:" in value:
        head, rest = value.split("{pad:", 1)
        size, tail = rest.split("}", 1)
        value = head + "x" * int(size) + tail
    return value


def _expanded(events: list[dict[str, Any]], i: int = 0, o: int = 0) -> Iterator[dict[str, Any]]:
    for event in events:
        if "repeat" in event:
            for number in range(event["repeat"]):
                yield from _expanded(event["events"], number, i)
        else:
            yield _filled(event, i, o)


def _events(case: dict[str, Any]) -> Iterator[Event]:
    """Yield the events of a case, with the special values that JSON cannot represent."""
    waiting: dict[str, ToolCall] = {}
    run: str | None = None
    for line, event in enumerate(_expanded(case["events"]), 1):
        agent = event.get("agent", "main")
        match event["type"]:
            case "call":
                call = ToolCall(
                    event["tool"], event.get("args"), id=event["id"], run_id=event.get("run", run), agent_id=agent
                )
                waiting[event["id"]] = call
                yield ToolCalled(line, call)
            case "result":
                if "error" in event:
                    unknown = event.get("error_kind") == "unknown_tool"
                    outcome = Outcome.unknown_tool(event["error"]) if unknown else Outcome.error(event["error"])
                else:
                    outcome = Outcome.result(event.get("result"))
                yield ToolReturned(line, waiting[event["id"]], outcome)
            case "compaction":
                yield Compacted(line, None, agent, event.get("ok", True))
            case "user_message":
                yield UserMessage(line, None, agent)
            case "run_start":
                run = event["run"]
                yield RunStarted(line, event["run"], None, agent)
            case other:
                raise AssertionError(other)


class Played:
    """What the guard did in a case, by call number."""

    def __init__(self, case: dict[str, Any]) -> None:
        config = {"tools": {"loopDetection": case["config"]}, "agents": case.get("agents") or {}}
        self.verdicts: list[Verdict] = []
        self.abort: int | None = None
        self.aborts_after: list[int] = []
        ended = False
        replay = Replay(config_from(config))
        number: dict[int, int] = {}
        for judged in replay.play(_events(case)):
            event, verdict = judged.event, judged.verdict
            if isinstance(event, RunStarted):
                ended = False
            if isinstance(event, ToolCalled):
                self.verdicts.append(verdict)
                number[id(event.call)] = len(self.verdicts)
            if verdict.action == "abort":
                call = number[id(event.call)] if isinstance(event, ToolCalled | ToolReturned) else 0
                self.aborts_after.append(call)
                if self.abort is None and not ended:
                    self.abort, ended = call, True
        self.most_state = max((len(json.dumps(guard.dump())) for guard in replay._guards.values()), default=0)
        self.warned = [n for n, verdict in enumerate(self.verdicts, 1) if verdict.action == "warn"]
        self.stopped = [n for n, verdict in enumerate(self.verdicts, 1) if verdict.stops]
        self.ends = [n for n, verdict in enumerate(self.verdicts, 1) if verdict.action == "abort"]


def _within(number: int | None, wanted: list[int] | None) -> bool:
    return number is None if wanted is None else number is not None and wanted[0] <= number <= wanted[1]


def _misses(case: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    """Return the parts of an expectation that are not met."""
    played = Played(case)
    by_compaction = played.abort is not None and played.verdicts[played.abort - 1].action != "abort"
    blocks = [n for n in played.stopped if not (by_compaction and played.abort is not None and n > played.abort)]
    first = {
        "first_warning_at": next(iter(played.warned), None),
        "first_block_at": next(iter(blocks), None),
        "abort": played.abort if by_compaction else next(iter(played.ends), None) if case["beyond_seed"] else None,
    }
    missed = [
        f"{key}: {first[key]}, wanted {expect[key]}"
        for key in first
        if key in expect and not _within(first[key], expect[key])
    ]
    happened = {"warning": played.warned, "block": blocks, "abort": played.aborts_after}
    missed += [f"never {what}, but at {happened[what][0]}" for what in expect.get("never", ()) if happened[what]]
    for low, high in expect.get("blocked", ()):
        missed += [f"call {n} is not blocked" for n in range(low, high + 1) if n not in played.stopped]
    for low, high in expect.get("allowed", ()):
        free = set(played.stopped) - set(played.ends)
        missed += [f"call {n} is blocked" for n in range(low, high + 1) if n in free]
    return missed


@pytest.mark.parametrize("case", SEED, ids=lambda case: case["id"])
def test_a_case_that_follows_from_the_seed_holds(case: dict[str, Any]) -> None:
    """Warnings, blocks and aborts come where the report requires them, and nowhere else."""
    assert _misses(case, case["expect"]) == []


NOT_HELD = {
    "FN-41": "each call returns a new result, and digits in a success are never masked",
    "FN-47": "thirteen equal failures are fewer than the documented twenty",
    "FN-49": "there are three agents, each with a history of its own",
}
"""Cases beyond the documented detection that are not met, each with its reason."""


def test_the_cases_beyond_the_seed_that_hold_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """They are scored separately, and a case that is newly met or no longer met fails this test."""
    missed = {case["id"] for case in BEYOND if _misses(case, case["expect"])}
    with capsys.disabled():
        held = len(BEYOND) - len(missed)
        print(f"\n{held} of {len(BEYOND)} field cases beyond the documented detection hold")

    assert missed == set(NOT_HELD)


def _rising(played: Played) -> bool:
    counts = [verdict.finding.count for verdict in played.verdicts if verdict.action == "block" and verdict.finding]
    return counts == sorted(set(counts)) and len(counts) > 1


PROPERTIES: dict[str, Callable[[dict[str, Any], Played], bool]] = {
    "abort_repeats_if_ignored": lambda _, played: played.aborts_after.count(3) == 1 and len(played.aborts_after) > 3,
    "block_is_result_not_exception": lambda _, played: all(
        verdict.advice for verdict in played.verdicts if verdict.action == "block"
    ),
    "bounded_memory": lambda _, played: played.most_state < 60_000,
    "no_exception": lambda case, played: len(played.verdicts) == case["calls"],
    "one_result_per_call_id": lambda case, played: len(played.verdicts) == case["calls"],
    "reason_names_tool_and_count": lambda case, played: all(
        "`exec`" in verdict.reason and str(verdict.finding.count) in verdict.reason
        for verdict in played.verdicts
        if verdict.action == "block" and verdict.finding
    ),
    "reported_count_rises_after_block": lambda _, played: _rising(played),
    "startup_notice_window_smaller_than_threshold": lambda case, _: bool(
        config_from({"tools": {"loopDetection": case["config"]}}).resolve().notices
    ),
    "warning_not_between_call_and_result": lambda _, played: all(
        verdict.advice for verdict in played.verdicts if verdict.action == "warn"
    ),
    "warning_text_not_hashed": lambda _, played: len(played.warned) == 1,
    "warning_visible_to_model": lambda _, played: all(
        verdict.advice for verdict in played.verdicts if verdict.action == "warn"
    ),
    "warnings_between_1_and_3": lambda _, played: 1 <= len(played.warned) <= 3,
}


@pytest.mark.parametrize(
    ("case", "name"),
    [(case, name) for case in CASES for name in case.get("properties") or ()],
    ids=lambda value: value if isinstance(value, str) else value["id"],
)
def test_a_case_has_the_properties_that_it_names(case: dict[str, Any], name: str) -> None:
    """Properties cover what numbers cannot express: texts, bounds and notices."""
    assert PROPERTIES[name](case, Played(case))
