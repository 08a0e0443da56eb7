"""The real Codex, guarded, against a scripted model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.agents.conftest import Ended, Home, replayed
from tests.agents.scripted_model import Ask, ScriptedModel
from wheelspin.installers.base import Scope
from wheelspin.installers.codex import INSTALLER

ECHO: list[Ask] = [("exec_command", {"cmd": "echo hi"})]
ANY_MODEL = "scripted"
"""A model that Codex does not know, which gets plain tools."""
WITH_PATCHES = "gpt-5.5"
"""A model that also gets `apply_patch`."""
WITH_SCRIPTS = "gpt-6.2-sol"
"""A model that writes scripts, which call the tools."""
UNTRUSTED = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
TRUSTED = (*UNTRUSTED, "--dangerously-bypass-hook-trust")
PROVIDER = """\
[model_providers.scripted]
name = "scripted"
base_url = "URL/v1"
wire_api = "responses"
supports_websockets = false
"""
SHOP = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    method, given, result = asked.get("method"), asked.get("params", {}), {}
    if method == "initialize":
        result = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "shop", "version": "1"}
    elif method == "tools/list":
        tool = {"name": "stock", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
        result = {"tools": [tool]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "none left"}], "isError": bool(given["arguments"])}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


class Run(Protocol):
    """Run a prompt in a guarded Codex."""

    def __call__(self, model: ScriptedModel, name: str = ..., flags: tuple[str, ...] = ...) -> Ended: ...


@pytest.fixture
def codex(home: Home, program: Callable[[str], str]) -> Run:
    """Return a function that runs a prompt in a guarded Codex."""
    home.install("codex")
    config = home.path / ".codex" / "config.toml"

    def run(model: ScriptedModel, name: str = ANY_MODEL, flags: tuple[str, ...] = TRUSTED) -> Ended:
        config.touch()
        if PROVIDER.splitlines()[0] not in config.read_text():
            config.write_text(config.read_text() + PROVIDER)
        url = f"model_providers.scripted.base_url={json.dumps(model.url + '/v1')}"
        chosen = ["-m", name, "-c", 'model_provider="scripted"', "-c", url]
        return home.run([program("codex"), *flags, *chosen, "run the command"])

    return run


def _transcript(home: Home) -> Path:
    (transcript,) = (home.path / ".codex" / "sessions").rglob("*.jsonl")
    return transcript


def _denied(model: ScriptedModel) -> list[int]:
    """Return the numbers of the blocked calls, counted from 1."""
    return [number for number, shown in enumerate(model.shown(), 1) if "blocked by PreToolUse hook" in shown.text]


def _kinds(ended: Ended) -> list[str]:
    return [line["type"] for line in ended.lines()]


def test_a_loop_is_warned_about_then_blocked_and_then_all_calls_are(home: Home, codex: Run) -> None:
    """Each step comes at its documented count; Codex cannot end the run, which lasts until the model stops."""
    other: list[Ask] = [("exec_command", {"cmd": "echo something else"})]
    with ScriptedModel(lambda turn: ECHO if turn < 32 else other if turn < 33 else []) as model:
        ended = codex(model)
        shown, heard = model.shown(), model.heard()

    assert (ended.code, model.turns, _kinds(ended)[-1]) == (0, 34, "turn.completed")
    assert _denied(model) == list(range(21, 34))
    assert "`exec_command` was called 20 times with the same arguments and returned the same result" in shown[20].text
    assert "and this run ends here" in shown[30].text
    assert shown[32].text.endswith("Command: echo something else")
    assert heard.count("Loop detected: `exec_command` was called 10 times") == 1
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"], record["code"], record["ended_at_call"]) == (
        *(33, 1, 13),
        *("global_circuit_breaker", 31),
    )
    assert replayed(_transcript(home)) == [
        ("warn", 11, "generic_repeat", 1),
        ("block", 21, "generic_repeat", 10),
        ("abort", 31, "global_circuit_breaker", 3),
    ]
    assert home.log() == ""


def test_the_calls_of_a_script_are_guarded(home: Home, codex: Run) -> None:
    """A blocked call fails the script, and the model reads why."""
    home.configure("{preset: 'early'}")
    script = 'text((await tools.exec_command({cmd: "echo hi"})).output)'
    with ScriptedModel(lambda turn: [("exec", {"input": script})] if turn < 12 else []) as model:
        codex(model, WITH_SCRIPTS)
        assert "Loop detected: `exec_command` was called 2 times" in model.heard()

    assert _denied(model) == list(range(4, 13))
    assert model.shown()[3].text.startswith("Script failed")
    assert [action for action, *_ in replayed(_transcript(home), "early")] == ["warn", "block", "abort"]
    assert home.records()[0]["ended_at_call"] == replayed(_transcript(home), "early")[-1][1]


def test_work_is_left_alone(home: Home, codex: Run) -> None:
    """The model reads no advice, and the task ends by itself."""
    with ScriptedModel(lambda turn: [("exec_command", {"cmd": f"echo step {turn}"})] if turn < 25 else []) as model:
        ended = codex(model)
        assert "Loop detected" not in model.heard()

    assert (ended.code, model.turns) == (0, 26)
    (record,) = home.records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (25, 0, 0)
    assert home.log() == ""


def test_a_loop_that_survives_a_compaction_is_blocked_and_the_next_compaction_ends_the_run(
    home: Home, codex: Run
) -> None:
    """The third equal outcome ends the run; the next compaction makes `codex exec` exit with 1, without the summary."""
    tokens = {4: 990_000, 12: 990_000}
    with ScriptedModel(lambda turn: ECHO if turn < 30 else [], lambda turn: tokens.get(turn, 100)) as model:
        ended = codex(model)
        assert "after a compaction, `exec_command` was called 3 times" in model.heard()

    assert (ended.code, model.turns, model.shortened) == (1, 13, 1)
    assert "turn.completed" not in _kinds(ended)
    assert _denied(model) == [4, 5, 6, 7]
    (record,) = home.records()
    assert (record["calls"], record["blocks"], record["code"], record["ended_at_call"]) == (
        *(13, 5),
        *("compaction_loop_persisted", 8),
    )
    assert replayed(_transcript(home)) == [("abort", 8, "compaction_loop_persisted", 6)]


def test_failures_are_known_by_their_exit_code(home: Home, codex: Run) -> None:
    """Failures that differ only in a time are equal, live and in a replay."""
    home.configure("{preset: 'early'}")
    failing: list[Ask] = [("exec_command", {"cmd": 'echo "1 failed in 0.$RANDOM s"; exit 1'})]
    with ScriptedModel(lambda turn: failing if turn < 8 else []) as model:
        codex(model)

    assert len({shown.text.splitlines()[-1] for shown in model.shown()[:3]}) == 3
    assert _denied(model) == [4, 5, 6, 7, 8]
    assert [(action, call) for action, call, *_ in replayed(_transcript(home), "early")] == [("warn", 3), ("block", 4)]


def test_parallel_calls_are_seen_and_tools_that_do_not_exist_are_not(home: Home, codex: Run) -> None:
    """All three calls of a message count; Codex calls no hook for tools that do not exist."""
    three: list[Ask] = [("exec_command", {"cmd": f"echo {number}"}) for number in range(3)]
    with ScriptedModel(lambda turn: three if turn < 4 else [("frobnicate", {})] if turn < 16 else []) as model:
        codex(model)
        assert "Loop detected" not in model.heard()

    assert sum("unsupported call: frobnicate" in shown.text for shown in model.shown()) == 12
    assert home.records()[0]["calls"] == 12


def test_a_call_that_the_tool_refuses_is_warned_about_and_never_blocked(home: Home, codex: Run) -> None:
    """Codex passes no outcome to a hook in this case; a replay reads the outcome and would block."""
    patch = "*** Begin Patch\n*** Update File: none.txt\n@@\n-x\n+y\n*** End Patch"
    with ScriptedModel(lambda turn: [("apply_patch", {"input": patch})] if turn < 22 else []) as model:
        codex(model, WITH_PATCHES)
        heard = model.heard()

    assert all("verification failed" in shown.text for shown in model.shown())
    assert [f"`apply_patch` was called {times} times" in heard for times in (10, 20)] == [True, True]
    assert (home.records()[0]["warnings"], home.records()[0]["blocks"]) == (2, 0)
    assert [(action, call) for action, call, *_ in replayed(_transcript(home))] == [("warn", 11), ("block", 21)]


def test_tools_of_a_server_are_guarded(home: Home, codex: Run) -> None:
    """The duration of a call is ignored. Errors of the server reach no hook, but a replay reads them."""
    home.configure("{preset: 'early'}")
    server = home.path / "shop.py"
    server.write_text(SHOP)
    shop = f"[mcp_servers.shop]\ncommand = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(server))}]\n"
    (home.path / ".codex" / "config.toml").write_text(shop)
    with ScriptedModel(lambda turn: [("stock", {} if turn < 5 else {"fail": 1})] if turn < 9 else []) as model:
        codex(model)

    assert _denied(model) == [4, 5]
    assert "`mcp__shop__stock`" in model.shown()[3].text
    seen = [(action, call) for action, call, *_ in replayed(_transcript(home), "early")]
    assert seen == [("warn", 3), ("block", 4), ("warn", 8), ("block", 9)]


def test_a_sub_agent_has_a_history_of_its_own(home: Home, codex: Run) -> None:
    """Its calls have its own agent id, in the session of the agent that started it."""
    start: list[Ask] = [("spawn_agent", {"message": "do the other half"})]
    with ScriptedModel(lambda turn: start if turn == 0 else ECHO if turn < 13 else []) as model:
        codex(model)

    one, other = home.records()
    assert one["session_id"] == other["session_id"]
    assert one["calls"] + other["calls"] <= 13
    assert {one["agent_id"] is None, other["agent_id"] is None} == {True, False}


def test_hooks_are_skipped_silently_until_the_user_trusts_them(
    home: Home, codex: Run, program: Callable[[str], str]
) -> None:
    """Codex saves the trust where `is_trusted` looks for it."""
    home.configure("{preset: 'early'}")
    with ScriptedModel(lambda turn: ECHO if turn < 6 else []) as model:
        ended = codex(model, flags=UNTRUSTED)
    assert (ended.code, _denied(model)) == (0, [])
    assert "hook" not in ended.out
    assert INSTALLER.is_trusted(Scope.USER) is False

    _trust(home, program("codex"))
    assert INSTALLER.is_trusted(Scope.USER) is True
    with ScriptedModel(lambda turn: ECHO if turn < 6 else []) as model:
        codex(model, flags=UNTRUSTED)
    assert _denied(model) == [4, 5, 6]


def _trust(home: Home, program: str) -> None:
    """Trust all hooks through Codex's server, as its own screen does."""
    server = subprocess.Popen(  # noqa: S603 - the agent under test
        [program, "app-server"],
        cwd=home.work,
        env={"HOME": str(home.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        _ask(server, "initialize", {"clientInfo": {"name": "test", "version": "1"}})
        (found,) = _ask(server, "hooks/list", {"cwds": [str(home.work)]})["data"]
        states = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in found["hooks"]}
        edit = {"keyPath": "hooks.state", "value": states, "mergeStrategy": "upsert"}
        assert len(states) == 5
        assert _ask(server, "config/batchWrite", {"edits": [edit]})["status"] == "ok"


def _ask(server: subprocess.Popen[str], method: str, params: dict[str, Any]) -> Any:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"id": method, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    return next(said["result"] for said in map(json.loads, server.stdout) if said.get("id") == method)
