"""Claude Code's settings: `~/.claude/settings.json`, or `.claude/settings.json` in a project."""

from __future__ import annotations

import os
from pathlib import Path

from wheelspin.installers.base import Entry, Installer, Scope

__all__ = ["INSTALLER"]

_EVENTS = ("PreToolUse", "PostToolBatch", "PostCompact", "UserPromptSubmit")
_SECONDS = 10


class ClaudeCode(Installer):
    """The installer of Claude Code."""

    __slots__ = ()

    host = "claude-code"
    title = "Claude Code"
    home = ".claude"
    program = "claude"

    def settings(self, scope: Scope) -> Path:
        """Return the path of the settings; `CLAUDE_CONFIG_DIR` moves the user's."""
        if scope is Scope.PROJECT:
            return Path(".claude") / "settings.json"
        folder = os.environ.get("CLAUDE_CONFIG_DIR")
        return (Path(folder) if folder else Path.home() / ".claude") / "settings.json"

    def entries(self, command: str) -> list[Entry]:
        """Return one hook per event."""
        hook = {"type": "command", "command": command, "timeout": _SECONDS}
        return [Entry(("hooks", event), {"hooks": [hook]}) for event in _EVENTS]


INSTALLER = ClaudeCode()
