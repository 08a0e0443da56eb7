"""The real Gemini CLI, guarded, against a scripted model."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import Ended, Home, replayed
from tests.agents.scripted_model import Ask, ScriptedModel

SHELL = "run_shell_command"
ECHO: list[Ask] = [(SHELL, {"command": "echo hi", "description": "say hi"})]
QUIET = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
WARNED = "<hook_context>Loop detected: `run_shell_command` was called 2 times in a row"
SHOP = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    method, given, result = asked.get("method"), asked.get("params", {}), {}
    if method == "initialize":
        result = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "shop", "version": "1"}
    elif method == "tools/list":
        result = {"tools": [{"name": "stock", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "none left"}, {"type": "text", "text": "nor elsewhere"}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
BLOCKED = "Tool execution blocked: Loop detected: `run_shell_command` was called 3 times in a row"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgAAACAAAB4iG8MwAAAABJRU5ErkJggg=="


@pytest.fixture
def gemini(home: Home, program: Callable[[str], str]) -> Callable[..., Ended]:
    """Return a function that runs a prompt in a guarded Gemini CLI, with settings of the user's own."""

    def run(scripted: ScriptedModel, *flags: str, **settings: Any) -> Ended:
        place = home.path / ".gemini" / "settings.json"
        if not place.exists():
            place.parent.mkdir()
            own = {"security": {"auth": {"selectedType": "gemini-api-key"}}, **QUIET, **settings}
            place.write_text(json.dumps(own))
            home.install("gemini-cli")
        return home.run(
            [program("gemini-cli"), "-p", "run the command", "--yolo", "--output-format", "stream-json", *flags],
            GOOGLE_GEMINI_BASE_URL=scripted.url,
            GEMINI_API_KEY="none",
            GEMINI_CLI_TRUST_WORKSPACE="true",
            GEMINI_CLI_NO_RELAUNCH="true",
        )

    return run


def _transcript(home: Home) -> Path:
    """Return the file of the main agent's session; a resumed session continues in it, and leaves another file empty."""
    chats = home.path / ".gemini" / "tmp" / "work" / "chats"
    return max(chats.glob("session-*.jsonl"), key=lambda path: path.stat().st_size)


def _seen(transcript: Path) -> list[tuple[str, int, int]]:
    """Return what a replay would have done, at which call and how often."""
    return [(action, call, times) for action, call, _, times in replayed(transcript, "early")]


def _counts(record: dict[str, Any]) -> tuple[int, int, int]:
    return record["calls"], record["warnings"], record["blocks"]


def test_the_guard_acts_before_gemini_s_own_detection(home: Home, gemini: Callable[..., Ended]) -> None:
    """The third call is warned about and the fourth is blocked; Gemini's own detection stops the fifth and sixth."""
    with ScriptedModel(lambda turn: ECHO if turn < 30 else []) as model:
        ended = gemini(model)
        shown, heard = model.shown(), model.heard()

    assert (ended.code, model.turns) == (0, 6)
    assert ended.lines()[-2]["message"] == "Loop detected, stopping execution"
    assert [is_error for _, is_error in shown] == [False, False, False, True]
    assert WARNED in shown[2].text
    assert shown[3].text.startswith(BLOCKED)
    assert "System: Potential loop detected" in heard
    assert [_counts(record) for record in home.records()] == [(4, 1, 1)]
    assert _seen(_transcript(home)) == [("warn", 3, 1), ("block", 4, 1)]
    assert home.log() == ""


def test_without_gemini_s_own_detection_the_run_is_ended(home: Home, gemini: Callable[..., Ended]) -> None:
    """The tenth call is not run, no further request reaches the model, and the exit code is 0."""
    with ScriptedModel(lambda turn: ECHO if turn < 30 else []) as model:
        ended = gemini(model, model={"disableLoopDetection": True})
        shown = model.shown()

    assert (ended.code, model.turns) == (0, 10)
    assert [number for number, (_, is_error) in enumerate(shown, 1) if is_error] == list(range(4, 10))
    last = next(line for line in ended.lines()[::-1] if line["type"] == "tool_result")
    assert last["error"]["type"] == "stop_execution"
    assert "wheelspin: 6 calls were blocked in a row" in last["output"]
    (record,) = home.records()
    assert (*_counts(record), record["code"], record["ended_at_call"]) == (10, 1, 7, "global_circuit_breaker", 10)
    assert _seen(_transcript(home)) == [("warn", 3, 1), ("block", 4, 6), ("abort", 10, 1)]
    assert home.log() == ""


def test_a_description_that_is_worded_anew_hides_no_loop(home: Home, gemini: Callable[..., Ended]) -> None:
    """Gemini's own detection compares descriptions and sees no loop; the guard ends the run. Each prompt is a run."""
    with ScriptedModel(lambda turn: [(SHELL, {"command": "echo hi", "description": f"try {turn}"})]) as model:
        gemini(model)
        assert model.turns == 10

    with ScriptedModel(lambda turn: ECHO if turn < 2 else []) as model:
        ended = gemini(model, "--resume", "latest")

    assert ended.lines()[-1]["status"] == "success"
    assert [record["ended_at_call"] for record in home.records()] == [None, 10]
    assert [_counts(record) for record in home.records()] == [(2, 0, 0), (10, 1, 7)]
    assert _seen(_transcript(home)) == [("warn", 3, 1), ("block", 4, 6), ("abort", 10, 1)]
    assert home.log() == ""


