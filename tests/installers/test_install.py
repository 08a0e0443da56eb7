"""`wheelspin install` and `uninstall` on the settings of a host, as a user has them."""

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
from wheelspin.installers.base import installed, is_installed
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
    """Give a home with nothing in it, and be in a project there."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


def _settings(host: str, scope: str = "user", text: str | None = None) -> Path:
    path = installer_for(host).settings(scope)
    if text is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOOKS)
class TestEveryHost:
    """What holds for each host alike."""

    def test_it_is_guarded_after_install_and_not_after_uninstall(self, host: str, scope: str) -> None:
        """And the program that the hook starts is there."""
        installer = installer_for(host)
        assert not is_installed(installer, scope)

        assert main(["install", host, "--scope", scope]) == 0
        assert is_installed(installer, scope)
        assert launcher_path().exists()

        assert main(["uninstall", host, "--scope", scope]) == 0
        assert not is_installed(installer, scope)
        path = _settings(host, scope)
        assert not path.exists() or "wheelspin" not in path.read_text()

    def test_installing_twice_changes_nothing(self, host: str, scope: str, capsys: pytest.CaptureFixture[str]) -> None:
        """Not even the time of the file."""
        main(["install", host, "--scope", scope])
        path = _settings(host, scope)
        before = path.read_bytes(), path.stat().st_mtime_ns
        capsys.readouterr()

        assert main(["install", host, "--scope", scope]) == 0
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before
        assert "guarded already" in capsys.readouterr().out

    def test_a_dry_run_shows_the_change_and_writes_nothing(
        self, host: str, scope: str, home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Neither settings nor the hook's program."""
        assert main(["install", host, "--scope", scope, "--dry-run"]) == 0

        assert str(launcher_path()) in capsys.readouterr().out
        assert [path for path in home.rglob("*") if path.is_file()] == []

    def test_uninstalling_where_nothing_is_says_so(
        self, host: str, scope: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And makes no file."""
        assert main(["uninstall", host, "--scope", scope]) == 0
        assert "nothing to change" in capsys.readouterr().out
        assert not _settings(host, scope).exists()


class TestMerging:
    """Where the settings hold other things too, those stay byte for byte."""

    def test_what_is_there_stays_and_comes_back(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A copy of it is kept, too."""
        path = _settings("claude-code", text=MINE)
        main(["install", "claude-code"])

        hooks = json.loads(path.read_text())["hooks"]
        assert [entry["hooks"][0]["command"].split()[-1] for entry in hooks["PreToolUse"]] == ["mine.sh", "claude-code"]
        (copy,) = path.parent.glob("settings.json.before-wheelspin-*")
        assert copy.read_text() == MINE
        out = capsys.readouterr().out
        assert f"what was there is in {copy.name}" in out
        assert all(line[0] != "-" or line.startswith("---") or line.endswith("}") for line in out.splitlines() if line)

        main(["uninstall", "claude-code"])
        assert path.read_text() == MINE

    def test_an_installation_of_another_python_is_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """There is one hook of ours, with the Python that installed it last."""
        path = _settings("claude-code", text=MINE)
        with monkeypatch.context() as other:
            other.setattr(sys, "executable", "/old/python3")
            main(["install", "claude-code"])
        main(["install", "claude-code"])

        text = path.read_text()
        assert "/old/python3" not in text
        assert text.count(sys.executable) == text.count("claude-code") == 4

    def test_a_link_is_followed(self, home: Path) -> None:
        """People keep their settings in a repository."""
        real = home / "dotfiles.json"
        real.write_text(MINE)
        path = _settings("claude-code")
        path.parent.mkdir()
        path.symlink_to(real)
        main(["install", "claude-code"])

        assert path.is_symlink()
        assert "claude-code" in real.read_text()

    def test_the_rights_of_the_file_stay(self) -> None:
        """A file that only its owner may read stays so."""
        path = _settings("claude-code", text=MINE)
        path.chmod(0o600)
        main(["install", "claude-code"])

        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
        assert len(list(path.parent.iterdir())) == 2

    def test_a_file_that_is_changed_meanwhile_is_left_alone(self) -> None:
        """The agent may write its settings at any time."""
        path = _settings("claude-code", text=MINE)
        change = installed(installer_for("claude-code"), "user")
        path.write_text("{}")

        with pytest.raises(ConfigError, match="changed meanwhile"):
            write(change)
        assert path.read_text() == "{}"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{", "it is no JSON at place 2"),
            ('{"hooks": []}', "`hooks` is no object"),
            ("[]", "`the file` is no object"),
            ("\udcff", "it cannot be read (it is no UTF-8 text)"),
        ],
    )
    def test_settings_that_are_wrong_are_left_alone(
        self, text: str, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """One paragraph says what is the matter and what to do."""
        path = _settings("claude-code")
        path.parent.mkdir()
        path.write_bytes(text.encode(errors="surrogateescape"))

        assert main(["install", "claude-code"]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"wheelspin: {path}: {said}; mend it")
        assert err.count("\n") == 1
        assert path.read_bytes() == text.encode(errors="surrogateescape")
        assert [other.name for other in path.parent.iterdir()] == ["settings.json"]

    def test_a_file_that_cannot_be_written_is_left_as_it_was(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Nothing half written stays beside it."""
        path = _settings("claude-code", text=MINE)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        assert main(["install", "claude-code"]) == 2
        assert "No space left on device" in capsys.readouterr().err
        assert path.read_text() == MINE
        assert not list(path.parent.glob(".settings*"))


def test_a_host_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that are."""
    with pytest.raises(SystemExit) as ended:
        main(["install", "claude"])

    assert ended.value.code == 2
    assert "claude-code" in capsys.readouterr().err


def test_a_host_that_is_not_there_is_installed_with_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may come later."""
    monkeypatch.setenv("PATH", os.devnull)
    main(["install", "claude-code"])
    assert "note: Claude Code was not found here (no command `claude`" in capsys.readouterr().out
