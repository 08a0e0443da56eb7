"""Files that are written: beside their place first, so that none is ever half written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from wheelspin.errors import ConfigError, Fault

__all__ = ["check_new", "is_there", "write"]


def is_there(path: Path) -> bool:
    """Tell whether there is something at a path; a path that cannot be looked at has nothing."""
    try:
        return path.exists() or path.is_symlink()
    except OSError:
        return False


def check_new(path: Path) -> None:
    """
    Refuse a place for a new file before the work is done.

    Raises:
        ConfigError: There is something already, or there is no such folder.
    """
    if is_there(path):
        raise ConfigError(str(path), [Fault("", "it is there already", hint="name a new file, or move this one away")])
    if not is_there(path.parent):
        raise ConfigError(
            str(path), [Fault("", "there is no such folder to write it to", hint="make the folder first")]
        )


def write(path: Path, text: str) -> None:
    """
    Write a file, and put it in its place when it is whole.

    Raises:
        ConfigError: It cannot be written; what was there is untouched.
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
        hint = "check that the folder is there and that you may write to it"
        raise ConfigError(str(path), [Fault("", f"it cannot be written ({why})", hint=hint)]) from None
