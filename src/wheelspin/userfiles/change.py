"""
A change of one of the user's files: it can be shown before it is made.

What is written goes beside the file first and takes its place in one step, and a copy of what was there is kept.
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
    """What becomes of a file; one that is left empty goes."""

    path: Path
    before: str
    after: str
    keeps: bool = True
    """Whether a copy of what was there is kept: it is the user's, and not a file of ours."""

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where nothing changes."""
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
        The copy of what was there; `None` where there was nothing.

    Raises:
        ConfigError: It cannot be written, or is another one than the change was made for; what is there is untouched.
    """
    path = change.path.resolve()
    backup = None
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_there = path.exists()
        if is_there and path.read_bytes() != change.before.encode():
            raise _told(change, "it was changed meanwhile", "nothing was written: try again")
        if is_there and change.keeps:
            backup = path.with_name(f"{path.name}.before-wheelspin-{time.strftime('%Y%m%d-%H%M%S')}")
            shutil.copy2(path, backup)
        if not change.after:
            path.unlink(missing_ok=True)
            return backup
        if is_there:
            beside.touch(0o600)
        beside.write_bytes(change.after.encode())
        if is_there:
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        why = problem.strerror or str(problem)
        raise _told(change, f"it cannot be written ({why})", "mend its rights, and try again") from None
    return backup


def _told(change: Change, what: str, step: str) -> ConfigError:
    return ConfigError(str(change.path), [Fault("", what, hint=step)])
