"""
A store in one file of SQLite, for hook processes that run at once and come and go.

Each change is one transaction that is written ahead (WAL), so a process that is killed in the middle leaves nothing
half done. A file that is damaged is set aside, never deleted.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time

from wheelspin.errors import StoreError
from wheelspin.stores.base import Key, Store, StoredRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from wheelspin.stores.base import Answer, Change

__all__ = ["SqliteStore"]

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
  host TEXT NOT NULL,
  session TEXT NOT NULL,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  records TEXT NOT NULL,
  updated REAL NOT NULL,
  PRIMARY KEY (host, session, agent)
) WITHOUT ROWID
"""
_READ = "SELECT state FROM sessions WHERE host = ? AND session = ? AND agent = ?"
_WRITE = "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?)"
_RUNS = "SELECT host, session, agent, records, updated FROM sessions ORDER BY updated DESC LIMIT ?"
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_STEPS = {
    "SQLITE_BUSY": ("it is locked by another process", "It is tried again with the next call."),
    "SQLITE_LOCKED": ("it is locked by another process", "It is tried again with the next call."),
    "SQLITE_FULL": ("the disk is full", "Make room there, or let `WHEELSPIN_STORE` name another file."),
    "SQLITE_READONLY": ("it may not be written", "Mend its rights, or let `WHEELSPIN_STORE` name another file."),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Mend its rights, or let `WHEELSPIN_STORE` name another file."),
    "SQLITE_IOERR": ("it cannot be read or written", "Look at the disk, or let `WHEELSPIN_STORE` name another file."),
}


class SqliteStore(Store):
    """
    Keep states in a file.

    Args:
        path: The file; it and its folder are made where they are not there.
        patience: Seconds to wait for another process that writes.
        clock: Gives the time in seconds since the epoch.
    """

    def __init__(self, path: str, *, patience: float = 2.0, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._patience = patience
        self._clock = clock
        self._open: sqlite3.Connection | None = None

    def update(self, key: Key, change: Change[Answer]) -> Answer:
        """Change a state in one transaction."""
        try:
            return self._change((key.host, key.session, key.agent), change)
        except sqlite3.Error as problem:
            raise self._told(problem) from None

    def runs(self, most: int = 100) -> list[StoredRun]:
        """Give the runs of the sessions that were used last."""
        try:
            rows = self._connection().execute(_RUNS, (most,)).fetchall()
        except sqlite3.Error as problem:
            raise self._told(problem) from None
        found = []
        for host, session, agent, records, updated in rows:
            key = Key(host, session, agent)
            found += [StoredRun(key, record, updated) for record in _decoded(records) or ()]
        return found[:most]

    def sweep(self, before: float) -> int:
        """Forget old sessions."""
        try:
            return self._connection().execute("DELETE FROM sessions WHERE updated < ?", (before,)).rowcount
        except sqlite3.Error as problem:
            raise self._told(problem) from None

    def check(self) -> None:
        """Write a row and take it back."""
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_WRITE, ("", "", "", "", "", 0.0))
            connection.execute("ROLLBACK")
        except sqlite3.Error as problem:
            raise self._told(problem) from None

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _change(self, whose: tuple[str, str, str], change: Change[Answer]) -> Answer:
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            row = connection.execute(_READ, whose).fetchone()
            state, records, answer = change(_decoded(row[0]) if row is not None else None)
            connection.execute(_WRITE, (*whose, json.dumps(state), json.dumps(records), self._clock()))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return answer

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = self._opened()
        return self._open

    def _opened(self) -> sqlite3.Connection:
        """Open the file; a damaged one is set aside, and a new one made in its place."""
        folder = os.path.dirname(os.path.abspath(self.path))
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as problem:
            why = problem.strerror or str(problem)
            step = "Mend that, or let `WHEELSPIN_STORE` name another file."
            raise StoreError(self.path, f"its folder cannot be made ({why})", step) from None
        try:
            return self._checked()
        except sqlite3.DatabaseError as problem:
            if getattr(problem, "sqlite_errorname", "") not in _DAMAGED:
                raise
            self._set_aside()
            return self._checked()

    def _checked(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            self._refuse_newer(version)
            if version < _VERSION:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute("COMMIT")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_newer(self, version: int) -> None:
        if version > _VERSION:
            step = "Upgrade this one, or let `WHEELSPIN_STORE` name another file."
            raise StoreError(self.path, "it was made by a newer Wheelspin", step)

    def _set_aside(self) -> None:
        """Move a damaged file, and what is written ahead of it, out of the way."""
        mark = f".damaged-{int(self._clock())}-{os.getpid()}"
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.replace(self.path + end, self.path + mark + end)

    def _told(self, problem: sqlite3.Error) -> StoreError:
        """Tell a fault of the database as an error of the store; a damaged file is set aside."""
        name = getattr(problem, "sqlite_errorname", "") or ""
        self.close()
        if name in _DAMAGED:
            self._set_aside()
            return StoreError(self.path, "it was damaged and is set aside", "A new one is made with the next call.")
        what, step = next(
            (told for code, told in _STEPS.items() if name.startswith(code)),
            (f"it cannot be used ({name or type(problem).__name__})", "Let `WHEELSPIN_STORE` name another file."),
        )
        return StoreError(self.path, what, step)


def _decoded(text: str) -> Any:
    """Decode what a row holds; what is no JSON counts as nothing."""
    try:
        return json.loads(text)
    except ValueError:
        return None
