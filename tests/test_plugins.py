"""A detector that does not stand in the source tree: it warns, blocks, advises and is configured everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from wheelspin import Guard, Outcome, Replay, ToolCall, load_config
from wheelspin.cli import main

MODULE = '''
"""Loops of the user's own."""

from wheelspin.core.detectors.base import Detector, Evidence, Needs


class SecretHunt(Detector):
    """The agent searches for the same thing again and again, whatever it finds."""

    __slots__ = ()

    id = "secret-hunt"
    default_thresholds = {"standard": (3, 5)}
    observation = "`{tool}` searched for the same thing {count} times"
    alternatives = ("Search for something else.", "Report that it cannot be found.")

    def check(self, call, history, settings):
        return self.graded(history.repeats(call.signature), self.thresholds(call, settings), call.signature)

    def needs(self, settings):
        return Needs(Evidence.EQUAL_CALLS, self.lowest_warning(settings))
'''
ADVICE = "`Grep` searched for the same thing 3 times. Calling it again will not change that. Search for something else."
PATHS = [str(ROOT / "src"), sysconfig.get_paths()["platlib"], sysconfig.get_paths()["purelib"]]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the module outside of the source tree, and configure it as the user's own configuration does."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    site = tmp_path / "site"
    site.mkdir()
    (site / "my_loops.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "my_loops", raising=False)
    path = tmp_path / ".config" / "wheelspin" / "config.json5"
    path.parent.mkdir(parents=True)
    path.write_text("{tools: {loopDetection: {enabled: true, plugins: ['my_loops']}}}")
    return path


def _actions(guard: Guard) -> list[str]:
    actions = []
    for number in range(8):
        call = ToolCall("Grep", {"pattern": "key"}, id=f"c{number}")
        verdict = guard.before(call)
        actions.append(str(verdict.action))
        if not verdict.stops:
            guard.after(call, Outcome.result(f"this is result {number}"))
    return actions


def _session(folder: Path) -> Path:
    path = folder / "session.jsonl"
    with path.open("w") as file:
        for number in range(8):
            call = {"type": "call", "id": f"c{number}", "tool": "Grep", "arguments": {"pattern": "key"}}
            result = {"type": "result", "id": f"c{number}", "result": f"this is result {number}"}
            file.write(json.dumps(call) + "\n" + json.dumps(result) + "\n")
    return path


def test_it_warns_and_blocks_in_a_guard(config: Path) -> None:
    """At its own thresholds, in its own words."""
    guard = Guard(load_config(config).for_agent())

    assert _actions(guard) == ["allow", "allow", "allow", "warn", "allow", "block", "block", "block"]
    verdict = Guard(load_config(config).for_agent())
    for _ in range(3):
        verdict.before(ToolCall("Grep", {"pattern": "key"}))
    assert verdict.before(ToolCall("Grep", {"pattern": "key"})).advice == f"Loop detected: {ADVICE}"


def test_its_thresholds_and_its_switch_are_those_of_the_configuration(config: Path) -> None:
    """As for a built-in detector."""
    block = "enabled: true, plugins: ['my_loops'], detectors: {secretHunt: {warningThreshold: 6}}"
    config.write_text(f"{{tools: {{loopDetection: {{{block}}}}}}}")
    assert _actions(Guard(load_config(config).for_agent())).index("warn") == 6

    config.write_text("{tools: {loopDetection: {plugins: ['my_loops'], detectors: {secretHunt: false}}}}")
    assert "secret_hunt" in load_config(config).for_agent().switched_off


def test_it_is_asked_in_a_replay_and_a_scan(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the same verdicts, although a scan skips what it does not need."""
    session = _session(tmp_path)

    assert main(["replay", str(session), "--config", str(config), "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    (run,) = file["runs"]
    assert [(found["action"], found["call"], found["detector"]) for found in run["interventions"]] == [
        ("warn", 4, "secret-hunt"),
        ("block", 6, "secret-hunt"),
    ]
    assert Replay(load_config(config)).is_configured


def test_it_is_asked_in_a_comparison(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the side whose configuration names it acts."""
    assert main(["replay", str(_session(tmp_path)), "--config", str(config), "--compare", "standard"]) == 0

    assert "secret-hunt" in capsys.readouterr().out


def test_it_is_asked_in_tune(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every setting that is tried, and the configuration that is written names it, too."""
    monkeypatch.chdir(tmp_path)
    session = str(_session(tmp_path))
    assert main(["tune", session, "--config", str(config), "--write", "new.json5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {trial["stopped"] for trial in report["settings"]} == {1}
    assert load_config(tmp_path / "new.json5").plugins == ("my_loops",)

    assert main(["tune", session, "--json"]) == 0
    assert {trial["stopped"] for trial in json.loads(capsys.readouterr().out)["settings"]} == {0}


def test_it_is_explained(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Step by step, in its own words."""
    assert main(["explain", "A+*6", "--config", str(config)]) == 0

    assert "secret-hunt: `A` searched for the same thing 3 times" in capsys.readouterr().out


def test_the_configuration_verbs_know_it(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`show` prints its switch and its thresholds, `check` accepts its key, `schema` describes it."""
    block = "enabled: true, plugins: ['my_loops'], detectors: {secretHunt: {criticalThreshold: 9}}"
    config.write_text(f"{{tools: {{loopDetection: {{{block}}}}}}}")

    assert main(["config", "show", "--config", str(config)]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert rows["detectors.secretHunt"] == ["true", "default"]
    assert rows["detectors.secretHunt.criticalThreshold"] == ["9", "global"]
    assert main(["config", "check", str(config)]) == 0
    capsys.readouterr()
    assert main(["config", "schema", "--config", str(config)]) == 0
    schema = json.loads(capsys.readouterr().out)
    described = schema["$defs"]["Detectors"]["properties"]["secretHunt"]
    assert described["description"].startswith("The agent searches for the same thing")


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        (None, "cannot be imported (ModuleNotFoundError"),
        ("x = (", "cannot be imported (SyntaxError"),
        ("x = 1", "defines no detector"),
        (MODULE.replace("alternatives", "others"), "needs `alternatives`"),
    ],
)
def test_a_module_that_cannot_be_used_is_a_fault_with_its_line(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], module: str | None, problem: str
) -> None:
    """Nothing else is wrong with the file: its detectors are not unknown keys."""
    path = tmp_path / "site" / "my_loops.py"
    path.unlink()
    if module is not None:
        path.write_text(module)
    block = "\n  plugins: ['my_loops'],\n  detectors: {secretHunt: true}"
    config.write_text(f"{{tools: {{loopDetection: {{{block}}}}}}}")

    assert main(["config", "check", str(config)]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert "`tools.loopDetection.plugins[0]` (line 2): found 'my_loops'" in error
    assert "unknown key" not in error


def test_it_is_asked_in_a_hook_process(config: Path, tmp_path: Path) -> None:
    """With the user's own configuration, also when that was read and cached before."""
    paths = [str(tmp_path / "site"), *PATHS]
    code = f"import sys; sys.path[:0] = {paths!r}; from wheelspin.hooks.process import main; main(['claude-code'])"
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    call = {"session_id": "s1", "prompt_id": "p1", "tool_name": "Grep", "tool_input": {"pattern": "key"}}

    def reply(event: str, number: int, **fields: Any) -> dict[str, Any]:
        payload = {**call, "hook_event_name": event, "tool_use_id": f"t{number}", **fields}
        command = [sys.executable, "-S", "-I", "-c", code]
        done = subprocess.run(command, input=json.dumps(payload).encode(), capture_output=True, env=environment)  # noqa: PLW1510, S603 - ours
        assert done.stderr == b""
        return json.loads(done.stdout) if done.stdout else {}

    for number in range(3):
        reply("PreToolUse", number)
        reply("PostToolUse", number, tool_response=f"this is result {number}")
    reply("PreToolUse", 3)
    warned = reply("PostToolUse", 3, tool_response="this is result 3")
    assert ADVICE in warned["hookSpecificOutput"]["additionalContext"]

    reply("PreToolUse", 4)
    reply("PostToolUse", 4, tool_response="this is result 4")
    blocked = reply("PreToolUse", 5)["hookSpecificOutput"]
    assert blocked["permissionDecision"] == "deny"
    assert blocked["permissionDecisionReason"].startswith("Loop detected: `Grep` searched for the same thing 5 times.")
