"""The contract that every listed store keeps, and how a store is picked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wheelspin.errors import StoreError
from wheelspin.stores import STORES, open_store, store_class
from wheelspin.stores.base import Key, Store
from wheelspin.stores.memory import InMemoryStore
from wheelspin.stores.sqlite import SqliteStore
from wheelspin.testing.stores import STORE_LAWS, Clock, Open

KEY = Key("claude-code", "s1", "")


def count(state: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """Count up in a state."""
    counted = (state or {"n": 0})["n"] + 1
    return {"n": counted}, [{"run_id": "r1", "calls": counted}], counted


def _memory(_: Path) -> Open:
    opened: dict[str, Store] = {}
    return lambda name, clock: opened.setdefault(name, InMemoryStore(clock))


def _sqlite(folder: Path) -> Open:
    return lambda name, clock: SqliteStore(str(folder / f"{name}.db"), patience=30, clock=clock)


OPENERS: dict[str, Callable[[Path], Open]] = {"memory": _memory, "sqlite": _sqlite}
"""How the contract opens each listed store, with files in a folder; a store without an entry fails the contract."""


@pytest.mark.parametrize("law", STORE_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("store", STORES)
def test_a_store_keeps_its_contract(law: Callable[[Open], None], store: str, tmp_path: Path) -> None:
    """Every law holds for every listed store, and it is that very store that is opened."""
    assert store in OPENERS, f"add an entry for {store!r} to OPENERS, or its contract is not tested"
    opener = OPENERS[store](tmp_path)

    def open_listed(name: str, clock: Clock) -> Store:
        opened = opener(name, clock)
        assert type(opened) is store_class(store)
        return opened

    law(open_listed)


@pytest.mark.parametrize(
    ("address", "store"),
    [
        (":memory:", "memory"),
        ("memory://", "memory"),
        ("s.db", "sqlite"),
        ("{folder}/s.db", "sqlite"),
        ("sqlite://{folder}/s.db", "sqlite"),
    ],
)
def test_a_store_is_picked_by_its_address(
    address: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path without a scheme is an SQLite file."""
    monkeypatch.chdir(tmp_path)
    opened = open_store(address.format(folder=tmp_path))
    opened.update(KEY, count)

    assert type(opened) is store_class(store)
    assert [path.name for path in tmp_path.glob("*.db")] == (["s.db"] if store == "sqlite" else [])


def test_an_unknown_scheme_is_an_error() -> None:
    """The error lists the schemes that exist."""
    with pytest.raises(StoreError, match=r"floppy://: no store has this scheme\.") as raised:
        open_store("floppy://a")
    assert ", ".join(f"{store}://" for store in STORES) in str(raised.value)


@pytest.mark.parametrize("store", STORES)
def test_every_listed_store_opens_its_addresses(store: str, tmp_path: Path) -> None:
    """Its name is the scheme, and what follows is a place that it may create."""
    assert type(open_store(f"{store}://{tmp_path / 'place'}")) is store_class(store)
