"""`wheelspin install` and `uninstall`, applied to realistic settings of command-line agents."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from wheelspin.cli import main
from wheelspin.errors import ConfigError
from wheelspin.hooks import HOOKS
from wheelspin.hooks.launcher import launcher_path
from wheelspin.installers import installer_for
from wheelspin.installers.base import Scope, installed, is_installed
from wheelspin.userfiles.change import write

MINE = """\
{
    "model": "big",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}
        ]
    }
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up an empty home directory, with a project in it as the current folder."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


def _settings(host: str, scope: Scope = Scope.USER, text: str | None = None) -> Path:
    path = installer_for(host).settings(scope)
    if text is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("host", HOOKS)
class TestEveryHost:
    """What is the same for every command-line agent."""

    def test_it_is_guarded_after_install_and_not_after_uninstall(self, host: str, scope: Scope) -> None:
        """Installing also writes the launcher."""
        installer = installer_for(host)
        assert not is_installed(installer, scope)

        assert main(["install", host, "--scope", scope]) == 0
        assert is_installed(installer, scope)
        assert launcher_path().exists()

        assert main(["uninstall", host, "--scope", scope]) == 0
        assert not is_installed(installer, scope)
        path = _settings(host, scope)
        assert not path.exists() or "wheelspin" not in path.read_text()

    def test_installing_twice_changes_nothing(
        self, host: str, scope: Scope, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Not even the modification time of the file changes."""
        main(["install", host, "--scope", scope])
        path = _settings(host, scope)
        before = path.read_bytes(), path.stat().st_mtime_ns
        capsys.readouterr()

        assert main(["install", host, "--scope", scope]) == 0
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before
        assert "already guarded" in capsys.readouterr().out

    def test_a_dry_run_shows_the_change_and_writes_nothing(
        self, host: str, scope: Scope, home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It writes neither the settings nor the launcher."""
        assert main(["install", host, "--scope", scope, "--dry-run"]) == 0

        assert str(launcher_path()) in capsys.readouterr().out
        assert [path for path in home.rglob("*") if path.is_file()] == []

    def test_uninstalling_without_an_installation_is_reported(
        self, host: str, scope: Scope, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """No file is created."""
        assert main(["uninstall", host, "--scope", scope]) == 0
        assert "no changes" in capsys.readouterr().out
        assert not _settings(host, scope).exists()


class TestMerging:
    """Other content of the settings stays byte for byte."""

    def test_other_content_stays_and_uninstalling_restores_the_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A backup of the file is kept, too."""
        path = _settings("claude-code", text=MINE)
        main(["install", "claude-code"])

        hooks = json.loads(path.read_text())["hooks"]
        assert [entry["hooks"][0]["command"].split()[-1] for entry in hooks["PreToolUse"]] == ["mine.sh", "claude-code"]
        (copy,) = path.parent.glob("settings.json.before-wheelspin-*")
        assert copy.read_text() == MINE
        out = capsys.readouterr().out
        assert f"backup in {copy.name}" in out
        assert all(line[0] != "-" or line.startswith("---") or line.endswith("}") for line in out.splitlines() if line)

        main(["uninstall", "claude-code"])
        assert path.read_text() == MINE

    def test_an_installation_of_another_python_is_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """There is only one hook of Wheelspin, with the Python that installed it last."""
        path = _settings("claude-code", text=MINE)
        with monkeypatch.context() as other:
            other.setattr(sys, "executable", "/old/python3")
            main(["install", "claude-code"])
        main(["install", "claude-code"])

        text = path.read_text()
        assert "/old/python3" not in text
        assert text.count(sys.executable) == text.count("claude-code") == 4

    def test_a_symlink_is_followed(self, home: Path) -> None:
        """People keep their settings in a repository."""
        real = home / "dotfiles.json"
        real.write_text(MINE)
        path = _settings("claude-code")
        path.parent.mkdir()
        path.symlink_to(real)
        main(["install", "claude-code"])

        assert path.is_symlink()
        assert "claude-code" in real.read_text()

    def test_the_permissions_of_the_file_stay(self) -> None:
        """A file that only its owner may read stays so."""
        path = _settings("claude-code", text=MINE)
        path.chmod(0o600)
        main(["install", "claude-code"])

        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
        assert len(list(path.parent.iterdir())) == 2

    def test_a_file_that_changed_in_the_meantime_is_left_alone(self) -> None:
        """The agent may write its settings at any time."""
        path = _settings("claude-code", text=MINE)
        change = installed(installer_for("claude-code"), Scope.USER)
        path.write_text("{}")

        with pytest.raises(ConfigError, match="changed in the meantime"):
            write(change)
        assert path.read_text() == "{}"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{", "it is not valid JSON at character 2"),
            ('{"hooks": []}', "`hooks` is not an object"),
            ("[]", "the file is not an object"),
            ("\udcff", "it cannot be read (it is not UTF-8 text)"),
        ],
    )
    def test_invalid_settings_are_left_alone(self, text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
        """One line says what is wrong and what to do."""
        path = _settings("claude-code")
        path.parent.mkdir()
        path.write_bytes(text.encode(errors="surrogateescape"))

        assert main(["install", "claude-code"]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"wheelspin: {path}: {said}; ")
        assert "fix " in err
        assert err.count("\n") == 1
        assert path.read_bytes() == text.encode(errors="surrogateescape")
        assert [other.name for other in path.parent.iterdir()] == ["settings.json"]

    def test_a_file_that_cannot_be_written_is_left_as_it_was(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """No temporary file is left beside it."""
        path = _settings("claude-code", text=MINE)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        assert main(["install", "claude-code"]) == 2
        assert "No space left on device" in capsys.readouterr().err
        assert path.read_text() == MINE
        assert not list(path.parent.glob(".settings*"))


def test_an_unknown_agent_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The error lists the known ones."""
    with pytest.raises(SystemExit) as ended:
        main(["install", "claude"])

    assert ended.value.code == 2
    assert "claude-code" in capsys.readouterr().err


def test_hooks_of_an_agent_that_is_not_installed_are_added_with_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent may be installed later."""
    monkeypatch.setenv("PATH", os.devnull)
    main(["install", "claude-code"])
    assert "note: Claude Code was not found (no command `claude`" in capsys.readouterr().out
