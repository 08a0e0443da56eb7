"""What is written for Copilot CLI, and where."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from wheelspin.cli import main
from wheelspin.installers.copilot_cli import INSTALLER

EVENTS = ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up an empty home directory and an empty project."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "COPILOT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


def test_the_user_s_file_is_written_and_removed(home: Path) -> None:
    """The file is only Wheelspin's, so uninstalling deletes it."""
    path = home / ".copilot" / "hooks" / "wheelspin.json"
    assert main(["install", "copilot-cli"]) == 0

    written = json.loads(path.read_text())
    assert (written["version"], list(written["hooks"])) == (1, EVENTS)
    assert {hook["timeoutSec"] for hooks in written["hooks"].values() for hook in hooks} == {10}
    assert main(["uninstall", "copilot-cli"]) == 0
    assert list(path.parent.iterdir()) == []


def test_copilot_home_moves_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable moves everything that Copilot stores."""
    monkeypatch.setenv("COPILOT_HOME", str(home / "elsewhere"))
    assert main(["install", "copilot-cli"]) == 0

    assert (home / "elsewhere" / "hooks" / "wheelspin.json").exists()
    assert not (home / ".copilot").exists()


def test_a_project_has_its_own_file_and_a_second_file_is_noted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both would run there, and calls have no ids by which to recognise duplicates."""
    assert main(["install", "copilot-cli", "--scope", "project"]) == 0
    out = capsys.readouterr().out
    assert (home / "shop" / ".github" / "hooks" / "wheelspin.json").exists()
    assert "--trust-folder" in out
    assert "count twice" not in out

    assert main(["install", "copilot-cli"]) == 0
    assert "count twice" in capsys.readouterr().out


def test_a_missing_python_denies_no_call() -> None:
    """The command still exits with 0, because Copilot denies the call on any other exit code."""
    text = INSTALLER.file(["/gone/python", "-S", "-I", "/gone/hook.py", "copilot-cli"])
    (hook,) = json.loads(text)["hooks"]["PreToolUse"]
    done = subprocess.run(["/bin/sh", "-c", hook["bash"]], capture_output=True, check=False)  # noqa: S603 - ours

    assert (done.returncode, done.stdout) == (0, b"")
    assert hook["powershell"] == "& /gone/python -S -I /gone/hook.py copilot-cli; exit 0"


def test_words_with_special_characters_are_quoted() -> None:
    """Each shell has its own way of quoting."""
    (hook,) = json.loads(INSTALLER.file(["/my tools/it's python", "-I"]))["hooks"]["PostToolUse"]

    assert hook["bash"] == "'/my tools/it'\"'\"'s python' -I || true"
    assert hook["powershell"] == "& '/my tools/it''s python' -I; exit 0"
