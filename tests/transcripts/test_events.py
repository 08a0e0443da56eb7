"""The details of Wheelspin's own event log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.reading import of, outcomes, read, write
from wheelspin import Outcome
from wheelspin.transcripts.base import (
    Compacted,
    ConfigChanged,
    RunStarted,
    ToolCalled,
    ToolReturned,
    UserMessage,
)


def test_every_kind_of_event_is_read(tmp_path: Path) -> None:
    """Events are read with all keys, and with required keys only."""
    path = write(
        tmp_path,
        {"type": "config", "tools": {"loopDetection": {"enabled": True}}, "agents": {}},
        {
            "type": "call",
            "tool": "read",
            "args": {"a": 1},
            "id": "c",
            "turn": "t",
            "run": "r",
            "agent": "x",
            "session": "s",
        },
        {"type": "call", "tool": "list"},
        {"type": "result", "result": None},
        {"type": "result", "id": "c", "run": "r", "error": "boom", "error_kind": "Timeout"},
        {"type": "compaction"},
        {"type": "compaction", "ok": False, "agent": "x", "session": "s"},
        {"type": "user_message"},
        {"type": "run_start", "run": "r2"},
    )
    events, source = read(path)
    config, first, second, unnamed, named, compacted, failed, spoke, started = events

    assert source.problem_count == 0
    assert config == ConfigChanged(1, {"tools": {"loopDetection": {"enabled": True}}, "agents": {}})
    assert isinstance(first, ToolCalled)
    call = first.call
    assert (call.id, call.turn_id, call.run_id, call.agent_id, call.session_id) == ("c", "t", "r", "x", "s")
    assert isinstance(second, ToolCalled)
    assert second.call.agent_id == "main"
    assert unnamed == ToolReturned(4, second.call, Outcome.result(None))
    assert named == ToolReturned(5, call, Outcome.error("boom", "Timeout"))
    assert compacted == Compacted(6, None, "main", ok=True)
    assert failed == Compacted(7, "s", "x", ok=False)
    assert spoke == UserMessage(8, None, "main")
    assert started == RunStarted(9, "r2", None, "main")


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"result": [1]}, Outcome.result([1])),
        ({"error": "x"}, Outcome.error("x")),
        ({"error": "x", "error_kind": "unknown_tool"}, Outcome.unknown_tool("x")),
        ({"error": "x", "error_kind": "denied"}, Outcome.denied("x")),
        ({}, Outcome.missing()),
    ],
)
def test_every_kind_of_outcome_is_read(result: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
    """Two kinds of errors are outcomes of their own, and a result without an outcome is missing."""
    path = write(tmp_path, {"type": "call", "tool": "a", "id": "c"}, {"type": "result", "id": "c", **result})

    assert outcomes(read(path)[0]) == [outcome]


def test_a_result_belongs_to_the_newest_open_call_of_its_id_and_run(tmp_path: Path) -> None:
    """A call that is announced again becomes the newest."""
    path = write(
        tmp_path,
        {"type": "call", "tool": "a", "args": 1, "id": "c", "run": "r1"},
        {"type": "call", "tool": "a", "args": 2, "id": "c", "run": "r2"},
        {"type": "call", "tool": "a", "args": 3, "id": "c", "run": "r1"},
        {"type": "result", "id": "c", "run": "r1", "result": 0},
        {"type": "result", "id": "c", "result": 0},
    )
    answered = of(read(path)[0], ToolReturned)

    assert [event.call.arguments for event in answered] == [3, 2]


def test_what_means_nothing_is_noted(tmp_path: Path) -> None:
    """A result without a call and an event of an unknown type are noted."""
    _, source = read(write(tmp_path, {"type": "user_message"}, {"type": "result", "id": "x"}, {"type": "other"}))

    assert [problem.what for problem in source.problems] == [
        "a result without a call",
        "unknown event type 'other'",
    ]


def test_calls_that_are_never_answered_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest open calls are dropped."""
    monkeypatch.setattr("wheelspin.transcripts.events._MOST_OPEN", 2)
    calls = [{"type": "call", "tool": "a", "id": f"c{number}"} for number in range(3)]
    path = write(tmp_path, *calls, {"type": "result", "id": "c0"}, {"type": "result", "id": "c1"})

    assert len(of(read(path)[0], ToolReturned)) == 1
