"""The hook process reads a payload, writes a reply, starts quickly, keeps its time limit and fails open."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from wheelspin.hooks import HOOKS, process
from wheelspin.hooks.claude_code import HOOK
from wheelspin.hooks.launcher import words_for, write_launcher
from wheelspin.hooks.process import answer

PATHS = [str(ROOT / "src"), sysconfig.get_paths()["platlib"], sysconfig.get_paths()["purelib"]]
HEAD = f"import sys; sys.path[:0] = {PATHS!r}; from wheelspin.hooks import process; "
OWN = {"core", "errors", "hooks", "stores", "userfiles", "wire"}
"""The packages of Wheelspin that a hook process loads."""
OTHERS = {
    *("__future__", "_collections", "_collections_abc", "_datetime", "_functools", "_json", "_operator", "_sqlite3"),
    *("_sre", "_stat", "collections", "copyreg", "datetime", "enum", "functools", "genericpath"),
    *("itertools", "json", "keyword", "math", "operator", "os", "posixpath", "re", "reprlib", "signal", "sqlite3"),
    *("stat", "types", "xxhash"),
}
"""Everything else it loads: the database, JSON (which needs `re`) and the hash."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the hook at an empty home directory."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def _configure(home: Path, block: str) -> None:
    place = home / ".config" / "wheelspin" / "config.json5"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{{tools: {{loopDetection: {block}}}}}")


def _pre(number: int, command: str = "npm test") -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{number}"}
    return {"session_id": "s1", "prompt_id": "p1", "hook_event_name": "PreToolUse", **call}


def _loop(times: int) -> None:
    for number in range(times):
        answer(HOOK, _pre(number))
        answer(HOOK, {**_pre(number), "hook_event_name": "PostToolUse", "tool_response": "1 failing"})


class TestProcess:
    def _run(self, monkeypatch: pytest.MonkeyPatch, given: bytes, *arguments: str) -> tuple[int, str]:
        out = io.TextIOWrapper(io.BytesIO())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(process, "_limit", lambda _: None)
        code = process.main(list(arguments))
        out.flush()
        return code, out.buffer.getvalue().decode()

    def test_it_reads_a_payload_and_writes_a_reply(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A reply is one JSON object, or empty."""
        _loop(20)

        assert self._run(monkeypatch, json.dumps(_pre(99, command="ls")).encode(), "claude-code") == (0, "")
        code, out = self._run(monkeypatch, json.dumps(_pre(100)).encode(), "claude-code")
        assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")

    @pytest.mark.parametrize(
        "fault",
        [
            (b"{", "claude-code", "the hook crashed (JSONDecodeError); the call was let through"),
            (b"[]", "claude-code", ""),
            (b"{}", "emacs", "there is no agent 'emacs'"),
            (b"{}", "", "there is no agent ''"),
        ],
    )
    def test_a_broken_payload_is_let_through_and_reported(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        home: Path,
        fault: tuple[bytes, str, str],
    ) -> None:
        """The report is one line on stderr and in the log."""
        given, host, said = fault
        assert self._run(monkeypatch, given, host) == (0, "")
        assert said in capsys.readouterr().err
        log = home / ".local" / "state" / "wheelspin" / "hooks.log"
        assert not said or said in log.read_text()

    @pytest.mark.parametrize("fault", ["store", "config"])
    def test_a_store_or_configuration_that_cannot_be_read_is_reported_and_the_call_let_through(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path, fault: str
    ) -> None:
        """Here the store is a folder, or the configuration has a misspelled key."""
        if fault == "store":
            monkeypatch.setenv("WHEELSPIN_STORE", str(home))
        else:
            _configure(home, "{enabeld: true}")
        assert self._run(monkeypatch, json.dumps(_pre(1)).encode(), "claude-code") == (0, "")
        assert ("WHEELSPIN_STORE" if fault == "store" else "did you mean `enabled`?") in capsys.readouterr().err


def _python(code: str, given: bytes, head: str = HEAD) -> subprocess.CompletedProcess[bytes]:
    """Run code in a process as an agent does, with the same import path as the launcher."""
    command = [sys.executable, "-S", "-I", "-c", head + code]
    return subprocess.run(command, input=given, capture_output=True, check=True)  # noqa: S603 - our own


@pytest.mark.parametrize("host", HOOKS)
def test_a_hook_process_loads_only_the_modules_listed_here(host: str) -> None:
    """Every module that it loads adds to the time of every tool call."""
    bare = set(_python("print(*sys.modules)", b"", head="import sys; ").stdout.decode().split())
    done = _python(f"process.main([{host!r}, '--check']); print(); print(*sys.modules)", b"")
    output, *modules = done.stdout.decode().split()
    loaded = {name for name in modules if name not in bare}

    assert output == "ok"
    assert {name.split(".")[1] for name in loaded if name.startswith("wheelspin.")} <= OWN
    assert {name.split(".")[0] for name in loaded} - {"wheelspin"} <= OTHERS


def test_a_hook_that_exceeds_its_time_limit_lets_the_call_through(home: Path) -> None:
    """Here the agent never finishes sending the payload; one line in the log reports the timeout."""
    code = "process.LIMIT = 0.05; process.main(['claude-code']); raise SystemExit(1)"
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-S", "-I", "-c", HEAD + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.wait() == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""

    log = (home / ".local" / "state" / "wheelspin" / "hooks.log").read_text()
    assert "the hook took longer than" in log


def test_a_launcher_whose_package_is_missing_lets_the_call_through(home: Path) -> None:
    """It reports the problem on stderr and still exits with 0."""
    launcher = write_launcher()
    launcher.write_text(launcher.read_text().replace("wheelspin.hooks.process", "wheelspin_gone"))
    done = subprocess.run(words_for("claude-code"), input=b"{}", capture_output=True, check=True)  # noqa: S603 - ours

    assert done.stdout == b""
    assert done.stderr == b"wheelspin: the hook cannot start (ModuleNotFoundError); the call was let through\n"


def test_a_launcher_that_0_1_installed_still_starts_the_hook(home: Path) -> None:
    """Upgrading the package must not disable the guard: such a launcher imports `wheelspin.hook_process`."""
    launcher = home / "hook.py"
    launcher.write_text(
        "import gc, os, sys\n"
        "gc.disable()\n"
        f"sys.path[:0] = {PATHS!r}\n"
        "from wheelspin.hook_process import main\n"
        "main()\n"
        "sys.stdout.flush()\n"
        "os._exit(0)\n"
    )
    command = [sys.executable, "-S", "-I", str(launcher), "claude-code"]

    def run(payload: dict[str, Any]) -> bytes:
        environment = {"HOME": str(home)}
        done = subprocess.run(command, input=json.dumps(payload).encode(), capture_output=True, env=environment)  # noqa: S603, PLW1510 - ours
        return done.stdout

    _loop(20)
    denied = json.loads(run(_pre(21)))

    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
