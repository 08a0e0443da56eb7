"""
A cache of the user's settings, so that a hook process starts quickly.

Reading and checking the user's JSON5 configuration takes ten times as long as a hook may take. The result is cached
beside the store, and used until the file changes.
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
    Return the settings of a command-line agent.

    An installed hook is enabled unless the user's configuration disables it.

    Args:
        host: Name of the agent, and the id of its block in the configuration.
        preset: Preset used if the configuration names none.

    Raises:
        ConfigError: The configuration cannot be read, or has faults.
    """
    path = config_path()
    stamp = _stamp(path)
    given = {} if stamp is None else _cached(host, path, stamp)
    if given is None:
        from wheelspin.config import load_config

        given = load_config(path).given(host)
        _cache(host, path, stamp, given)
    try:
        return settings_from({"enabled": True, "preset": preset, **given})
    except ValueError as problem:
        from wheelspin.core.plugins import PluginError
        from wheelspin.errors import ConfigError, Fault

        if not isinstance(problem, PluginError):
            raise
        expected = "a module with detectors, installed beside Wheelspin"
        found = f"{problem.plugin!r}: {problem.problem}"
        raise ConfigError(path, [Fault("tools.loopDetection.plugins", found, expected)]) from None


def _stamp(path: str) -> list[int] | None:
    """Return values that change when a file does; `None` if the file does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _cache_path(host: str) -> str:
    return os.path.join(state_folder(), f"settings-{host}.json")


def _cached(host: str, path: str, stamp: list[int]) -> dict[str, Any] | None:
    """Return the cached settings of a configuration that has not changed; `None` if there are none."""
    try:
        with open(_cache_path(host), "rb") as file:
            cached = json.loads(file.read())
    except (OSError, ValueError):
        return None
    if not isinstance(cached, dict) or [cached.get("version"), cached.get("path"), cached.get("stamp")] != [
        _VERSION,
        path,
        stamp,
    ]:
        return None
    given = cached.get("given")
    return given if isinstance(given, dict) else None


def _cache(host: str, path: str, stamp: list[int] | None, given: dict[str, Any]) -> None:
    """Cache the settings of a configuration; if that fails, the next call reads the configuration again."""
    target = _cache_path(host)
    temporary = f"{target}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"version": _VERSION, "path": path, "stamp": stamp, "given": given}, file)
        os.replace(temporary, target)
    except OSError:
        return
