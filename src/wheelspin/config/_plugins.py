"""The detectors that a configuration file names as plugins, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from wheelspin.config._positions import Path
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Detector
from wheelspin.core.plugins import PluginError, load_plugins

__all__ = ["Broken", "plugins_in"]

Broken = tuple[Path, str, str]
"""Where a plugin is named, its name, and what is wrong with it."""


def plugins_in(blocks: list[tuple[Path, Any]]) -> tuple[tuple[Detector, ...], list[Broken]]:
    """
    Return all detectors that there are for a file, and the plugins that cannot be used.

    Args:
        blocks: The `loopDetection` blocks of the file, each with its path.
    """
    named: dict[str, Path] = {}
    for path, block in blocks:
        plugins = block.get("plugins") if isinstance(block, dict) else None
        for place, name in enumerate(plugins if isinstance(plugins, list) else ()):
            if isinstance(name, str):
                named.setdefault(name, (*path, "plugins", place))
    usable: list[str] = []
    broken: list[Broken] = []
    for name, path in named.items():
        try:
            load_plugins([*usable, name])
        except PluginError as problem:
            broken.append((path, name, problem.problem))
        else:
            usable.append(name)
    return (*DETECTORS, *load_plugins(usable)), broken
