"""The real GitHub Copilot CLI, guarded, against a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.agents.conftest import FOLDER, Ended, Home, replayed
from tests.agents.scripted_model import Ask, ScriptedModel
from wheelspin.cli import main
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import ToolCalled
from wheelspin.transcripts.files import TranscriptFile

SHORTENS = ("Please create a detailed summary of the conversation",)
SOON = "{warningThreshold: 2, criticalThreshold: 3, globalCircuitBreakerThreshold: 5}"
"""A warning with the 3rd call, blocks from the 4th on, the end at the 6th."""
AS_SOON = {"warning_threshold": 2, "critical_threshold": 3, "global_circuit_breaker_threshold": 5}
"""The same settings for a replay."""


def _bash(command: str, say: str = "say hi") -> list[Ask]:
    return [("bash", {"command": command, "description": say})]


class Copilot(Protocol):
    """Run a prompt in a guarded Copilot CLI."""

    def __call__(self, model: ScriptedModel, *flags: str) -> Ended: ...


@pytest.fixture
def copilot(home: Home, program: Callable[[str], str]) -> Copilot:
    """Return a function that runs a prompt in a guarded Copilot CLI."""
    home.install("copilot-cli")

    def run(model: ScriptedModel, *flags: str) -> Ended:
        return home.run(
            [program("copilot-cli"), "-p", "run the command", "--allow-all-tools", *flags],
            COPILOT_PROVIDER_BASE_URL=f"{model.url}/v1",
            COPILOT_MODEL="scripted",
            COPILOT_OFFLINE="true",
            COPILOT_CACHE_HOME=str(FOLDER / "copilot-cli" / "cache"),
        )

    return run


def _hooks(home: Home) -> Path:
    return home.path / ".copilot" / "hooks"


def _transcript(home: Home) -> Path:
    (transcript,) = (home.path / ".copilot" / "session-state").rglob("events.jsonl")
    return transcript


def test_a_loop_is_warned_about_blocked_and_ended(home: Home, copilot: Copilot) -> None:
    """Each step comes at its documented count, the model reads the warning with the result, and the exit code is 0."""
    with ScriptedModel(lambda turn: _bash("echo hi >> ran", f"try {turn}") if turn < 60 else []) as model:
        ended = copilot(model)
        shown = [result.text for result in model.shown()]

    assert ended.code == 0
    assert model.turns == 31
    assert (home.work / "ran").read_text() == "hi\n" * 20
    assert "Permission denied by a PermissionRequest hook: wheelspin: Loop detected: `bash`" in " ".join(
        ended.out.split()
    )
    assert [number for number, text in enumerate(shown, 1) if "Loop detected" in text] == [11, *range(21, 31)]
    assert "Additional guidance from postToolUse hooks:\nLoop detected: `bash` was called 10 times" in shown[10]
    assert shown[20].startswith("Denied by preToolUse hook: Loop detected: `bash` was called 20 times")
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


def test_work_is_left_alone(home: Home, copilot: Copilot) -> None:
    """The model reads no advice, and the task ends by itself."""
    with ScriptedModel(lambda turn: _bash(f"echo step {turn}") if turn < 25 else []) as model:
        ended = copilot(model)
        assert "Loop detected" not in model.heard()

    assert (ended.code, model.turns) == (0, 26)
    assert ended.out.rstrip().endswith("done")
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (25, 0, 0)
    assert replayed(_transcript(home)) == []
    assert home.log() == ""


def test_a_compaction_arms_nothing(home: Home, copilot: Copilot) -> None:
    """It runs in the background, and no hook learns whether it succeeded; a replay reads that it did, and is armed."""
    tokens = {4: 990_000}
    with ScriptedModel(
        lambda turn: _bash("echo hi") if turn < 12 else [], lambda turn: tokens.get(turn, 100), SHORTENS
    ) as model:
        copilot(model)
        assert "Loop detected: `bash` was called 10 times" in model.heard()

    assert (model.shortened, model.turns) == (1, 13)
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"], record["code"]) == (12, 1, 0, None)
    ((action, call, code, _),) = replayed(_transcript(home))
    assert (action, code) == ("abort", "compaction_loop_persisted")
    assert call < 11


def test_parallel_calls_and_unknown_tools_are_seen(home: Home, copilot: Copilot) -> None:
    """All three calls of a message count, and the hook is called for an unknown tool as for any other."""
    home.configure("{unknownToolThreshold: 3}")
    three = [call for number in range(3) for call in _bash(f"echo {number}")]
    with ScriptedModel(lambda turn: three if turn < 2 else [("frobnicate", {})] if turn < 7 else []) as model:
        copilot(model)
        shown = [result.text for result in model.shown()]

    assert "Loop detected: `frobnicate` was called 3 times, but there is no tool of that name" in shown[9]
    assert [number for number, text in enumerate(shown, 1) if text.startswith("Denied by preToolUse hook")] == [10, 11]
    (record,) = home.records()
    assert (record["calls"], record["blocks"]) == (11, 2)
    assert replayed(_transcript(home), settings={"unknown_tool_threshold": 3}) == [
        ("block", 10, "unknown_tool_repeat", 2)
    ]


def test_a_run_that_only_reads_is_denied_until_it_runs_a_command(home: Home, copilot: Copilot) -> None:
    """Reading needs no permission, and a run can be ended only where permission is asked for."""
    home.configure(SOON)
    (home.work / "notes").write_text("hello")
    view: list[Ask] = [("view", {"path": str(home.work / "notes")})]
    with ScriptedModel(lambda turn: view if turn < 9 else _bash("touch ran") if turn < 20 else []) as model:
        copilot(model)
        shown = [result.text for result in model.shown()]

    assert model.turns == 10
    assert [number for number, text in enumerate(shown, 1) if text.startswith("Denied")] == [4, 5, 6, 7, 8, 9]
    assert "`view` was called 5 times with the same arguments" in shown[8]
    assert not (home.work / "ran").exists()
    assert home.records()[0]["ended_at_call"] == 6
    assert [(action, call, times) for action, call, _, times in replayed(_transcript(home), settings=AS_SOON)] == [
        ("warn", 3, 1),
        ("block", 4, 2),
        ("abort", 6, 5),
    ]


def test_another_hook_that_allows_everything_runs_no_command_of_an_ended_run(home: Home, copilot: Copilot) -> None:
    """No permission is asked for then, and the run goes on, but its commands are replaced by one that only exits."""
    home.configure(SOON)
    allow = {"type": "command", "bash": 'cat > /dev/null; echo \'{"permissionDecision": "allow"}\'', "timeoutSec": 10}
    (_hooks(home) / "allow.json").write_text(json.dumps({"version": 1, "hooks": {"PreToolUse": [allow]}}))
    with ScriptedModel(lambda turn: _bash("echo hi >> ran") if turn < 8 else []) as model:
        copilot(model)
        shown = [result.text for result in model.shown()]

    assert (home.work / "ran").read_text() == "hi\n" * 3
    assert model.turns == 9
    assert all("completed with exit code 1>" in text and "this run ends here" in text for text in shown[5:])


def test_a_sub_agent_is_ended_alone(home: Home, copilot: Copilot) -> None:
    """Its parent reads that it produced nothing, and goes on."""
    home.configure(SOON)
    task: list[Ask] = [
        ("task", {"agent_type": "task", "name": "helper", "description": "help", "prompt": "do it", "mode": "sync"})
    ]
    with ScriptedModel(lambda turn: task if turn == 0 else _bash("echo hi") if turn < 7 else []) as model:
        ended = copilot(model)
        shown = [result.text for result in model.shown()]

    assert (ended.code, model.turns) == (0, 8)
    assert shown == ["Agent completed but produced no response."]
    ours, theirs = sorted(home.records(), key=lambda record: record["calls"])
    assert (ours["calls"], ours["agent_id"], ours["code"]) == (1, None, None)
    assert (theirs["calls"], theirs["code"]) == (6, "global_circuit_breaker")
    assert theirs["agent_id"] == theirs["session_id"]
    seen = replayed(_transcript(home), settings=AS_SOON)
    assert [(action, call) for action, call, *_ in seen] == [("warn", 3), ("block", 4), ("abort", 6)]


def test_autopilot_goes_on_and_is_ended_again_at_once(home: Home, copilot: Copilot) -> None:
    """Its own prompts do not count as the user's: no further command of the run is executed."""
    home.configure(SOON)
    with ScriptedModel(lambda turn: _bash("echo hi >> ran") if turn < 60 else []) as model:
        ended = copilot(model, "--autopilot", "--max-autopilot-continues", "3")

    assert ended.code == 0
    assert model.turns == 9
    assert (home.work / "ran").read_text() == "hi\n" * 3
    assert [record["calls"] for record in home.records()] == [9]
    assert replayed(_transcript(home), settings=AS_SOON)[-1] == ("abort", 6, "global_circuit_breaker", 4)


