"""Where Wheelspin keeps its files on the user's machine (XDG base directories), and how the user moves them."""

from __future__ import annotations

import os

__all__ = ["config_path", "log_path", "state_folder", "store_path"]


def _folder(variable: str, default: str) -> str:
    base = os.environ.get(variable) or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), default)
    return os.path.join(base, "wheelspin")


def state_folder() -> str:
    """Give the folder of what is remembered between processes: `$XDG_STATE_HOME/wheelspin`."""
    return _folder("XDG_STATE_HOME", os.path.join(".local", "state"))


def store_path() -> str:
    """Give the file of the store; `WHEELSPIN_STORE` overrides it."""
    return os.environ.get("WHEELSPIN_STORE") or os.path.join(state_folder(), "sessions.db")


def log_path() -> str:
    """Give the file to which hooks write what went wrong."""
    return os.path.join(state_folder(), "hooks.log")


def config_path() -> str:
    """Give the user's configuration: `$XDG_CONFIG_HOME/wheelspin/config.json5`; `WHEELSPIN_CONFIG` overrides it."""
    given = os.environ.get("WHEELSPIN_CONFIG")
    return given or os.path.join(_folder("XDG_CONFIG_HOME", ".config"), "config.json5")
