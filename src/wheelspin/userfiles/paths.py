"""Where Wheelspin keeps its files on the user's machine (XDG base directories), and which variables move them."""

from __future__ import annotations

import os

__all__ = ["config_path", "log_path", "state_folder", "store_path"]


def _folder(variable: str, default: str) -> str:
    base = os.environ.get(variable) or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), default)
    return os.path.join(base, "wheelspin")


def state_folder() -> str:
    """Return the folder of state kept between processes: `$XDG_STATE_HOME/wheelspin`."""
    return _folder("XDG_STATE_HOME", os.path.join(".local", "state"))


def store_path() -> str:
    """Return the address of the store, a file by default; `WHEELSPIN_STORE` overrides it."""
    return os.environ.get("WHEELSPIN_STORE") or os.path.join(state_folder(), "sessions.db")


def log_path() -> str:
    """Return the path of the file where hooks log what went wrong."""
    return os.path.join(state_folder(), "hooks.log")


def config_path() -> str:
    """Return the path of the user's configuration: `$XDG_CONFIG_HOME/wheelspin/config.json5`, or `WHEELSPIN_CONFIG`."""
    given = os.environ.get("WHEELSPIN_CONFIG")
    return given or os.path.join(_folder("XDG_CONFIG_HOME", ".config"), "config.json5")