def test_a_replay_sees_what_the_hook_saw(home: Home, copilot: Copilot) -> None:
    """Outputs saved to a file, failing reads, and failures that contain a time are each equal to the one before."""
    home.configure(SOON)
    failing = _bash('echo "1 failed in 0.$RANDOM s"; exit 1')
    none: list[Ask] = [("view", {"path": str(home.work / "none")})]
    turns = [*[_bash("seq 1 20000")] * 4, *[none] * 4, *[failing] * 4]
    with ScriptedModel(lambda turn: turns[turn] if turn < len(turns) else []) as model:
        copilot(model)

    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"], record["code"]) == (12, 3, 3, None)
    assert [(action, call) for action, call, *_ in replayed(_transcript(home), settings=AS_SOON)] == [
        *(("warn", 3), ("block", 4)),
        *(("warn", 7), ("block", 8)),
        *(("warn", 11), ("block", 12)),
    ]


def test_what_copilot_does_by_itself_is_no_call(home: Home, copilot: Copilot) -> None:
    """It reads the end of a background command without calling a hook, and a replay ignores that."""
    run = [("bash", {"command": "sleep 1; echo end", "description": "wait", "mode": "async"})], _bash("sleep 2")
    with ScriptedModel(lambda turn: run[turn] if turn < len(run) else []) as model:
        copilot(model)
    source = TranscriptFile(_transcript(home))
    asked = [event.call.tool for event in reader_for(source).read(source) if isinstance(event, ToolCalled)]

    assert '"toolName":"read_bash"' in _transcript(home).read_text()
    assert asked == ["bash", "bash"]
    assert [record["calls"] for record in home.records()] == [2]


