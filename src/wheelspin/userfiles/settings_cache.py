"""
What makes a hook process start quickly: settings that were read and checked before.

The user's configuration is JSON5 and is checked with care, which takes ten times as long as a hook may. What comes of
it is kept beside the store, and is used for as long as the file stays as it was.
"""

from __future__ import annotations

import json
import os

from wheelspin.core.settings import Settings, settings_from
from wheelspin.userfiles.paths import config_path, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["settings_for"]

_VERSION = 2


def settings_for(host: str, preset: str) -> Settings:
    """
    Give what holds for a host: an installed hook is switched on, unless the user's configuration says otherwise.

    Args:
        host: The host's name, which is the agent whose block holds.
        preset: The preset that holds where the configuration names none.

    Raises:
        ConfigError: The configuration cannot be read, or has faults.
    """
    path = config_path()
    stamp = _stamp(path)
    given = {} if stamp is None else _kept(host, path, stamp)
    if given is None:
        from wheelspin.config import load_config

        given = load_config(path).given(host)
        _keep(host, path, stamp, given)
    return settings_from({"enabled": True, "preset": preset, **given})


def _stamp(path: str) -> list[int] | None:
    """Give what changes when a file does; `None` where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _place(host: str) -> str:
    return os.path.join(state_folder(), f"settings-{host}.json")


def _kept(host: str, path: str, stamp: list[int]) -> dict[str, Any] | None:
    """Give what was kept of a configuration that is still as it was."""
    try:
        with open(_place(host), "rb") as file:
            kept = json.loads(file.read())
    except (OSError, ValueError):
        return None
    if not isinstance(kept, dict) or [kept.get("version"), kept.get("path"), kept.get("stamp")] != [
        _VERSION,
        path,
        stamp,
    ]:
        return None
    given = kept.get("given")
    return given if isinstance(given, dict) else None


def _keep(host: str, path: str, stamp: list[int] | None, given: dict[str, Any]) -> None:
    """Keep what came of a configuration; where that cannot be, it is read again with the next call."""
    place = _place(host)
    beside = f"{place}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        with open(beside, "w", encoding="utf-8") as file:
            json.dump({"version": _VERSION, "path": path, "stamp": stamp, "given": given}, file)
        os.replace(beside, place)
    except OSError:
        return
