"""
A change to one of the user's files, which can be shown before it is made.

The new content is written to a temporary file that replaces the old one in one step, and a backup is kept.
"""

from __future__ import annotations

import difflib
import os
import shutil
import time
from pathlib import Path
from typing import NamedTuple

from wheelspin.errors import ConfigError, Fault

__all__ = ["Change", "write"]


class Change(NamedTuple):
    """
    A change to a file.

    Attributes:
        path: The file.
        before: Its present content; empty if it does not exist.
        after: Its new content; if this is empty, the file is deleted.
        keeps_backup: Whether to keep a copy of the present content, which is the user's and not Wheelspin's own.
    """

    path: Path
    before: str
    after: str
    keeps_backup: bool = True

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty if nothing changes."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            str(self.path),
            f"{self.path} (new)",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def write(change: Change) -> Path | None:
    """
    Write a change.

    Returns:
        The path of the backup; `None` if there is none.

    Raises:
        ConfigError: The file cannot be written, or has changed since it was read; it is left untouched.
    """
    path = change.path.resolve()
    backup = None
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        exists = path.exists()
        if exists and path.read_bytes() != change.before.encode():
            raise _error(change, "it was changed in the meantime", "nothing was written: try again")
        if exists and change.keeps_backup:
            backup = path.with_name(f"{path.name}.before-wheelspin-{time.strftime('%Y%m%d-%H%M%S')}")
            shutil.copy2(path, backup)
        if not change.after:
            path.unlink(missing_ok=True)
            return backup
        if exists:
            temporary.touch(0o600)
        temporary.write_bytes(change.after.encode())
        if exists:
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        why = problem.strerror or str(problem)
        raise _error(change, f"it cannot be written ({why})", "fix that, then try again") from None
    return backup


def _error(change: Change, what: str, step: str) -> ConfigError:
    return ConfigError(str(change.path), [Fault("", what, hint=step)])