def test_a_call_that_a_rule_denies_is_warned_about_and_never_blocked(home: Home, copilot: Copilot) -> None:
    """Copilot passes no outcome to a hook in this case; a replay reads the outcome and would block."""
    home.configure(SOON)
    with ScriptedModel(lambda turn: _bash("rm none") if turn < 7 else []) as model:
        copilot(model, "--deny-tool", "shell(rm)")

    (record,) = home.records()
    assert (record["warnings"] > 0, record["blocks"]) == (True, 0)
    seen = replayed(_transcript(home), settings=AS_SOON)
    assert [(action, call) for action, call, *_ in seen] == [("warn", 3), ("block", 4), ("abort", 6)]


def test_prompts_begin_runs_in_a_replay_too(home: Home, copilot: Copilot) -> None:
    """Each prompt of a resumed session begins a run."""
    home.configure(SOON)
    for flags in ((), ("--continue",)):
        with ScriptedModel(lambda turn: _bash("echo hi") if turn < 3 else []) as model:
            copilot(model, *flags)

    assert [(record["calls"], record["warnings"]) for record in home.records()] == [(3, 1), (3, 1)]
    assert [(action, call) for action, call, *_ in replayed(_transcript(home), settings=AS_SOON)] == [("warn", 3)] * 2


def test_a_hook_that_cannot_start_lets_every_call_pass(home: Home, copilot: Copilot) -> None:
    """Copilot denies a call whose hook exits with anything but 0, so the command always exits with 0."""
    file = _hooks(home) / "wheelspin.json"
    text = file.read_text()
    started = json.loads(text)["hooks"]["PreToolUse"][0]["bash"].split()[0]
    file.write_text(text.replace(started, "/gone/python"))
    with ScriptedModel(lambda turn: _bash("echo hi") if turn < 2 else []) as model:
        copilot(model)
        shown = [result.text for result in model.shown()]

    assert [text.partition("\n")[0] for text in shown] == ["hi", "hi"]


def test_the_hooks_of_a_project_run_where_it_is_trusted(
    home: Home, copilot: Copilot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not run in an untrusted folder; and a hook for Claude Code, which Copilot also runs, counts nothing."""
    assert main(["uninstall", "copilot-cli"]) == 0
    monkeypatch.chdir(home.work)
    for host in ("copilot-cli", "claude-code"):
        assert main(["install", host, "--scope", "project"]) == 0
    with ScriptedModel(lambda turn: _bash("echo hi") if turn < 1 else []) as model:
        copilot(model)
    assert not (home.path / ".local/state/wheelspin/sessions.db").exists()

    with ScriptedModel(lambda turn: _bash("echo hi") if turn < 3 else []) as model:
        copilot(model, "--trust-folder")
    assert [(record["calls"], record["warnings"]) for record in home.records()] == [(3, 0)]
    assert home.log() == ""
