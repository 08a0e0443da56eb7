"""The contract that every store keeps, and what only a file has to stand."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from wheelspin import stores
from wheelspin.errors import StoreError
from wheelspin.store import Key, Store
from wheelspin.stores import STORES, open_store
from wheelspin.stores.memory import MemoryStore
from wheelspin.stores.sqlite import SqliteStore

KEY = Key("claude-code", "s1", "")
ROOT = Path(__file__).parents[2]


class Clock:
    """A time that the test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=STORES)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Clock]]:
    """Give an empty store of each kind, and its clock."""
    clock = Clock()
    store: Store = MemoryStore(clock) if request.param == "memory" else SqliteStore(str(tmp_path / "s.db"), clock=clock)
    yield store, clock
    store.close()


def _count(state: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    count = (state or {"n": 0})["n"] + 1
    return {"n": count}, [{"run_id": "r1", "calls": count}], count


class TestContract:
    def test_a_check_leaves_no_trace(self, made: tuple[Store, Clock]) -> None:
        """It only tells whether the store could be written."""
        store, _ = made
        store.update(KEY, _count)
        store.check()

        assert [run.key for run in store.runs()] == [KEY]
        assert store.update(KEY, _count) == 2

    def test_a_state_is_there_for_the_next_change_of_its_key(self, made: tuple[Store, Clock]) -> None:
        """Keys are host, session and agent: one that differs in any of them has a state of its own."""
        store, _ = made
        others = [Key("codex", "s1", ""), Key("claude-code", "s2", ""), Key("claude-code", "s1", "helper")]

        assert [store.update(KEY, _count) for _ in range(3)] == [1, 2, 3]
        assert [store.update(key, _count) for key in others] == [1, 1, 1]

    def test_a_change_that_fails_changes_nothing(self, made: tuple[Store, Clock]) -> None:
        """Its error passes through."""
        store, _ = made
        store.update(KEY, _count)

        with pytest.raises(ZeroDivisionError):
            store.update(KEY, lambda _: 1 // 0)  # type: ignore[arg-type,return-value]
        assert store.update(KEY, _count) == 2

    def test_the_runs_are_those_of_the_sessions_used_last(self, made: tuple[Store, Clock]) -> None:
        """Each with its key and the time of its newest event; no more than are asked for."""
        store, clock = made
        for number, session in enumerate(("a", "b", "c")):
            clock.now = 1000.0 + number
            store.update(Key("codex", session), _count)

        assert [(run.key.session, run.updated, run.record["calls"]) for run in store.runs()] == [
            ("c", 1002.0, 1),
            ("b", 1001.0, 1),
            ("a", 1000.0, 1),
        ]
        assert [run.key.session for run in store.runs(1)] == ["c"]

    def test_old_sessions_are_swept(self, made: tuple[Store, Clock]) -> None:
        """Those whose newest event is older; the others stay."""
        store, clock = made
        store.update(KEY, _count)
        clock.now = 2000.0
        store.update(Key("codex", "s1"), _count)

        assert store.sweep(1500.0) == 1
        assert [run.key.host for run in store.runs()] == ["codex"]
        assert store.update(KEY, _count) == 1

    def test_threads_change_a_state_one_after_the_other(self, tmp_path: Path) -> None:
        """No change is lost."""
        path = str(tmp_path / "s.db")
        memory = MemoryStore()

        def work(make: Callable[[], Store]) -> None:
            store = make()
            for _ in range(25):
                store.update(KEY, _count)

        for make in (lambda: memory, lambda: SqliteStore(path, patience=30)):
            threads = [threading.Thread(target=work, args=(make,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert make().update(KEY, _count) == 101


DAMAGED = [b"no database at all, but long enough to be taken for one" * 99, b"SQLite format 3\0" + b"\xff" * 4096]


class TestFile:
    def test_it_is_made_with_its_folder(self, tmp_path: Path) -> None:
        """For the user alone, and written ahead."""
        path = tmp_path / "state" / "wheelspin" / "s.db"
        open_store(str(path)).update(KEY, _count)

        assert (path.parent.stat().st_mode & 0o077) == 0
        assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)

    @pytest.mark.parametrize("content", DAMAGED)
    def test_a_damaged_file_is_set_aside_and_never_deleted(self, tmp_path: Path, content: bytes) -> None:
        """The next call has a new one."""
        path = tmp_path / "s.db"
        path.write_bytes(content)
        store = SqliteStore(str(path))
        with suppress(StoreError):
            store.update(KEY, _count)
        store.update(KEY, _count)

        (aside,) = tmp_path.glob("s.db.damaged-*")
        assert aside.read_bytes() == content

    def test_a_file_of_a_newer_version_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        """The error says what to do."""
        path = tmp_path / "s.db"
        SqliteStore(str(path)).update(KEY, _count)
        newer = sqlite3.connect(path)
        newer.execute("PRAGMA user_version = 99")
        newer.close()

        with pytest.raises(StoreError, match="newer Wheelspin"):
            SqliteStore(str(path)).update(KEY, _count)
        assert list(tmp_path.glob("*damaged*")) == []

    def test_a_locked_file_is_an_error_after_some_patience(self, tmp_path: Path) -> None:
        """And is usable again afterwards."""
        path = tmp_path / "s.db"
        store = SqliteStore(str(path), patience=0.01)
        store.update(KEY, _count)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreError, match="locked"):
            store.update(KEY, _count)
        other.execute("ROLLBACK")
        assert store.update(KEY, _count) == 2

    @pytest.mark.parametrize(
        ("pragma", "said"),
        [("max_page_count = 1", "the disk is full"), ("query_only = 1", "it may not be written")],
        ids=["full", "read-only"],
    )
    def test_a_place_that_cannot_be_written_is_an_error(self, tmp_path: Path, pragma: str, said: str) -> None:
        """Nothing is changed, and nothing is set aside."""
        path = str(tmp_path / "s.db")
        store = SqliteStore(path)
        store.update(KEY, _count)
        store._connection().execute(f"PRAGMA {pragma}")

        def grow(state: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
            return {"n": "x" * 1_000_000}, [], 0

        with pytest.raises(StoreError, match=said):
            store.update(KEY, grow)
        assert SqliteStore(path).update(KEY, _count) == 2
        assert list(tmp_path.glob("*damaged*")) == []

    def test_a_place_that_cannot_be_a_file_is_an_error(self, tmp_path: Path) -> None:
        """A folder in its place, or a file where its folder should be."""
        (tmp_path / "file").write_text("x")
        (tmp_path / "folder").mkdir()

        for path in (tmp_path / "folder", tmp_path / "file" / "s.db"):
            with pytest.raises(StoreError, match="WHEELSPIN_STORE"):
                SqliteStore(str(path)).update(KEY, _count)

    def test_a_row_that_holds_no_state_counts_as_none(self, tmp_path: Path) -> None:
        """Whatever was written there."""
        path = tmp_path / "s.db"
        SqliteStore(str(path)).update(KEY, _count)
        with sqlite3.connect(path) as changed:
            changed.execute("UPDATE sessions SET state = '{', records = 'x'")

        store = SqliteStore(str(path))
        assert store.runs() == []
        assert store.update(KEY, _count) == 1


KILLED = """
import os, sys, signal
sys.path[:0] = {paths!r}
from wheelspin.store import Key
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


def test_a_killed_process_leaves_nothing_half_done(tmp_path: Path) -> None:
    """The store opens, and nothing but the killed change is missing."""
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


def test_every_file_of_the_family_is_listed() -> None:
    """A store that is written but not named would not be tested."""
    files = {path.stem for path in Path(next(iter(stores.__path__))).glob("*.py")} - {"__init__"}

    assert files == set(STORES)
