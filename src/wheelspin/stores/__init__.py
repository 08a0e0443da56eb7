"""The stores: one file per back end, and the one place that picks a store by its address."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.stores.base import Store

__all__ = ["STORES", "open_store", "store_class"]

STORES = {
    "memory": "InMemoryStore",
    "sqlite": "SqliteStore",
}
"""The stores: the name of each file, which is also the scheme of its addresses, and the class in it."""

_ALIASES = {":memory:": "memory://"}
_DEFAULT = "sqlite"


def open_store(address: str) -> Store:
    """
    Open the store at an address.

    Args:
        address: The path of an SQLite file, which is created if it does not exist; `:memory:` for a store that lasts as
            long as the process; or `SCHEME://…`, where the scheme is one of `STORES`.

    Raises:
        StoreError: No store has that scheme.
    """
    address = _ALIASES.get(address, address)
    scheme, separator, _ = address.partition("://")
    return store_class(scheme if separator else _DEFAULT).at(address)


def store_class(name: str) -> type[Store]:
    """
    Return the class of a store by its name in `STORES`.

    Raises:
        StoreError: There is no such store.
    """
    if name not in STORES:
        from wheelspin.errors import StoreError

        known = ", ".join(f"{store}://" for store in STORES)
        raise StoreError(f"{name}://", "no store has this scheme", f"Use the path of a file, or one of {known}.")
    found: type[Store] = getattr(__import__(f"wheelspin.stores.{name}", fromlist=[STORES[name]]), STORES[name])
    return found
