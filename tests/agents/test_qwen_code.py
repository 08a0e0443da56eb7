"""The real Qwen Code, guarded, against a scripted model."""

from __future__ import annotations

import json
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
WARNED = "Loop detected: `run_shell_command` was called 2 times in a row"
SEES_PICTURES = "qwen3-vl-plus"
"""A model to which Qwen Code passes pictures."""
BLOCKED = "Loop detected: `run_shell_command` was called 3 times in a row"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII="


@pytest.fixture
def qwen(home: Home, program: Callable[[str], str]) -> Callable[..., Ended]:
    """Return a function that runs a prompt in a guarded Qwen Code, with settings of the user's own."""

    def run(scripted: ScriptedModel, *flags: str, name: str = "scripted", **settings: Any) -> Ended:
        place = home.path / ".qwen" / "settings.json"
        if not place.exists():
            place.parent.mkdir()
            place.write_text(json.dumps({**QUIET, **settings}))
            home.install("qwen-code")
        return home.run(
            [program("qwen-code"), "-p", "run the command", "--yolo", "--output-format", "stream-json", *flags],
            OPENAI_BASE_URL=f"{scripted.url}/v1",
            OPENAI_API_KEY="none",
            OPENAI_MODEL=name,
            QWEN_CODE_NO_RELAUNCH="true",
        )

    return run


def _anew(turn: int) -> list[Ask]:
    return [(SHELL, {"command": "echo hi", "description": f"try {turn}"})]


def _transcripts(home: Home) -> list[Path]:
    """Return the file of the main agent's session, and then those of its sub-agents."""
    sessions = home.path / ".qwen" / "projects"
    return [*sessions.glob("*/chats/*.jsonl"), *sessions.glob("*/subagents/*/*.jsonl")]


def _seen(home: Home) -> list[tuple[str, int, int]]:
    """Return what a replay of the main agent's session would have done, at which call and how often."""
    return [(action, call, times) for action, call, _, times in replayed(_transcripts(home)[0], "early")]


def _counts(record: dict[str, Any]) -> tuple[int, int, int]:
    return record["calls"], record["warnings"], record["blocks"]


def test_a_loop_is_ended_and_the_next_prompt_is_guarded_anew(home: Home, qwen: Callable[..., Ended]) -> None:
    """The guard ends it after the tenth call, or Qwen Code itself at the fifth if it recognises the loop."""
    with ScriptedModel(_anew) as model:
        ended = qwen(model)

    assert (ended.code, model.turns) == (0, 10)
    assert (ended.lines()[-1]["subtype"], ended.lines()[-1]["result"]) == ("success", "")

    with ScriptedModel(lambda turn: ECHO if turn < 30 else []) as model:
        ended = qwen(model, "--continue")
        texts = [result.text for result in model.shown()]

    assert (ended.code, model.turns, len(texts)) == (1, 5, 14)
    assert "consecutive_identical_tool_calls" in ended.lines()[-1]["error"]["message"]
    for first in (0, 10):
        assert WARNED in texts[first + 2]
        assert texts[first + 2].startswith("Command: echo hi\n")
        assert texts[first + 3].startswith(BLOCKED)
    assert "6 calls were blocked in a row" in texts[9]
    assert [_counts(record) for record in home.records()] == [(4, 1, 1), (10, 1, 7)]
    assert _seen(home) == [("warn", 3, 1), ("block", 4, 6), ("abort", 10, 1), ("warn", 3, 1), ("block", 4, 1)]
    assert home.log() == ""


def test_work_is_left_alone(home: Home, qwen: Callable[..., Ended]) -> None:
    """The model reads no advice, and the task ends by itself; each call of a message counts."""
    with ScriptedModel(
        lambda turn: [(SHELL, {"command": f"echo {turn} {place}"}) for place in range(5)] if turn < 5 else []
    ) as model:
        ended = qwen(model)
        assert len(model.shown()) == 25
        assert "Loop detected" not in model.heard()

    assert (ended.code, ended.lines()[-1]["result"]) == (0, "done")
    assert [_counts(record) for record in home.records()] == [(25, 0, 0)]
    assert _seen(home) == []
    assert home.log() == ""


