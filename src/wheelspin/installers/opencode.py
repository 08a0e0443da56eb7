"""opencode's plugins: `~/.config/opencode/plugin/wheelspin.js`, or `.opencode/plugin/wheelspin.js` in a project."""

from __future__ import annotations

import json
import os
from pathlib import Path

from wheelspin.installers.base import Installer, Scope

__all__ = ["INSTALLER"]

_PLUGIN = Path(__file__).with_name("opencode.js")


class OpenCode(Installer):
    """The installer of opencode."""

    __slots__ = ()

    host = "opencode"
    title = "opencode"
    home = ".config/opencode"
    program = "opencode"

    def settings(self, scope: Scope) -> Path:
        """Return the path of the plugin; `XDG_CONFIG_HOME` moves the user's."""
        if scope is Scope.PROJECT:
            return Path(".opencode") / "plugin" / "wheelspin.js"
        folder = os.environ.get("XDG_CONFIG_HOME")
        return (Path(folder) if folder else Path.home() / ".config") / "opencode" / "plugin" / "wheelspin.js"

    def file(self, command: list[str]) -> str:
        """Return the text of the plugin, with the command that it starts."""
        words = json.dumps(command, ensure_ascii=False)
        return _PLUGIN.read_text(encoding="utf-8").replace("= COMMAND", f"= {words}")

    def notes(self, scope: Scope) -> list[str]:
        """Return what opencode does before it loads any plugin."""
        package = "its own package `@opencode-ai/plugin` from the npm registry"
        return [f"before opencode loads plugins, it fetches {package}; offline, every start waits for that to fail"]


INSTALLER = OpenCode()
