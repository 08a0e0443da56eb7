"""Gemini CLI's settings: `~/.gemini/settings.json`, or `.gemini/settings.json` in a project."""

from __future__ import annotations

import os
from pathlib import Path

from wheelspin.installers.base import Entry, Installer, Scope

__all__ = ["INSTALLER"]

_EVENTS = ("BeforeTool", "AfterTool", "BeforeAgent")
_MILLISECONDS = 10_000


class GeminiCli(Installer):
    """The installer of Gemini CLI."""

    __slots__ = ()

    host = "gemini-cli"
    title = "Gemini CLI"
    home = ".gemini"
    program = "gemini"

    def settings(self, scope: Scope) -> Path:
        """Return the path of the settings; `GEMINI_CLI_HOME` replaces the user's home directory."""
        if scope is Scope.PROJECT:
            return Path(".gemini") / "settings.json"
        folder = os.environ.get("GEMINI_CLI_HOME")
        return (Path(folder) if folder else Path.home()) / ".gemini" / "settings.json"

    def entries(self, command: str) -> list[Entry]:
        """Return one hook per event."""
        hook = {"name": "wheelspin", "type": "command", "command": command, "timeout": _MILLISECONDS}
        return [Entry(("hooks", event), {"hooks": [hook]}) for event in _EVENTS]

    def notes(self, scope: Scope) -> list[str]:
        """Return when the agent runs the hooks of a project."""
        if scope is Scope.USER:
            return []
        return ["Gemini CLI runs a project's hooks only if the folder is trusted; `--skip-trust` is not enough"]


INSTALLER = GeminiCli()
