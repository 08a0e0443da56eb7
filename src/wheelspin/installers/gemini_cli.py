"""Gemini CLI's settings: `~/.gemini/settings.json`, or `.gemini/settings.json` in a project."""

from __future__ import annotations

import os
from pathlib import Path

from wheelspin.installers.base import Entry, Installer

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

    def settings(self, scope: str) -> Path:
        """Give the settings file; `GEMINI_CLI_HOME` takes the place of the user's home."""
        if scope == "project":
            return Path(".gemini") / "settings.json"
        folder = os.environ.get("GEMINI_CLI_HOME")
        return (Path(folder) if folder else Path.home()) / ".gemini" / "settings.json"

    def entries(self, command: str) -> list[Entry]:
        """Give one hook for each event."""
        hook = {"name": "wheelspin", "type": "command", "command": command, "timeout": _MILLISECONDS}
        return [Entry(("hooks", event), {"hooks": [hook]}) for event in _EVENTS]

    def notes(self, scope: str) -> list[str]:
        """Tell when a project's hooks run."""
        if scope == "user":
            return []
        return ["Gemini CLI runs a project's hooks only in a folder that it trusts; `--skip-trust` is not enough."]


INSTALLER = GeminiCli()
