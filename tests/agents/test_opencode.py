"""The real opencode, guarded, against a scripted model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import Ended, Home, replayed
from tests.agents.scripted_model import Ask, ScriptedModel

ECHO: list[Ask] = [("bash", {"command": "echo hi", "description": "say hi"})]
ENDED = "Wheelspin ended this run: see its last tool result."
GUARD_ENDED = {"name": "UnknownError", "data": {"message": ENDED}}

Run = Callable[..., Ended]
Export = Callable[[str], Path]


@pytest.fixture
def opencode(home: Home, program: Callable[[str], str]) -> Run:
    """Return a function that runs a prompt in a guarded opencode, without the downloads of its first start."""
    home.install("opencode")
    place = home.path / ".config" / "opencode"
    (place / "node_modules").mkdir()
    fetched = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (place / "package-lock.json").write_text(json.dumps(fetched))
    (home.path / "models.json").write_text("{}")

    def run(model: ScriptedModel, *flags: str, **settings: Any) -> Ended:
        (place / "opencode.json").write_text(json.dumps({**_settings(model), **settings}))
        return home.run(
            [program("opencode"), "run", "--format", "json", *flags, "run the command"],
            **_environment(home),
        )

    return run


@pytest.fixture
def export(home: Home, program: Callable[[str], str]) -> Export:
    """Return a function that exports a session to a file, since opencode truncates a long one written to a pipe."""

    def write(session: str) -> Path:
        place = home.path / f"{session}.json"
        command = ["sh", "-c", '"$0" export "$1" > "$2"', program("opencode"), session, str(place)]
        assert home.run(command, **_environment(home)).code == 0
        return place

    return write


def _environment(home: Home) -> dict[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_MODELS_PATH": str(home.path / "models.json"),
    }


def _settings(model: ScriptedModel) -> dict[str, Any]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"},
        "models": {"scripted": {"limit": {"context": 100_000, "output": 1000}}},
    }
    name = "scripted/scripted"
    return {"provider": {"scripted": provider}, "model": name, "small_model": name, "share": "disabled"}


def _error(ended: Ended) -> Any:
    """Return the error that a run ended with."""
    last = ended.lines()[-1]
    return last["error"] if last["type"] == "error" else None


def test_a_loop_is_warned_about_blocked_and_ended(home: Home, opencode: Run, export: Export) -> None:
    """Each step comes at its documented count; opencode's own `doom_loop` does not see calls of several messages."""
    with ScriptedModel(lambda turn: ECHO if turn < 60 else []) as model:
        ended = opencode(model)
        shown = [text for text, _ in model.shown()]

    assert (ended.code, model.turns, _error(ended)) == (1, 31, GUARD_ENDED)
    assert [number for number, text in enumerate(shown, 1) if text != "hi\n"] == [11, *range(21, 31)]
    assert shown[10].startswith("hi\n\n\nLoop detected: `bash` was called 10 times")
    assert shown[20].startswith("Loop detected: `bash` was called 20 times")
    last = [line["part"]["state"] for line in ended.lines() if line["type"] == "tool_use"][-1]
    assert (last["status"], last["error"][:44]) == ("error", "Loop detected: `bash` was called 30 times wi")
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"], record["code"], record["ended_at_call"]) == (
        *(31, 1, 11),
        *("global_circuit_breaker", 31),
    )
    assert record["run_id"].startswith("msg_")
    assert replayed(export(record["session_id"])) == [
        ("warn", 11, "generic_repeat", 1),
        ("block", 21, "generic_repeat", 10),
        ("abort", 31, "global_circuit_breaker", 1),
    ]
    assert home.log() == ""


def test_work_is_left_alone(home: Home, opencode: Run) -> None:
    """Five calls in each of five messages bring no advice, and the task ends by itself."""
    calls: list[Ask] = [("bash", {"command": f"echo step {number}"}) for number in range(25)]
    with ScriptedModel(lambda turn: calls[5 * turn : 5 * turn + 5]) as model:
        ended = opencode(model)

    assert (ended.code, _error(ended)) == (0, None)
    assert [text for text, _ in model.shown()] == [f"step {number}\n" for number in range(25)]
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (25, 0, 0)
    assert home.log() == ""


