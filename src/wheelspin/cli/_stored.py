"""The runs in the user's store, and those that the user names."""

from __future__ import annotations

from wheelspin.stores import open_store
from wheelspin.stores.base import StoredRun
from wheelspin.userfiles.paths import store_path

__all__ = ["runs_named", "stored_runs"]

_MOST = 10_000


def stored_runs(most: int = _MOST) -> list[StoredRun]:
    """
    Return the runs in the store, those of the most recently used session first.

    Raises:
        StoreError: The store cannot be read.
    """
    store = open_store(store_path())
    try:
        return store.runs(most)
    finally:
        store.close()


def runs_named(given: str) -> list[StoredRun]:
    """
    Return the runs with an id, or the beginning of one: their own id or that of their session.

    Raises:
        StoreError: The store cannot be read.
    """
    runs = stored_runs()
    exact = [run for run in runs if given in _ids(run)]
    return exact or [run for run in runs if any(known.startswith(given) for known in _ids(run))]


def _ids(run: StoredRun) -> set[str]:
    return {known for known in (run.record.get("run_id"), run.key.session) if isinstance(known, str)}
