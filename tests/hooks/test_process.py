"""The process that a host starts: stdin to stdout, quick to start, within a limit, and the call passes."""

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
OURS = {"core", "errors", "hooks", "stores", "userfiles", "wire"}
"""The rooms that a hook process enters."""
OTHERS = {
    *("__future__", "_collections", "_collections_abc", "_datetime", "_functools", "_json", "_operator", "_sqlite3"),
    *("_sre", "_stat", "collections", "copyreg", "datetime", "enum", "functools", "genericpath", "importlib"),
    *("itertools", "json", "keyword", "math", "operator", "os", "posixpath", "re", "reprlib", "signal", "sqlite3"),
    *("stat", "types", "warnings", "xxhash"),
}
"""What it loads besides: the database, JSON, which needs `re`, and the hash."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the hook a home of its own."""
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
        """One JSON object, or nothing."""
        _loop(20)

        assert self._run(monkeypatch, json.dumps(_pre(99, command="ls")).encode(), "claude-code") == (0, "")
        code, out = self._run(monkeypatch, json.dumps(_pre(100)).encode(), "claude-code")
        assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")

    @pytest.mark.parametrize(
        "fault",
        [
            (b"{", "claude-code", "it crashed with JSONDecodeError; the call passed"),
            (b"[]", "claude-code", ""),
            (b"{}", "emacs", "there is no host 'emacs'"),
            (b"{}", "", "there is no host ''"),
        ],
    )
    def test_a_broken_payload_passes_and_is_told(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        home: Path,
        fault: tuple[bytes, str, str],
    ) -> None:
        """One line on stderr and in the log."""
        given, host, said = fault
        assert self._run(monkeypatch, given, host) == (0, "")
        assert said in capsys.readouterr().err
        log = home / ".local" / "state" / "wheelspin" / "hooks.log"
        assert not said or said in log.read_text()

    @pytest.mark.parametrize("fault", ["store", "config"])
    def test_what_cannot_be_read_passes_and_is_told(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path, fault: str
    ) -> None:
        """A store that is a folder, a configuration with a fault."""
        if fault == "store":
            monkeypatch.setenv("WHEELSPIN_STORE", str(home))
        else:
            _configure(home, "{enabeld: true}")
        assert self._run(monkeypatch, json.dumps(_pre(1)).encode(), "claude-code") == (0, "")
        assert ("WHEELSPIN_STORE" if fault == "store" else "did you mean `enabled`?") in capsys.readouterr().err


def _python(code: str, given: bytes, head: str = HEAD) -> subprocess.CompletedProcess[bytes]:
    """Run code in a process as a host does, with the package found as the launcher finds it."""
    command = [sys.executable, "-S", "-I", "-c", head + code]
    return subprocess.run(command, input=given, capture_output=True, check=True)  # noqa: S603 - our own


@pytest.mark.parametrize("host", HOOKS)
def test_a_hook_process_loads_what_is_pinned_here_and_nothing_else(host: str) -> None:
    """Each module costs every call its time."""
    bare = set(_python("print(*sys.modules)", b"", head="import sys; ").stdout.decode().split())
    done = _python(f"process.main([{host!r}, '--check']); print(); print(*sys.modules)", b"")
    said, *modules = done.stdout.decode().split()
    loaded = {name for name in modules if name not in bare}

    assert said == "ok"
    assert {name.split(".")[1] for name in loaded if name.startswith("wheelspin.")} <= OURS
    assert {name.split(".")[0] for name in loaded} - {"wheelspin"} <= OTHERS


def test_a_hook_that_cannot_answer_in_its_limit_lets_the_call_pass(home: Path) -> None:
    """Here its host never ends the payload; one line in the log says so."""
    code = "process.LIMIT = 0.05; process.main(['claude-code']); raise SystemExit(1)"
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-S", "-I", "-c", HEAD + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.wait() == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""

    log = (home / ".local" / "state" / "wheelspin" / "hooks.log").read_text()
    assert "it took longer than" in log


def test_a_launcher_whose_package_is_gone_lets_the_call_pass(home: Path) -> None:
    """It says so on stderr, and ends as if nothing was."""
    launcher = write_launcher()
    launcher.write_text(launcher.read_text().replace("wheelspin.hooks.process", "wheelspin_gone"))
    done = subprocess.run(words_for("claude-code"), input=b"{}", capture_output=True, check=True)  # noqa: S603 - ours

    assert done.stdout == b""
    assert done.stderr == b"wheelspin: the hook cannot start (ModuleNotFoundError); the call passed\n"


def test_a_launcher_that_0_1_installed_still_starts_the_hook(home: Path) -> None:
    """Upgrading the package must not silence a guard: such a launcher imports `wheelspin.hook_process`."""
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

    def tell(payload: dict[str, Any]) -> bytes:
        environment = {"HOME": str(home)}
        done = subprocess.run(command, input=json.dumps(payload).encode(), capture_output=True, env=environment)  # noqa: S603, PLW1510 - ours
        return done.stdout

    _loop(20)
    denied = json.loads(tell(_pre(21)))

    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