def test_a_loop_that_survives_a_compaction_ends_the_run(home: Home, opencode: Run, export: Export) -> None:
    """A compaction arms the guard, and three equal outcomes after it end the run; the next prompt begins another."""
    tokens = {2: 99_500}
    summary = ("anchored summary",)
    with ScriptedModel(lambda turn: ECHO if turn < 30 else [], lambda turn: tokens.get(turn, 100), summary) as model:
        ended = opencode(model)

    assert (model.shortened, model.turns) == (1, 6)
    assert (ended.code, _error(ended)) == (1, GUARD_ENDED)
    (record,) = home.records()
    assert (record["calls"], record["code"]) == (6, "compaction_loop_persisted")

    with ScriptedModel(lambda turn: ECHO if turn < 2 else []) as model:
        assert opencode(model, "--continue").code == 0
    assert [text for text, _ in model.shown()][-2:] == ["hi\n"] * 2
    assert [record["calls"] for record in home.records()] == [2, 6]
    assert replayed(export(record["session_id"])) == [("abort", 6, "compaction_loop_persisted", 1)]


MCP_SERVER = """\
import json, sys
SERVER = {"name": "m", "version": "1"}
answers = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": SERVER},
    "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "the same"}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answers.get(asked["method"], {})}), flush=True)
"""


def test_failing_calls_unknown_tools_and_mcp_tools_are_seen(home: Home, opencode: Run, export: Export) -> None:
    """A failure gets its advice once, where the model reads it; an unknown tool keeps the name that was called."""
    home.configure("{preset: 'early'}")
    server = {"m": {"type": "local", "command": [sys.executable, "-c", MCP_SERVER]}}
    turns: list[Ask] = [*[("read", {"filePath": "none.txt"})] * 4, *[("Frobnicate", {})] * 3, *[("m_look", {})] * 3]
    with ScriptedModel(lambda turn: turns[turn : turn + 1]) as model:
        opencode(model, mcp=server)
        shown = [text for text, _ in model.shown()]

    failure = f"File not found: {home.work / 'none.txt'}"
    assert shown[:2] == [failure] * 2
    assert shown[2].startswith(f"{failure}\n\nLoop detected: `read` was called 2 times in a row")
    assert shown[2].count("Loop detected") == 1
    assert shown[3].startswith("Loop detected: `read` was called 3 times in a row")
    assert "unavailable tool 'Frobnicate'" in shown[4]
    assert "Loop detected: `Frobnicate` was called 2 times" in shown[6]
    assert shown[7:9] == ["the same"] * 2
    assert shown[9].startswith("the same\n\nLoop detected: `m_look` was called 2 times in a row")
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (10, 3, 1)
    seen = replayed(export(record["session_id"]), "early")
    assert [(action, call) for action, call, *_ in seen] == [("warn", 3), ("block", 4), ("warn", 7), ("warn", 10)]


LARGE: list[Ask] = [("bash", {"command": "seq 1 20000"})]
FAILING: list[Ask] = [("bash", {"command": 'echo "1 failed in 0.$RANDOM s"; exit 1'})]


def test_a_replay_sees_what_the_hook_saw(home: Home, opencode: Run, export: Export) -> None:
    """Outputs saved to a file and failures that contain a time are compared alike, live and in a replay."""
    home.configure("{preset: 'early'}")
    turns = [*[LARGE] * 4, *[FAILING] * 4]
    with ScriptedModel(lambda turn: turns[turn] if turn < len(turns) else []) as model:
        opencode(model)

    (record,) = home.records()
    seen = replayed(export(record["session_id"]), "early")
    assert [(action, call) for action, call, *_ in seen] == [("warn", 3), ("block", 4), ("warn", 7), ("block", 8)]
    assert (record["calls"], record["code"]) == (8, None)
    assert record["warnings"] == sum(action == "warn" for action, *_ in seen)
    assert record["blocks"] == sum(times for action, _, _, times in seen if action == "block")


def test_calls_of_one_message_are_compared_live_as_in_a_replay(home: Home, opencode: Run, export: Export) -> None:
    """The order in which the hook is called for them is random, so only that the loop is seen is certain."""
    home.configure("{preset: 'early'}")
    with ScriptedModel(lambda turn: [*LARGE, *FAILING] if turn < 6 else []) as model:
        opencode(model)

    (record,) = home.records()
    seen = replayed(export(record["session_id"]), "early")
    assert (record["calls"], record["code"]) == (12, None)
    assert record["warnings"] > 0
    assert any(action == "warn" for action, *_ in seen)


