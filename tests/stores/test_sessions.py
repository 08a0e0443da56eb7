"""Guards whose state is in a store: a new session deletes expired ones, and a damaged state starts over."""

from __future__ import annotations

from typing import Any

from wheelspin import Guard, Settings, ToolCall
from wheelspin.stores.base import Key
from wheelspin.stores.memory import InMemoryStore
from wheelspin.stores.sessions import Sessions

DAY = 24 * 3600.0


class Clock:
    """A clock that the test sets."""

    now = 100 * DAY

    def __call__(self) -> float:
        return self.now


def _ask(guard: Guard) -> Any:
    return guard.before(ToolCall("read", {"path": "/a"}, session_id="s"))


def test_a_new_session_deletes_those_without_an_event_for_two_weeks() -> None:
    """The others stay; an event of a known session deletes nothing."""
    clock = Clock()
    store = InMemoryStore(clock)
    sessions = Sessions(store, Settings(enabled=True), clock=clock)

    def kept() -> list[str]:
        return sorted({run.key.session for run in store.runs()})

    for name, day in (("old", 0), ("newer", 10), ("known", 10)):
        clock.now = (100 + day) * DAY
        sessions.act(Key("codex", name), _ask)
    clock.now = 115 * DAY
    sessions.act(Key("codex", "known"), _ask)
    assert kept() == ["known", "newer", "old"]

    sessions.act(Key("codex", "new"), _ask)
    assert kept() == ["known", "new", "newer"]


def test_a_damaged_state_starts_over_and_is_reported() -> None:
    """The call is still judged."""
    store = InMemoryStore()
    store.update(Key("codex", "s"), lambda _: ({"version": 1}, [], None))
    reports: list[str] = []
    sessions = Sessions(store, Settings(enabled=True), damaged=reports.append)

    assert sessions.act(Key("codex", "s"), _ask).action == "allow"
    (report,) = reports
    assert report.startswith("codex session s: ")
    assert report.endswith("; the session starts over")
    assert store.runs()[0].record["calls"] == 1