def test_whatever_a_tool_returns_is_compared_live_as_in_a_replay(home: Home, qwen: Callable[..., Ended]) -> None:
    """Pictures, truncated output and failures are compared alike, with advice added to them or without."""
    picture, long = home.work / "dot.png", home.work / "long.txt"
    picture.write_bytes(b64decode(PICTURE))
    long.write_text("".join(f"line {number}\n" for number in range(9000)))
    asked: list[Ask] = [
        ("read_file", {"file_path": str(picture)}),
        (SHELL, {"command": "cat long.txt"}),
        (SHELL, {"command": "exit 3"}),
        ("read_file", {"file_path": str(home.work / "missing.txt")}),
    ]
    with ScriptedModel(lambda turn: [asked[turn // 4]] if turn < 16 else []) as model:
        qwen(model, name=SEES_PICTURES)
        advised = [number for number, (text, _) in enumerate(model.shown()) if "Loop detected" in text]
        assert "Tool output was too large" in model.shown()[6].text
        assert "data:image" in model.heard()

    assert advised == [number for first in range(0, 16, 4) for number in (first + 2, first + 3)]
    seen = [(action, call, 1) for call in (3, 7, 11, 15) for action, call in (("warn", call), ("block", call + 1))]
    assert _seen(home) == seen
    assert [_counts(record) for record in home.records()] == [(16, 4, 4)]
    assert home.log() == ""


def test_a_loop_that_survives_a_compaction_ends_the_run(home: Home, qwen: Callable[..., Ended]) -> None:
    """A compaction arms the guard, and three equal outcomes after it end the run."""
    with ScriptedModel(
        lambda turn: [(SHELL, {"command": f"echo {min(turn, 5)}"})] if turn < 30 else [],
        lambda turn: 170_000 if turn == 4 else 100,
        summary_tokens=160_000,
    ) as model:
        ended = qwen(model)

    assert model.shortened > 0
    assert (ended.code, model.turns, ended.lines()[-1]["result"]) == (0, 8, "")
    (record,) = home.records()
    assert (record["calls"], record["code"], record["ended_at_call"]) == (8, "compaction_loop_persisted", 8)
    assert [intervention[:3] for intervention in replayed(_transcripts(home)[0], "early")] == [
        ("warn", 8, "immediate_repeat"),
        ("abort", 8, "compaction_loop_persisted"),
    ]
    assert home.log() == ""


def test_calls_that_never_reach_pre_tool_use_are_seen(home: Home, qwen: Callable[..., Ended]) -> None:
    """Unknown tools, wrong arguments and calls that a rule denies get the advice with the answer."""
    script: list[list[Ask]] = [
        *([("frobnicate", {"n": number})] for number in range(5)),
        *([("read_file", {"n": number})] for number in range(5)),
        *([(SHELL, {"command": f"rm {number}"})] for number in range(5)),
    ]
    with ScriptedModel(lambda turn: script[turn] if turn < len(script) else []) as model:
        qwen(model, permissions={"deny": ["Bash(rm *)"]})
        texts = [result.text for result in model.shown()]

    advised = [number for number, text in enumerate(texts) if "Loop detected" in text]
    assert advised == [4, 9, 14]
    assert "`frobnicate` was called 4 times, but there is no tool of that name" in texts[4]
    assert "`read_file` has failed 4 times" in texts[9]
    assert texts[14].startswith('This "run_shell_command" invocation was denied by permission rules.')
    assert [_counts(record) for record in home.records()] == [(15, 2, 1)]
    assert _seen(home) == [("block", 5, 1), ("warn", 10, 1), ("warn", 15, 1)]
    assert home.log() == ""


def test_a_sub_agent_is_not_ended(home: Home, qwen: Callable[..., Ended]) -> None:
    """It has a history of its own; after the end of its run its calls are refused, but it can go on calling."""
    task: Ask = ("agent", {"description": "loop", "prompt": "go on", "run_in_background": False})
    with ScriptedModel(lambda turn: [task] if turn == 0 else _anew(turn) if turn < 13 else []) as model:
        ended = qwen(model)

    assert (ended.code, model.turns, ended.lines()[-1]["result"]) == (0, 15, "done")
    main, sub = sorted(home.records(), key=lambda record: record["agent_id"] or "")
    assert (main["calls"], main["ended_at_call"]) == (1, None)
    assert (sub["calls"], sub["blocks"], sub["ended_at_call"]) == (12, 9, 10)
    (transcript,) = _transcripts(home)[1:]
    assert _seen(home) == []
    assert [intervention[:2] for intervention in replayed(transcript, "early")] == [
        ("warn", 3),
        ("block", 4),
        ("abort", 10),
    ]
    assert home.log() == ""


def test_no_hook_of_a_tool_can_end_a_run(home: Home, qwen: Callable[..., Ended]) -> None:
    """A second hook that tries to only removes the results."""
    hooks = {
        event: [
            {"hooks": [{"type": "command", "command": f"echo '{json.dumps({'continue': False, 'reason': event})}'"}]}
        ]
        for event in ("PreToolUse", "PostToolUse", "PostToolBatch")
    }
    with ScriptedModel(lambda turn: [(SHELL, {"command": f"echo {turn}"})] if turn < 3 else []) as model:
        ended = qwen(model, hooks=hooks)
        texts = [result.text for result in model.shown()]

    assert (ended.code, model.turns, ended.lines()[-1]["result"]) == (0, 4, "done")
    assert texts == ["PostToolBatch"] * 3
    assert [_counts(record) for record in home.records()] == [(3, 0, 0)]
    assert home.log() == ""
