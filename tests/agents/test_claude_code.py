"""The real Claude Code, guarded, against a scripted model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.agents.conftest import Ended, Home, replayed
from tests.agents.scripted_model import Ask, ScriptedModel
from tests.conftest import ROOT

PLUGIN = ROOT / "plugins" / "claude-code"
ECHO: list[Ask] = [("Bash", {"command": "echo hi", "description": "say hi"})]


class Run(Protocol):
    """Run a prompt in Claude Code."""

    def __call__(self, model: ScriptedModel, *more: str) -> Ended: ...


@pytest.fixture
def unguarded(home: Home, program: Callable[[str], str]) -> Run:
    """Return a function that runs a prompt in Claude Code without the hook."""
    flags = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]

    def run(model: ScriptedModel, *more: str) -> Ended:
        return home.run(
            [program("claude-code"), "-p", "run the command", *flags, *more],
            PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            ANTHROPIC_BASE_URL=model.url,
            ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_AUTOUPDATER="1",
            IS_SANDBOX="1",
        )

    return run


@pytest.fixture
def claude(home: Home, unguarded: Run) -> Run:
    """Return a function that runs a prompt in a guarded Claude Code."""
    home.install("claude-code")
    return unguarded


def _transcript(home: Home) -> Path:
    (transcript,) = (home.path / ".claude" / "projects").rglob("*.jsonl")
    return transcript


def test_a_loop_is_warned_about_blocked_and_ended(home: Home, claude: Run) -> None:
    """Each step comes at its documented count, the model reads the warning with a result, and a replay agrees."""
    with ScriptedModel(lambda turn: ECHO if turn < 60 else []) as model:
        ended = claude(model)
        shown, heard = model.shown(), model.heard()

    assert ended.lines()[-1]["terminal_reason"] == "hook_stopped"
    assert model.turns == 31
    assert [number for number, (_, is_error) in enumerate(shown, 1) if is_error] == list(range(21, 31))
    assert "Loop detected: `Bash` was called 20 times" in shown[20][0]
    assert "hook additional context: Loop detected: `Bash` was called 10 times" in heard
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"], record["code"], record["ended_at_call"]) == (
        *(31, 1, 11),
        *("global_circuit_breaker", 31),
    )
    assert replayed(_transcript(home)) == [
        ("warn", 11, "generic_repeat", 1),
        ("block", 21, "generic_repeat", 10),
        ("abort", 31, "global_circuit_breaker", 1),
    ]
    assert home.log() == ""


def test_work_is_left_alone(home: Home, claude: Run) -> None:
    """The model reads no advice, and the task ends by itself."""
    with ScriptedModel(lambda turn: [("Bash", {"command": f"echo step {turn}"})] if turn < 25 else []) as model:
        ended = claude(model)
        assert "Loop detected" not in model.heard()

    assert ended.lines()[-1]["terminal_reason"] == "completed"
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (25, 0, 0)
    assert home.log() == ""


def test_a_loop_that_survives_a_compaction_ends_the_run(home: Home, claude: Run) -> None:
    """A compaction arms the guard, and three equal outcomes after it end the run."""
    tokens = {4: 990_000}
    with ScriptedModel(lambda turn: ECHO if turn < 30 else [], lambda turn: tokens.get(turn, 100)) as model:
        ended = claude(model)

    assert model.shortened == 1
    assert ended.lines()[-1]["terminal_reason"] == "hook_stopped"
    assert home.records()[0]["code"] == "compaction_loop_persisted"
    assert [action for action, *_ in replayed(_transcript(home))] == ["abort"]


def test_an_image_that_is_looked_at_again_and_again_is_a_loop(home: Home, claude: Run) -> None:
    """It is blocked although each result names a new file that the image was saved to."""
    server = {"command": sys.executable, "args": [str(ROOT / "tests" / "mcp_server.py")]}
    look: list[Ask] = [("mcp__files__look", {})]
    with ScriptedModel(lambda turn: look if turn < 22 else []) as model:
        claude(model, "--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": {"files": server}}))
        shown = model.shown()

    assert "mcp-files-blob-" in shown[0][0]
    assert [number for number, (_, is_error) in enumerate(shown, 1) if is_error] == [21, 22]
    assert [(action, call) for action, call, *_ in replayed(_transcript(home))] == [("warn", 11), ("block", 21)]


def test_parallel_calls_and_unknown_tools_are_seen(home: Home, claude: Run) -> None:
    """All three calls of a message count, and an unknown tool is seen although `PreToolUse` is never called for it."""
    three = [("Bash", {"command": f"echo {number}"}) for number in range(3)]
    with ScriptedModel(lambda turn: three if turn < 4 else [("Frobnicate", {})] if turn < 16 else []) as model:
        claude(model)
        assert "Loop detected: `Frobnicate` was called 10 times, but there is no tool of that name" in model.heard()

    assert home.records()[0]["calls"] == 24


def test_the_plugin_and_the_marketplace_are_valid(home: Home, program: Callable[[str], str]) -> None:
    """Claude Code's own check accepts both."""
    for folder in (PLUGIN, ROOT):
        checked = home.run([program("claude-code"), "plugin", "validate", str(folder)])

        assert checked.code == 0, checked.out
        assert "Validation passed" in checked.out


@pytest.mark.parametrize("is_installed", [False, True], ids=["alone", "beside the installed hook"])
def test_the_plugin_guards_as_the_installed_hook_does(home: Home, unguarded: Run, *, is_installed: bool) -> None:
    """If both are installed, each call counts once."""
    if is_installed:
        home.install("claude-code")
    with ScriptedModel(lambda turn: ECHO if turn < 60 else []) as model:
        ended = unguarded(model, "--plugin-dir", str(PLUGIN))
        heard = model.heard()

    assert ended.lines()[-1]["terminal_reason"] == "hook_stopped"
    assert heard.count("hook additional context: Loop detected: `Bash` was called 10 times") == 1
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (31, 1, 11)
