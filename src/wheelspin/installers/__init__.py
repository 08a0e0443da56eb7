"""The installers: one file, one host."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from wheelspin.hooks import HOOKS

if TYPE_CHECKING:
    from wheelspin.installers.base import Installer

__all__ = ["installer_for", "installers"]


def installer_for(host: str) -> Installer:
    """Give the installer of a host that has a hook."""
    found: Installer = import_module(f"wheelspin.installers.{HOOKS[host]}").INSTALLER
    return found


def installers() -> list[Installer]:
    """Give the installers of all hosts."""
    return [installer_for(host) for host in HOOKS]
