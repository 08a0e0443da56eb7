"""
Codex's hooks: `~/.codex/hooks.json`, or `.codex/hooks.json` in a project.

Codex runs a hook only after the user has trusted it, and the hooks of a project only if the user trusts the project
too. It stores both in the user's `config.toml`: for each hook, a digest of its event and command, under its position.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from pathlib import Path
from typing import Any

from wheelspin.hooks.launcher import command_for
from wheelspin.installers.base import Entry, Installer, Scope

__all__ = ["INSTALLER"]

_EVENTS = {
    "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use",
    "PreCompact": "pre_compact",
    "PostCompact": "post_compact",
    "UserPromptSubmit": "user_prompt_submit",
}
"""The events, and the name of each in the record of trust."""
_SECONDS = 10
_TO_TRUST = (
    "Codex skips a hook until you trust it, and `codex exec` does so silently: start `codex` and choose "
    '"Trust all and continue", or type `/hooks` there'
)
_IN_A_PROJECT = "Codex reads `.codex/hooks.json` only in a project that it trusts"


class Codex(Installer):
    """The installer of Codex."""

    __slots__ = ()

    host = "codex"
    title = "Codex"
    home = ".codex"
    program = "codex"

    def settings(self, scope: Scope) -> Path:
        """Return the path of the hooks; `CODEX_HOME` moves the user's."""
        return (Path(".codex") if scope is Scope.PROJECT else _home()) / "hooks.json"

    def entries(self, command: str) -> list[Entry]:
        """Return one hook per event."""
        return [Entry(("hooks", event), _group(command)) for event in _EVENTS]

    def notes(self, scope: Scope) -> list[str]:
        """Return how to trust the hook, if that has not been done yet."""
        config = _read_toml(_home() / "config.toml")
        notes = [] if self._are_trusted(scope, config) else [_TO_TRUST]
        return [*notes, _IN_A_PROJECT] if scope is Scope.PROJECT and not _is_project_trusted(config) else notes

    def is_trusted(self, scope: Scope) -> bool:
        """Return whether Codex runs all the hooks in the file of a scope."""
        config = _read_toml(_home() / "config.toml")
        return self._are_trusted(scope, config) and (scope is not Scope.PROJECT or _is_project_trusted(config))

    def _are_trusted(self, scope: Scope, config: object) -> bool:
        path = self.settings(scope)
        hooks = _table(_read_json(path), "hooks")
        states = _table(_table(config, "hooks"), "state")
        command = command_for(self.host)
        return all(_is_trusted(path, event, hooks.get(event), states, command) for event in _EVENTS)


def _home() -> Path:
    folder = os.environ.get("CODEX_HOME")
    return Path(folder) if folder else Path.home() / ".codex"


def _is_project_trusted(config: object) -> bool:
    """Return whether the user trusts this folder, or the repository that contains it."""
    here = Path.cwd()
    repository = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    projects = _table(config, "projects")
    return any(_table(projects, str(folder)).get("trust_level") == "trusted" for folder in (here, repository))


def _group(command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": _SECONDS}]}


def _is_trusted(path: Path, event: str, groups: object, states: dict[str, Any], command: str) -> bool:
    """Return whether a hook is in the file, enabled, and trusted at its position."""
    wanted = _group(command)
    if not isinstance(groups, list) or wanted not in groups:
        return False
    place = f"{_EVENTS[event]}:{groups.index(wanted)}:0"
    found = [_table(states, f"{file}:{place}") for file in (path.absolute(), path.resolve())]
    digest = _digest(_EVENTS[event], command)
    return any(state.get("trusted_hash") == digest and state.get("enabled") is not False for state in found)


def _digest(event: str, command: str) -> str:
    """Return the digest by which Codex recognises a hook."""
    hook = {"type": "command", "command": command, "timeout": _SECONDS, "async": False}
    text = json.dumps({"event_name": event, "hooks": [hook]}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _table(value: object, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _read_json(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def _read_toml(path: Path) -> object:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


INSTALLER = Codex()