def test_a_sub_agent_is_ended_on_its_own(home: Home, opencode: Run, export: Export) -> None:
    """It is a session of its own; the agent that started it reads that it failed, and goes on."""
    home.configure("{warningThreshold: 1, criticalThreshold: 2, globalCircuitBreakerThreshold: 3}")
    task: list[Ask] = [("task", {"description": "go", "prompt": "go", "subagent_type": "general"})]
    with ScriptedModel(lambda turn: task if turn == 0 else ECHO if turn < 6 else []) as model:
        ended = opencode(model)
        shown = [text for text, _ in model.shown()]

    assert (ended.code, _error(ended)) == (0, None)
    assert shown[0].endswith(f"): {ENDED}")
    assert shown[1:] == ["hi\n"]
    ours, theirs = home.records()
    assert [(ours["calls"], ours["code"]), (theirs["calls"], theirs["code"])] == [
        (2, None),
        (4, "global_circuit_breaker"),
    ]
    limits = {"warning_threshold": 1, "critical_threshold": 2, "global_circuit_breaker_threshold": 3}
    assert replayed(export(ours["session_id"]), settings=limits) == []
    seen = replayed(export(theirs["session_id"]), settings=limits)
    assert [(action, call) for action, call, *_ in seen] == [("warn", 2), ("block", 3), ("abort", 4)]


def test_three_equal_calls_in_one_message_are_stopped_by_opencode_itself(home: Home, opencode: Run) -> None:
    """It asks for the permission `doom_loop`, which `opencode run` refuses; the guard has not warned yet."""
    with ScriptedModel(lambda turn: ECHO * 3 if turn < 9 else []) as model:
        ended = opencode(model)

    assert "permission requested: doom_loop (bash); auto-rejecting" in ended.err
    assert (ended.code, model.turns) == (1, 1)
    assert "rejected permission" in _error(ended)["data"]["message"]


HOOKS_THAT_FAIL = """\
echo >> runs
case $(wc -l < runs) in
  2) echo rubbish;;
  3) exit 3;;
  4) echo '{"advice": 7, "abort"';;
  5) exec sleep 600;;
  6) echo null;;
  7) rm "$0";;
esac
"""


def test_whatever_becomes_of_the_hook_the_calls_run(home: Home, opencode: Run) -> None:
    """Calls run although the hook replies with rubbish, fails, hangs or is missing."""
    hook = home.work / "hook"
    hook.write_text(f"#!/bin/sh\n{HOOKS_THAT_FAIL}")
    hook.chmod(0o755)
    plugin = home.path / ".config" / "opencode" / "plugin" / "wheelspin.js"
    lines = plugin.read_text().replace("timeout: 10_000", "timeout: 1000").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("const [PROGRAM"))
    lines[place] = f"const [PROGRAM, ...WORDS] = [{json.dumps(str(hook))}]"
    plugin.write_text("\n".join(lines))

    with ScriptedModel(lambda turn: ECHO if turn < 5 else []) as model:
        ended = opencode(model)

    assert ended.code == 0
    assert [text for text, _ in model.shown()] == ["hi\n"] * 5
    assert (home.work / "runs").read_text().count("\n") == 7
    assert not hook.exists()


def test_a_project_s_plugin_guards_that_project(home: Home, opencode: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together with the user's plugin, it counts no call twice."""
    from wheelspin.cli import main

    monkeypatch.chdir(home.work)
    assert main(["install", "opencode", "--scope", "project"]) == 0
    assert Path(".opencode/plugin/wheelspin.js").exists()
    (home.work / ".opencode" / "node_modules").mkdir()
    lock = home.path / ".config" / "opencode" / "package-lock.json"
    (home.work / ".opencode" / "package-lock.json").write_text(lock.read_text())
    home.configure("{warningThreshold: 2, criticalThreshold: 4}")

    with ScriptedModel(lambda turn: ECHO if turn < 5 else []) as model:
        opencode(model)
        shown = [text for text, _ in model.shown()]

    assert [number for number, text in enumerate(shown, 1) if text != "hi\n"] == [3, 5]
    assert shown[2].count("Loop detected") == 1
