"""Write files atomically: first beside their final path, so that no file is ever half written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from wheelspin.errors import ConfigError, Fault

__all__ = ["check_new", "exists", "write"]


def exists(path: Path) -> bool:
    """Return whether something exists at a path; nothing does if the path cannot be read."""
    try:
        return path.exists() or path.is_symlink()
    except OSError:
        return False


def check_new(path: Path) -> None:
    """
    Check that a new file can be created, before the work is done.

    Raises:
        ConfigError: The file exists already, or its folder does not.
    """
    if exists(path):
        raise ConfigError(str(path), [Fault("", "it already exists", hint="name a new file, or move this one away")])
    if not exists(path.parent):
        raise ConfigError(str(path), [Fault("", "its folder does not exist", hint="create the folder first")])


def write(path: Path, text: str) -> None:
    """
    Write a file atomically.

    Raises:
        ConfigError: The file cannot be written; an existing file is unchanged.
    """
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        if target.exists():
            beside.chmod(target.stat().st_mode)
        beside.replace(target)
    except OSError as problem:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        why = problem.strerror or str(problem)
        hint = "check that the folder exists and that you may write to it"
        raise ConfigError(str(path), [Fault("", f"it cannot be written ({why})", hint=hint)]) from None
