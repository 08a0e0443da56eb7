"""Many hook processes at once, and processes that are killed: no step is lost, and none counts twice."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import Home
from wheelspin.hooks.launcher import words_for

AT_ONCE = 8
ROUNDS = 200
KILLS = 100


@pytest.fixture
def guarded(home: Home) -> Home:
    """Give a home in which Claude Code is guarded."""
    home.install("claude-code")
    return home


def _start(home: Home, payload: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the hook as a host does."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        words_for("claude-code"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"HOME": str(home.path)},
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({"session_id": "s1", "prompt_id": "p1", **payload}).encode())
    process.stdin.close()
    return process


def _call(number: int) -> dict[str, Any]:
    return {"tool_name": "Read", "tool_input": {"file_path": f"/{number}"}, "tool_use_id": f"t{number}"}


def _before(number: int) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", **_call(number)}


def _after(number: int) -> dict[str, Any]:
    return {"hook_event_name": "PostToolUse", **_call(number), "tool_response": f"text {number}"}


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        return process.wait(), process.stdout.read(), process.stderr.read()


def _state(home: Home) -> dict[str, Any]:
    with sqlite3.connect(_database(home)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        state = json.loads(opened.execute("SELECT state FROM sessions").fetchone()[0])
    opened.close()
    ((*_, run),) = state["runs"]
    found: dict[str, Any] = run
    return found


def _database(home: Home) -> Path:
    return home.path / ".local/state/wheelspin/sessions.db"


def test_eight_processes_at_once_count_every_step_once(guarded: Home) -> None:
    """Two hundred rounds: eight calls are asked about at once, then their outcomes come at once, in any order."""
    for number in range(ROUNDS // 2):
        calls = range(number * AT_ONCE, (number + 1) * AT_ONCE)
        for event in (_before, _after):
            for process in [_start(guarded, event(call)) for call in calls]:
                assert _ended(process) == (0, b"", b"")

    run = _state(guarded)
    assert (run["calls"], run["warnings"], run["blocks"]) == (ROUNDS // 2 * AT_ONCE, 0, 0)
    assert {kind for _, _, kind, *_ in run["steps"]} == {"result"}
    assert guarded.log() == ""


def test_a_killed_process_takes_nothing_with_it_but_its_own_step(guarded: Home) -> None:
    """A hundred times, at another moment each time: the store opens, and every step of the others is there."""
    killed = counted = 0
    for number in range(KILLS):
        _ended(_start(guarded, _before(2 * number)))
        victim = _start(guarded, _before(2 * number + 1))
        with suppress(subprocess.TimeoutExpired):
            victim.wait(timeout=number * 0.001)
        victim.kill()
        killed += _ended(victim)[0] == -signal.SIGKILL
        calls = _state(guarded)["calls"]
        assert calls - counted in {1, 2}
        counted = calls

    assert killed > KILLS // 4
    assert guarded.log() == ""
    assert not list(_database(guarded).parent.glob("*.damaged-*"))