def test_work_is_left_alone(home: Home, gemini: Callable[..., Ended]) -> None:
    """The model reads no advice, and the task ends by itself; each call of a message counts."""
    with ScriptedModel(
        lambda turn: [(SHELL, {"command": f"echo {turn} {place}"}) for place in range(5)] if turn < 5 else []
    ) as model:
        ended = gemini(model)
        assert len(model.shown()) == 25
        assert "Loop detected" not in model.heard()

    assert ended.lines()[-1]["status"] == "success"
    assert [_counts(record) for record in home.records()] == [(25, 0, 0)]
    assert _seen(_transcript(home)) == []
    assert home.log() == ""


def test_whatever_a_tool_returns_is_compared_live_as_in_a_replay(home: Home, gemini: Callable[..., Ended]) -> None:
    """Pictures, texts of a server, truncated output and errors are compared alike, and each gets the advice."""
    (home.work / "dot.png").write_bytes(b64decode(PICTURE))
    (home.work / "long.txt").write_text("".join(f"line {number}\n" for number in range(9000)))
    server = home.path / "shop.py"
    server.write_text(SHOP)
    asked: list[Ask] = [
        ("read_file", {"file_path": "dot.png"}),
        ("mcp_shop_stock", {}),
        (SHELL, {"command": "cat long.txt"}),
        (SHELL, {"command": "exit 3"}),
        ("read_file", {"file_path": "missing.txt"}),
    ]
    with ScriptedModel(lambda turn: [asked[turn // 4]] if turn < 20 else []) as model:
        gemini(
            model,
            model={"disableLoopDetection": True},
            mcpServers={"shop": {"command": sys.executable, "args": [str(server)]}},
        )
        shown = model.shown()

    assert [number for number, result in enumerate(shown) if "<hook_context>" in result.text] == [2, 6, 10, 14]
    assert [number for number, result in enumerate(shown) if result.is_error] == [3, 7, 11, 15, 16, 17, 18, 19]
    assert "Output too large. Showing first" in shown[10].text
    assert shown[16].text in shown[18].text
    assert [number for number, result in enumerate(shown) if "Loop detected" in result.text] == [
        *(2, 3, 6, 7, 10, 11, 14, 15, 18, 19)
    ]
    seen = [(action, call, 1) for call in (3, 7, 11, 15, 19) for action, call in (("warn", call), ("block", call + 1))]
    assert _seen(_transcript(home)) == seen
    assert [_counts(record) for record in home.records()] == [(20, 5, 5)]
    assert home.log() == ""


def test_a_compaction_is_seen_by_a_replay_alone(home: Home, gemini: Callable[..., Ended]) -> None:
    """Gemini CLI calls no hook for it; live, the loop is warned about and blocked as usual."""
    with ScriptedModel(lambda turn: [(SHELL, {"command": f"echo {turn}"})] if turn < 4 else []) as model:
        gemini(model, model={"disableLoopDetection": True})
    with ScriptedModel(
        lambda turn: [(SHELL, {"command": f"echo {min(turn, 1)}"})] if turn < 9 else [],
        lambda turn: 700_000 if turn == 0 else 100,
    ) as model:
        gemini(model, "--resume", "latest")

    assert model.shortened > 0
    assert [_counts(record) for record in home.records()] == [(9, 1, 5), (4, 0, 0)]
    assert [seen[:3] for seen in replayed(_transcript(home), "early")] == [
        ("warn", 4, "immediate_repeat"),
        ("abort", 4, "compaction_loop_persisted"),
    ]
    assert home.log() == ""


def test_what_reaches_no_hook_is_seen_by_a_replay_alone(home: Home, gemini: Callable[..., Ended]) -> None:
    """Unknown tools and wrong arguments reach no hook; equal calls of one message and a failing command do."""
    unknown: list[Ask] = [("frobnicate", {})]
    wrong: list[Ask] = [("read_file", {"wrong": 1})]
    script: list[list[Ask]] = [
        *[unknown] * 4,
        *[wrong] * 4,
        [(SHELL, {"command": "exit 3"}), (SHELL, {"command": "exit 3"})],
        [("read_file", {"file_path": "missing.txt"})],
    ]
    with ScriptedModel(lambda turn: script[turn] if turn < len(script) else []) as model:
        gemini(model)
        shown = model.shown()

    assert [is_error for _, is_error in shown] == [True] * 8 + [False, False, True]
    assert "Exit Code: 3" in shown[8].text
    assert [_counts(record) for record in home.records()] == [(3, 0, 0)]
    assert _seen(_transcript(home)) == [("warn", 3, 1), ("block", 4, 1), ("warn", 7, 1), ("block", 8, 1)]
    assert home.log() == ""


def test_a_sub_agent_that_loops_runs_nothing_more(home: Home, gemini: Callable[..., Ended]) -> None:
    """Its calls count as the main agent's; it goes on to its own limit of turns, and then the run ends."""
    with ScriptedModel(
        lambda turn: [("invoke_agent", {"agent_name": "generalist", "prompt": "go on"})] if turn == 0 else ECHO
    ) as model:
        ended = gemini(model)
        shown = model.shown()

    assert [is_error for _, is_error in shown[:4]] == [False, False, False, True]
    assert all(is_error for _, is_error in shown[3:])
    last = ended.lines()[-2]
    assert (ended.code, last["type"], last["error"]["type"]) == (0, "tool_result", "stop_execution")
    assert last["tool_id"].startswith("invoke_agent")
    (record,) = home.records()
    assert (record["agent_id"], record["warnings"], record["ended_at_call"]) == (None, 1, 11)
    (its_own,) = _transcript(home).parent.glob("*/*.jsonl")
    assert _seen(_transcript(home)) == []
    assert _seen(its_own)[0] == ("warn", 3, 1)
    assert _seen(its_own)[-1][:2] == ("abort", 10)
    assert home.log() == ""
