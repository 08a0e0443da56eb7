"""
A store in an SQLite file, for short-lived hook processes that run at the same time.

Each change is one transaction in a write-ahead log (WAL), so a process that is killed in the middle of one leaves the
state unchanged. A damaged file is set aside, never deleted.
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
    from typing import Any, Self

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
_SWEEP = "DELETE FROM sessions WHERE updated < ?"
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_STEPS = {
    "SQLITE_BUSY": ("it is locked by another process", "The next call tries again."),
    "SQLITE_LOCKED": ("it is locked by another process", "The next call tries again."),
    "SQLITE_FULL": ("the disk is full", "Free some space, or set `WHEELSPIN_STORE` to another file."),
    "SQLITE_READONLY": ("it is read-only", "Fix its permissions, or set `WHEELSPIN_STORE` to another file."),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Fix its permissions, or set `WHEELSPIN_STORE` to another file."),
    "SQLITE_IOERR": ("it cannot be read or written", "Check the disk, or set `WHEELSPIN_STORE` to another file."),
}


class SqliteStore(Store):
    """
    A store that keeps states in an SQLite file.

    Args:
        path: The file; it and its folder are created if they do not exist.
        patience: Seconds to wait while another process writes.
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(self, path: str, *, patience: float = 2.0, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._patience = patience
        self._clock = clock
        self._open: sqlite3.Connection | None = None

    @classmethod
    def at(cls, address: str, /) -> Self:
        """Open the file at `sqlite://PATH`, or at a plain path."""
        return cls(address.removeprefix("sqlite://"))

    def update(self, key: Key, change: Change[Answer]) -> Answer:
        """Change a state in one transaction."""
        return self._do(lambda connection: self._change(connection, (key.host, key.session, key.agent), change))

    def runs(self, most: int = 100) -> list[StoredRun]:
        """Return the runs of the most recently used sessions."""
        rows = self._do(lambda connection: connection.execute(_RUNS, (most,)).fetchall())
        found = []
        for host, session, agent, records, updated in rows:
            key = Key(host, session, agent)
            found += [StoredRun(key, record, updated) for record in _decoded(records) or ()]
        return found[:most]

    def sweep(self, before: float) -> int:
        """Delete old sessions."""
        return self._do(lambda connection: connection.execute(_SWEEP, (before,)).rowcount)

    def check(self) -> None:
        """Write a row and roll it back."""
        self._do(_try_writing)

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _do(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Work on the open file, and raise what SQLite raises as a `StoreError`."""
        try:
            if self._open is None:
                self._open = self._opened()
            return work(self._open)
        except sqlite3.Error as problem:
            raise self._store_error(problem) from None

    def _change(self, connection: sqlite3.Connection, owner: tuple[str, str, str], change: Change[Answer]) -> Answer:
        connection.execute("BEGIN IMMEDIATE")
        try:
            row = connection.execute(_READ, owner).fetchone()
            state, records, answer = change(_decoded(row[0]) if row is not None else None)
            connection.execute(_WRITE, (*owner, json.dumps(state), json.dumps(records), self._clock()))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return answer

    def _opened(self) -> sqlite3.Connection:
        """Open the file; set a damaged one aside and create a new one in its place."""
        folder = os.path.dirname(os.path.abspath(self.path))
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as problem:
            why = problem.strerror or str(problem)
            step = "Create the folder, or set `WHEELSPIN_STORE` to another file."
            raise StoreError(self.path, f"its folder cannot be created ({why})", step) from None
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
                self._write_ahead(connection)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute("COMMIT")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def _write_ahead(connection: sqlite3.Connection) -> None:
        """Switch the file to write-ahead logging; wait for a process that is creating the store at the same time."""
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorname != "SQLITE_BUSY":
                    raise
                # SQLite fails here at once, whatever the timeout of the connection: only a transaction waits.
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("ROLLBACK")
            else:
                return

    def _refuse_newer(self, version: int) -> None:
        if version > _VERSION:
            step = "Upgrade Wheelspin, or set `WHEELSPIN_STORE` to another file."
            raise StoreError(self.path, "it was created by a newer version of Wheelspin", step)

    def _set_aside(self) -> None:
        """Move a damaged file and its write-ahead log out of the way."""
        mark = f".damaged-{int(self._clock())}-{os.getpid()}"
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.replace(self.path + end, self.path + mark + end)

    def _store_error(self, problem: sqlite3.Error) -> StoreError:
        """Return an error of the database as one of the store; set a damaged file aside."""
        name = getattr(problem, "sqlite_errorname", "") or ""
        self.close()
        if name in _DAMAGED:
            self._set_aside()
            return StoreError(self.path, "it was damaged and has been set aside", "The next call creates a new one.")
        what, step = next(
            (found for code, found in _STEPS.items() if name.startswith(code)),
            (f"it cannot be used ({name or type(problem).__name__})", "Set `WHEELSPIN_STORE` to another file."),
        )
        return StoreError(self.path, what, step)


def _try_writing(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_WRITE, ("", "", "", "", "", 0.0))
    connection.execute("ROLLBACK")


def _decoded(text: str) -> Any:
    """Decode the JSON in a row; return `None` if it is not valid."""
    try:
        return json.loads(text)
    except ValueError:
        return None
