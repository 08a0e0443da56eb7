"""Qwen Code's settings: `~/.qwen/settings.json`, or `.qwen/settings.json` in a project."""

from __future__ import annotations

import os
from pathlib import Path

from wheelspin.installers.base import Entry, Installer, Scope

__all__ = ["INSTALLER"]

_EVENTS = ("PreToolUse", "PostToolBatch", "PostCompact", "UserPromptSubmit")
_MILLISECONDS = 10_000
"""Qwen Code reads a timeout of 1000 or more as milliseconds; older versions read every timeout so."""


class QwenCode(Installer):
    """The installer of Qwen Code."""

    __slots__ = ()

    host = "qwen-code"
    title = "Qwen Code"
    home = ".qwen"
    program = "qwen"

    def settings(self, scope: Scope) -> Path:
        """Return the path of the settings; `QWEN_HOME` moves the user's."""
        if scope is Scope.PROJECT:
            return Path(".qwen") / "settings.json"
        folder = os.environ.get("QWEN_HOME")
        return (Path(folder) if folder else Path.home() / ".qwen") / "settings.json"

    def entries(self, command: str) -> list[Entry]:
        """Return one hook per event."""
        hook = {"name": "wheelspin", "type": "command", "command": command, "timeout": _MILLISECONDS}
        return [Entry(("hooks", event), {"hooks": [hook]}) for event in _EVENTS]

    def notes(self, scope: Scope) -> list[str]:
        """Return when the agent runs the hooks of a project."""
        if scope is Scope.USER:
            return []
        return ["if folder trust is enabled, Qwen Code runs a project's hooks only in a trusted folder"]


INSTALLER = QwenCode()
