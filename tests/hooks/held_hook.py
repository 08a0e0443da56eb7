"""
Run an installed hook as a host does, and stop it at one point of its transaction: `held_hook.py LAUNCHER POINT HOST`.

A point is `before` or `after`, followed by the first word of an SQL statement or by `CLOSE`. When the process reaches
the point for the first time, it sends itself SIGSTOP. A test can wait for that, and knows exactly what the process has
done when it kills it or lets it go on.
"""

from __future__ import annotations

import os
import runpy
import signal
import sqlite3
import sys
from typing import Any


class _HeldConnection(sqlite3.Connection):
    """A connection that stops the process at the point."""

    point = ""

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        word = sql.split(maxsplit=1)[0]
        self._reach(f"before {word}")
        cursor = super().execute(sql, *given)
        self._reach(f"after {word}")
        return cursor

    def close(self) -> None:
        super().close()
        self._reach("after CLOSE")

    def _reach(self, point: str) -> None:
        if point == self.point:
            type(self).point = ""
            signal.setitimer(signal.ITIMER_REAL, 0)  # the hook's own time limit must not end it while it is held
            os.kill(os.getpid(), signal.SIGSTOP)


def main(launcher: str, point: str, host: str) -> None:
    """Run the launcher with connections that stop the process."""
    connect = sqlite3.connect
    _HeldConnection.point = point

    def held(path: str, **options: Any) -> sqlite3.Connection:
        return connect(path, factory=_HeldConnection, **options | {"timeout": 60})  # a slow machine is no failure

    sqlite3.connect = held  # type: ignore[assignment]
    sys.argv = [launcher, host]
    runpy.run_path(launcher)


if __name__ == "__main__":
    main(*sys.argv[1:])
