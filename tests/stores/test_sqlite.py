"""What an SQLite file must survive: locks, damage, a full disk, a newer version, a killed process."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.stores.test_stores import KEY, count
from wheelspin.errors import StoreError
from wheelspin.stores import open_store
from wheelspin.stores.sqlite import SqliteStore

DAMAGED = [b"no database at all, but long enough to be taken for one" * 99, b"SQLite format 3\0" + b"\xff" * 4096]


class TestFile:
    def test_it_is_made_with_its_folder(self, tmp_path: Path) -> None:
        """Only the user can read the folder, and the file uses a write-ahead log."""
        path = tmp_path / "state" / "wheelspin" / "s.db"
        open_store(str(path)).update(KEY, count)

        assert (path.parent.stat().st_mode & 0o077) == 0
        assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)

    @pytest.mark.parametrize("content", DAMAGED)
    def test_a_damaged_file_is_set_aside_and_never_deleted(self, tmp_path: Path, content: bytes) -> None:
        """The next call creates a new one."""
        path = tmp_path / "s.db"
        path.write_bytes(content)
        store = SqliteStore(str(path))
        with suppress(StoreError):
            store.update(KEY, count)
        store.update(KEY, count)

        (aside,) = tmp_path.glob("s.db.damaged-*")
        assert aside.read_bytes() == content

    def test_a_file_of_a_newer_version_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        """The error says what to do, and the file stays in place."""
        path = tmp_path / "s.db"
        SqliteStore(str(path)).update(KEY, count)
        newer = sqlite3.connect(path)
        newer.execute("PRAGMA user_version = 99")
        newer.close()

        with pytest.raises(StoreError, match="newer version of Wheelspin"):
            SqliteStore(str(path)).update(KEY, count)
        assert list(tmp_path.glob("*damaged*")) == []

    def test_a_locked_file_is_an_error_after_some_patience(self, tmp_path: Path) -> None:
        """The store works again once the lock is released."""
        path = tmp_path / "s.db"
        store = SqliteStore(str(path), patience=0.01)
        store.update(KEY, count)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreError, match="locked"):
            store.update(KEY, count)
        other.execute("ROLLBACK")
        assert store.update(KEY, count) == 2

    @pytest.mark.parametrize(
        ("pragma", "said"),
        [("max_page_count = 1", "the disk is full"), ("query_only = 1", "it is read-only")],
        ids=["full", "read-only"],
    )
    def test_a_place_that_cannot_be_written_is_an_error(self, tmp_path: Path, pragma: str, said: str) -> None:
        """Nothing is changed, and no file is set aside."""
        path = str(tmp_path / "s.db")
        store = SqliteStore(path)
        store.update(KEY, count)
        assert store._open is not None
        store._open.execute(f"PRAGMA {pragma}")

        def grow(state: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
            return {"n": "x" * 1_000_000}, [], 0

        with pytest.raises(StoreError, match=said):
            store.update(KEY, grow)
        assert SqliteStore(path).update(KEY, count) == 2
        assert list(tmp_path.glob("*damaged*")) == []

    def test_a_place_that_cannot_be_a_file_is_an_error(self, tmp_path: Path) -> None:
        """There is a folder in its place, or a file in place of its folder."""
        (tmp_path / "file").write_text("x")
        (tmp_path / "folder").mkdir()

        for path in (tmp_path / "folder", tmp_path / "file" / "s.db"):
            with pytest.raises(StoreError, match="WHEELSPIN_STORE"):
                SqliteStore(str(path)).update(KEY, count)

    def test_a_row_without_valid_json_is_ignored(self, tmp_path: Path) -> None:
        """Its session starts over, and its runs are not listed."""
        path = tmp_path / "s.db"
        SqliteStore(str(path)).update(KEY, count)
        with sqlite3.connect(path) as changed:
            changed.execute("UPDATE sessions SET state = '{', records = 'x'")

        store = SqliteStore(str(path))
        assert store.runs() == []
        assert store.update(KEY, count) == 1


KILLED = """
import os, sys, signal
sys.path[:0] = {paths!r}
from wheelspin.stores.base import Key
from wheelspin.stores.sqlite import SqliteStore
store = SqliteStore({path!r}, patience=30)
def change(state):
    count = (state or {{"n": 0}})["n"] + 1
    if count == {dies_at}:
        os.kill(os.getpid(), signal.SIGKILL)
    return {{"n": count}}, [], count
while True:
    store.update(Key("claude-code", "s1"), change)
"""


def test_a_killed_process_leaves_no_change_half_done(tmp_path: Path) -> None:
    """The file is intact, and only the interrupted change is missing."""
    path = str(tmp_path / "s.db")
    paths = [str(ROOT / "src"), *(place for place in sys.path if place.endswith("site-packages"))]
    for dies_at in range(2, 12):
        code = KILLED.format(paths=paths, path=path, dies_at=dies_at)
        ended = subprocess.run(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-S", "-I", "-c", code], check=False, capture_output=True
        )
        assert ended.returncode == -signal.SIGKILL
        with sqlite3.connect(path) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert json.loads(opened.execute("SELECT state FROM sessions").fetchone()[0]) == {"n": dies_at - 1}
    assert list(tmp_path.glob("*.damaged-*")) == []
