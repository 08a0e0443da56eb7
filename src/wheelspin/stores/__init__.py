"""The stores: one file, one kind."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.stores.base import Store

__all__ = ["STORES", "open_store"]

STORES = ("memory", "sqlite")
"""The members of the family, by the names of their files."""


def open_store(path: str) -> Store:
    """
    Open the store at a path.

    Args:
        path: A file of SQLite, made where there is none; `:memory:` for one that goes with the process.
    """
    if path == ":memory:":
        from wheelspin.stores.memory import InMemoryStore

        return InMemoryStore()
    from wheelspin.stores.sqlite import SqliteStore

    return SqliteStore(path)
