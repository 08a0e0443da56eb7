"""The installers: one file per command-line agent."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from wheelspin.hooks import HOOKS

if TYPE_CHECKING:
    from wheelspin.installers.base import Installer

__all__ = ["installer_for", "installers"]


def installer_for(host: str) -> Installer:
    """Return the installer of a command-line agent, by a name in `HOOKS`."""
    found: Installer = import_module(f"wheelspin.installers.{HOOKS[host]}").INSTALLER
    return found


def installers() -> list[Installer]:
    """Return the installers of all command-line agents."""
    return [installer_for(host) for host in HOOKS]
