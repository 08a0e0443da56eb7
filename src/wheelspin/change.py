"""
A change of one of the user's files: it can be shown before it is made.

What is written goes beside the file first and takes its place in one step, and a copy of what was there is kept.
"""

from __future__ import annotations

import difflib
import os
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
        ConfigError: It cannot be written; what was there is untouched.
    """
    path = change.path.resolve()
    backup = None
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if change.keeps and path.exists():
            stamp = time.strftime("%Y%m%d-%H%M%S")
            backup = path.with_name(f"{path.name}.before-wheelspin-{stamp}")
            if not backup.exists():
                backup.write_text(change.before, encoding="utf-8", newline="")
        if not change.after:
            path.unlink(missing_ok=True)
            return backup
        beside.write_text(change.after, encoding="utf-8", newline="")
        if path.exists():
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        why = problem.strerror or str(problem)
        raise ConfigError(
            str(change.path), [Fault("", f"it cannot be written ({why})", hint="mend its rights, and try again")]
        ) from None
    return backup
