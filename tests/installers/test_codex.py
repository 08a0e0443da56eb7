"""Codex's hooks are put beside others, and whether Codex trusts them is told from what it has written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin.cli import main
from wheelspin.hooks.launcher import command_for
from wheelspin.installers import codex
from wheelspin.installers.codex import INSTALLER

OTHERS = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "date"}]}]}}
EVENTS = ["PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "UserPromptSubmit"]
ODD = "/usr/bin/python3 -S -I '/home/sam/my state/hook.py' codex # ä"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a user's home, in which the current folder is a project."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


def _trust(home: Path, scope: str, places: dict[str, str], project: Path | None = None, **more: Any) -> None:
    """Write down what Codex does when the user trusts these hooks, and this project."""
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
def test_a_hook_is_known_by_the_digest_that_codex_gives_it(event: str, digest: str) -> None:
    """As Codex 0.171.0 listed them."""
    assert codex._digest(event, ODD) == f"sha256:{digest}"


def test_hooks_are_put_beside_others_and_taken_out_again(home: Path) -> None:
    """What was there is as before."""
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


def test_the_user_s_folder_may_be_elsewhere_and_a_project_has_its_own(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`CODEX_HOME` moves the first, and nothing the second."""
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))

    assert INSTALLER.settings("user") == home / "elsewhere" / "hooks.json"
    assert INSTALLER.settings("project") == Path(".codex/hooks.json")


@pytest.mark.parametrize(
    ("scope", "wanted"), [("user", ["`/hooks`"]), ("project", ["`/hooks`", "only in a project that it trusts"])]
)
def test_who_installs_is_told_to_trust_the_hooks(
    home: Path, capsys: pytest.CaptureFixture[str], scope: str, wanted: list[str]
) -> None:
    """For as long as that is not done."""

    def told() -> list[str]:
        main(["install", "codex", "--scope", scope])
        notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
        return [
            text for text in ("`/hooks`", "only in a project that it trusts") if any(text in note for note in notes)
        ]

    assert told() == wanted
    _trust(home, scope, FIRST)
    assert told() == wanted[1:]
    _trust(home, scope, FIRST, home / "shop")
    assert told() == []


class TestTrust:
    @pytest.mark.parametrize("scope", ["user", "project"])
    def test_all_hooks_of_a_scope_are_to_be_trusted(self, home: Path, scope: str) -> None:
        """Not one alone, nor those of another file."""
        main(["install", "codex", "--scope", scope])
        assert INSTALLER.is_trusted(scope) is False

        project = home / "shop"
        _trust(home, scope, {"pre_tool_use": "0:0"}, project)
        assert INSTALLER.is_trusted(scope) is False
        _trust(home, "user" if scope == "project" else "project", FIRST, project)
        assert INSTALLER.is_trusted(scope) is False
        _trust(home, scope, FIRST, project)
        assert INSTALLER.is_trusted(scope) is True

    def test_those_of_a_project_are_run_only_where_it_is_trusted(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Or the repository that it is in."""
        inner = home / "shop" / "cart"
        inner.mkdir()
        monkeypatch.chdir(inner)
        main(["install", "codex", "--scope", "project"])
        _trust(home, "project", FIRST, home / "shop")
        assert INSTALLER.is_trusted("project") is False

        (home / "shop" / ".git").mkdir()
        assert INSTALLER.is_trusted("project") is True

    def test_a_hook_is_trusted_in_its_place(self, home: Path) -> None:
        """Behind another it has another number."""
        (home / ".codex").mkdir()
        (home / ".codex" / "hooks.json").write_text(json.dumps(OTHERS))
        main(["install", "codex"])

        _trust(home, "user", FIRST)
        assert INSTALLER.is_trusted("user") is False
        _trust(home, "user", FIRST | {"pre_tool_use": "1:0"})
        assert INSTALLER.is_trusted("user") is True

    def test_one_that_is_switched_off_or_of_another_command_is_not(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Codex does not run it."""
        main(["install", "codex"])
        _trust(home, "user", FIRST, enabled=False)
        assert INSTALLER.is_trusted("user") is False

        _trust(home, "user", FIRST, enabled=True)
        assert INSTALLER.is_trusted("user") is True
        monkeypatch.setattr(codex, "command_for", lambda host: "another")
        assert INSTALLER.is_trusted("user") is False

    def test_a_folder_behind_a_link_is_trusted_under_either_path(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Codex resolves what `CODEX_HOME` says."""
        main(["install", "codex"])
        _trust(home, "user", FIRST)
        (home / "link").symlink_to(home / ".codex")
        monkeypatch.setenv("CODEX_HOME", str(home / "link"))

        assert INSTALLER.is_trusted("user") is True

    @pytest.mark.parametrize("text", ["", "[", "hooks = 7", "[hooks]\nstate = 7", '[hooks.state]\n"a" = 7', "\udcff"])
    def test_what_cannot_be_read_trusts_nothing(self, home: Path, text: str) -> None:
        """Neither file of another shape, nor one that is not there."""
        main(["install", "codex"])
        config = home / ".codex" / "config.toml"
        config.write_bytes(text.encode(errors="surrogateescape"))
        assert INSTALLER.is_trusted("user") is False

        _trust(home, "user", FIRST)
        INSTALLER.settings("user").write_bytes(text.encode(errors="surrogateescape"))
        assert INSTALLER.is_trusted("user") is False
        INSTALLER.settings("user").unlink()
        assert INSTALLER.is_trusted("user") is False
