"""GitHub Copilot CLI's hooks: `~/.copilot/hooks/wheelspin.json`, or `.github/hooks/wheelspin.json` in a project."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from wheelspin.installers.base import SCOPES, Installer

__all__ = ["INSTALLER"]

_EVENTS = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit")
_SECONDS = 10
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./\\:_-")
"""Signs that PowerShell takes as they are."""


class CopilotCli(Installer):
    """
    The installer of GitHub Copilot CLI.

    A hook that ends with anything but 0 makes Copilot deny the call, so that the commands end with 0 even where the
    Python that they name is gone.
    """

    __slots__ = ()

    host = "copilot-cli"
    title = "GitHub Copilot CLI"
    home = ".copilot"
    program = "copilot"

    def settings(self, scope: str) -> Path:
        """Give our file; `COPILOT_HOME` moves the user's."""
        if scope == "project":
            return Path(".github") / "hooks" / "wheelspin.json"
        folder = os.environ.get("COPILOT_HOME")
        return (Path(folder) if folder else Path.home() / ".copilot") / "hooks" / "wheelspin.json"

    def file(self, command: list[str]) -> str:
        """Give the file, with one hook for each event."""
        powershell = " ".join(map(_quoted, command))
        hook = {
            "type": "command",
            "bash": f"{shlex.join(command)} || true",
            "powershell": f"& {powershell}; exit 0",
            "timeoutSec": _SECONDS,
        }
        return json.dumps({"version": 1, "hooks": {event: [hook] for event in _EVENTS}}, indent=2) + "\n"

    def notes(self, scope: str) -> list[str]:
        """Tell of the trust that a project needs, and of the other scope."""
        notes = []
        if scope == "project":
            notes.append("Copilot runs a project's hooks where the folder is trusted; `copilot -p` has --trust-folder")
        other = self.settings(next(name for name in SCOPES if name != scope))
        if other.exists():
            notes.append(f"{other} is there too: in this project each call would count twice, so remove one")
        return notes


def _quoted(word: str) -> str:
    """Give a word as PowerShell takes it."""
    if word and _PLAIN.issuperset(word):
        return word
    return "'" + word.replace("'", "''") + "'"


INSTALLER = CopilotCli()
