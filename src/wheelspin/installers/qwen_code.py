"""Qwen Code's settings: `~/.qwen/settings.json`, or `.qwen/settings.json` in a project."""

from __future__ import annotations

import os
from pathlib import Path

from wheelspin.installers.base import Entry, Installer

__all__ = ["INSTALLER"]

_EVENTS = ("PreToolUse", "PostToolBatch", "PostCompact", "UserPromptSubmit")
_MILLISECONDS = 10_000
"""Qwen Code reads a timeout of a thousand or more as milliseconds, and older versions read every one so."""


class QwenCode(Installer):
    """The installer of Qwen Code."""

    __slots__ = ()

    host = "qwen-code"
    title = "Qwen Code"
    home = ".qwen"
    program = "qwen"

    def settings(self, scope: str) -> Path:
        """Give the settings file; `QWEN_HOME` moves the user's."""
        if scope == "project":
            return Path(".qwen") / "settings.json"
        folder = os.environ.get("QWEN_HOME")
        return (Path(folder) if folder else Path.home() / ".qwen") / "settings.json"

    def entries(self, command: str) -> list[Entry]:
        """Give one hook for each event."""
        hook = {"name": "wheelspin", "type": "command", "command": command, "timeout": _MILLISECONDS}
        return [Entry(("hooks", event), {"hooks": [hook]}) for event in _EVENTS]

    def notes(self, scope: str) -> list[str]:
        """Tell when a project's hooks run."""
        if scope == "user":
            return []
        return ["Where folder trust is on, Qwen Code runs a project's hooks only in a folder that it trusts."]


INSTALLER = QwenCode()
