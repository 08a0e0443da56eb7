"""Codex's hooks are added beside others, and whether Codex trusts them is read from its own configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin.cli import main
from wheelspin.hooks.launcher import command_for
from wheelspin.installers import codex
from wheelspin.installers.base import Scope
from wheelspin.installers.codex import INSTALLER

OTHERS = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "date"}]}]}}
EVENTS = ["PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "UserPromptSubmit"]
ODD = "/usr/bin/python3 -S -I '/home/sam/my state/hook.py' codex # ä"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up an empty home directory, with a project in it as the current folder."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


def _trust(home: Path, scope: Scope, places: dict[str, str], project: Path | None = None, **more: Any) -> None:
    """Write what Codex stores when the user trusts these hooks, and this project."""
    file = INSTALLER.settings(scope).absolute()
    lines = [] if project is None else [f'[projects."{project}"]', 'trust_level = "trusted"']
    for event, place in places.items():
        lines += [f'[hooks.state."{file}:{event}:{place}"]', f'trusted_hash = "{_digest(event)}"']
        lines += [f"{name} = {json.dumps(value)}" for name, value in more.items()]
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text("\n".join(['model = "gpt-5"', *lines]))


def _digest(event: str) -> str:
    return codex._digest(event, command_for("codex"))


FIRST = dict.fromkeys(["pre_tool_use", "post_tool_use", "pre_compact", "post_compact", "user_prompt_submit"], "0:0")


@pytest.mark.parametrize(
    ("event", "digest"),
    [
        ("pre_tool_use", "abdc69a059415acc5a618e8864d8ed31229d34f12ddb50e0397ca0fe759c9428"),
        ("user_prompt_submit", "0b6636dea74a869691655d6fc1a9cf62cf913738223dc6239f15ddc7fde15da5"),
    ],
)
def test_a_hook_has_the_digest_that_codex_computes(event: str, digest: str) -> None:
    """The expected digests were listed by Codex 0.171.0."""
    assert codex._digest(event, ODD) == f"sha256:{digest}"


def test_hooks_are_added_beside_others_and_removed_again(home: Path) -> None:
    """Afterwards, the file is the same as before."""
    file = home / ".codex" / "hooks.json"
    file.parent.mkdir()
    before = json.dumps(OTHERS, indent=2)
    file.write_text(before)

    assert main(["install", "codex"]) == 0
    hooks = json.loads(file.read_text())["hooks"]
    assert list(hooks) == EVENTS
    assert hooks["PreToolUse"][0] == OTHERS["hooks"]["PreToolUse"][0]
    assert main(["uninstall", "codex"]) == 0
    assert file.read_text() == before


def test_the_user_s_folder_can_be_moved_and_a_project_has_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CODEX_HOME` moves the first; the second cannot be moved."""
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))

    assert INSTALLER.settings(Scope.USER) == home / "elsewhere" / "hooks.json"
    assert INSTALLER.settings(Scope.PROJECT) == Path(".codex/hooks.json")


@pytest.mark.parametrize(
    ("scope", "wanted"), [(Scope.USER, ["`/hooks`"]), (Scope.PROJECT, ["`/hooks`", "only in a project that it trusts"])]
)
def test_installing_asks_the_user_to_trust_the_hooks(
    home: Path, capsys: pytest.CaptureFixture[str], scope: Scope, wanted: list[str]
) -> None:
    """The note is gone once that is done."""

    def notes_shown() -> list[str]:
        main(["install", "codex", "--scope", scope])
        notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
        return [
            text for text in ("`/hooks`", "only in a project that it trusts") if any(text in note for note in notes)
        ]

    assert notes_shown() == wanted
    _trust(home, scope, FIRST)
    assert notes_shown() == wanted[1:]
    _trust(home, scope, FIRST, home / "shop")
    assert notes_shown() == []


class TestTrust:
    @pytest.mark.parametrize("scope", Scope)
    def test_all_hooks_of_a_scope_have_to_be_trusted(self, home: Path, scope: Scope) -> None:
        """Trusting one of them, or those of another file, is not enough."""
        main(["install", "codex", "--scope", scope])
        assert INSTALLER.is_trusted(scope) is False

        project = home / "shop"
        _trust(home, scope, {"pre_tool_use": "0:0"}, project)
        assert INSTALLER.is_trusted(scope) is False
        _trust(home, Scope.USER if scope is Scope.PROJECT else Scope.PROJECT, FIRST, project)
        assert INSTALLER.is_trusted(scope) is False
        _trust(home, scope, FIRST, project)
        assert INSTALLER.is_trusted(scope) is True

    def test_those_of_a_project_run_only_if_the_project_is_trusted(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Trusting the repository that contains it is enough."""
        inner = home / "shop" / "cart"
        inner.mkdir()
        monkeypatch.chdir(inner)
        main(["install", "codex", "--scope", "project"])
        _trust(home, Scope.PROJECT, FIRST, home / "shop")
        assert INSTALLER.is_trusted(Scope.PROJECT) is False

        (home / "shop" / ".git").mkdir()
        assert INSTALLER.is_trusted(Scope.PROJECT) is True

    def test_a_hook_is_trusted_at_its_position(self, home: Path) -> None:
        """Its number changes when another hook precedes it."""
        (home / ".codex").mkdir()
        (home / ".codex" / "hooks.json").write_text(json.dumps(OTHERS))
        main(["install", "codex"])

        _trust(home, Scope.USER, FIRST)
        assert INSTALLER.is_trusted(Scope.USER) is False
        _trust(home, Scope.USER, FIRST | {"pre_tool_use": "1:0"})
        assert INSTALLER.is_trusted(Scope.USER) is True

    def test_a_disabled_hook_or_one_with_another_command_is_not_trusted(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Codex does not run such a hook."""
        main(["install", "codex"])
        _trust(home, Scope.USER, FIRST, enabled=False)
        assert INSTALLER.is_trusted(Scope.USER) is False

        _trust(home, Scope.USER, FIRST, enabled=True)
        assert INSTALLER.is_trusted(Scope.USER) is True
        monkeypatch.setattr(codex, "command_for", lambda host: "another")
        assert INSTALLER.is_trusted(Scope.USER) is False

    def test_a_folder_behind_a_symlink_is_trusted_under_either_path(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Codex resolves the path in `CODEX_HOME`."""
        main(["install", "codex"])
        _trust(home, Scope.USER, FIRST)
        (home / "link").symlink_to(home / ".codex")
        monkeypatch.setenv("CODEX_HOME", str(home / "link"))

        assert INSTALLER.is_trusted(Scope.USER) is True

    @pytest.mark.parametrize("text", ["", "[", "hooks = 7", "[hooks]\nstate = 7", '[hooks.state]\n"a" = 7', "\udcff"])
    def test_a_file_that_cannot_be_read_trusts_nothing(self, home: Path, text: str) -> None:
        """Neither does one with unexpected content, or one that does not exist."""
        main(["install", "codex"])
        config = home / ".codex" / "config.toml"
        config.write_bytes(text.encode(errors="surrogateescape"))
        assert INSTALLER.is_trusted(Scope.USER) is False

        _trust(home, Scope.USER, FIRST)
        INSTALLER.settings(Scope.USER).write_bytes(text.encode(errors="surrogateescape"))
        assert INSTALLER.is_trusted(Scope.USER) is False
        INSTALLER.settings(Scope.USER).unlink()
        assert INSTALLER.is_trusted(Scope.USER) is False
