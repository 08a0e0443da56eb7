"""GitHub Copilot CLI's hooks: `~/.copilot/hooks/wheelspin.json`, or `.github/hooks/wheelspin.json` in a project."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from wheelspin.installers.base import Installer, Scope

__all__ = ["INSTALLER"]

_EVENTS = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit")
_SECONDS = 10
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./\\:_-")
"""Characters that PowerShell takes literally."""


class CopilotCli(Installer):
    """
    The installer of GitHub Copilot CLI.

    Copilot denies a call if a hook exits with anything but 0, so the commands exit with 0 even if their Python is gone.
    """

    __slots__ = ()

    host = "copilot-cli"
    title = "GitHub Copilot CLI"
    home = ".copilot"
    program = "copilot"

    def settings(self, scope: Scope) -> Path:
        """Return the path of the hooks; `COPILOT_HOME` moves the user's."""
        if scope is Scope.PROJECT:
            return Path(".github") / "hooks" / "wheelspin.json"
        folder = os.environ.get("COPILOT_HOME")
        return (Path(folder) if folder else Path.home() / ".copilot") / "hooks" / "wheelspin.json"

    def file(self, command: list[str]) -> str:
        """Return the text of the file, with one hook per event."""
        powershell = " ".join(map(_quoted, command))
        hook = {
            "type": "command",
            "bash": f"{shlex.join(command)} || true",
            "powershell": f"& {powershell}; exit 0",
            "timeoutSec": _SECONDS,
        }
        return json.dumps({"version": 1, "hooks": {event: [hook] for event in _EVENTS}}, indent=2) + "\n"

    def notes(self, scope: Scope) -> list[str]:
        """Return the trust that a project needs, and a warning if the other scope is installed too."""
        notes = []
        if scope is Scope.PROJECT:
            notes.append(
                "Copilot runs a project's hooks only if the folder is trusted; for `copilot -p`, add `--trust-folder`"
            )
        other = self.settings(next(name for name in Scope if name != scope))
        if other.exists():
            notes.append(f"{other} exists too, so each call in this project would count twice: remove one of them")
        return notes


def _quoted(word: str) -> str:
    """Return a word quoted for PowerShell."""
    if word and _PLAIN.issuperset(word):
        return word
    return "'" + word.replace("'", "''") + "'"


INSTALLER = CopilotCli()
