"""opencode's plugins: `~/.config/opencode/plugin/wheelspin.js`, or `.opencode/plugin/wheelspin.js` in a project."""

from __future__ import annotations

import json
import os
from pathlib import Path

from wheelspin.installers.base import Installer

__all__ = ["INSTALLER"]

_PLUGIN = Path(__file__).with_name("opencode.js")


class OpenCode(Installer):
    """The installer of opencode."""

    __slots__ = ()

    host = "opencode"
    title = "opencode"
    home = ".config/opencode"
    program = "opencode"

    def settings(self, scope: str) -> Path:
        """Give the plugin's file; `XDG_CONFIG_HOME` moves the user's."""
        if scope == "project":
            return Path(".opencode") / "plugin" / "wheelspin.js"
        folder = os.environ.get("XDG_CONFIG_HOME")
        return (Path(folder) if folder else Path.home() / ".config") / "opencode" / "plugin" / "wheelspin.js"

    def file(self, command: list[str]) -> str:
        """Give the plugin, with the command that it starts."""
        words = json.dumps(command, ensure_ascii=False)
        return _PLUGIN.read_text(encoding="utf-8").replace("= COMMAND", f"= {words}")

    def notes(self, scope: str) -> list[str]:
        """Tell what opencode does with any plugin."""
        package = "its own package `@opencode-ai/plugin` from the npm registry"
        return [f"before opencode loads plugins it fetches {package}; where it cannot, each start waits for that"]


INSTALLER = OpenCode()
