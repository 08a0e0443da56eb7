"""A check that a store keeps its contract: no change is lost, and none is left half done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

from wheelspin.stores.base import Key, Store
from wheelspin.testing.expect import expect

__all__ = ["STORE_LAWS", "Open", "check_store"]

Clock = Callable[[], float]
Open = Callable[[str, Clock], Store]
"""Opens the store with a name, given a clock. Each name has its own data, empty at first, and may be opened twice."""

_KEY = Key("claude-code", "s1")
_THREADS = 4
_CHANGES = 25


def check_store(open_store: Open) -> None:
    """
    Check that a store keeps every law of `STORE_LAWS`.

    Args:
        open_store: Opens the store with a name, given a clock that dates its sessions.

    Raises:
        AssertionError: A law does not hold; the message says what was found and what was expected.

    Example:
        >>> from wheelspin.stores.memory import InMemoryStore
        >>> opened = {}
        >>> check_store(lambda name, clock: opened.setdefault(name, InMemoryStore(clock)))
    """
    for law in STORE_LAWS:
        law(open_store)


def keeps_a_state_for_each_key(open_store: Open) -> None:
    """The next change of a key sees the state of the last one; keys that differ in any part have separate states."""
    store = open_store("keys", _at(1000))
    counts = [store.update(_KEY, _count) for _ in range(3)]
    expect(counts == [1, 2, 3], f"three changes of one key returned {counts}, expected [1, 2, 3]")
    for other in (Key("codex", "s1"), Key("claude-code", "s2"), Key("claude-code", "s1", "helper")):
        found = store.update(other, _count)
        expect(found == 1, f"the first change of {other} found {found - 1} earlier ones")


def is_there_when_it_is_opened_again(open_store: Open) -> None:
    """What one handle writes, another reads."""
    counts = [open_store("twice", _at(1000)).update(_KEY, _count) for _ in range(3)]
    expect(counts == [1, 2, 3], f"three changes, each on a newly opened store, returned {counts}, expected [1, 2, 3]")


def drops_a_change_that_fails(open_store: Open) -> None:
    """A change that raises leaves the state as it was, and the caller sees its error."""
    store = open_store("failing", _at(1000))
    before = store.update(_KEY, _count)
    raised = False
    try:
        store.update(_KEY, _fail)
    except ZeroDivisionError:
        raised = True
    expect(raised, "the error of a failed change did not reach the caller")
    given = store.update(_KEY, _count)
    expect(given == before + 1, f"the change after a failed one returned {given}, expected {before + 1}")


def returns_the_most_recent_runs_first(open_store: Open) -> None:
    """Each run has its key and the time of its newest event; no more are returned than were asked for."""
    times = count(1000)
    store = open_store("runs", lambda: float(next(times)))
    for session in ("a", "b", "c", "a"):
        store.update(Key("codex", session), _count)
    runs = [(run.key, run.updated, run.record) for run in store.runs()]
    wanted = [
        (Key("codex", session), time, {"run_id": "r1", "calls": calls})
        for session, time, calls in (("a", 1003.0, 2), ("c", 1002.0, 1), ("b", 1001.0, 1))
    ]
    expect(runs == wanted, f"the runs are {runs}, expected {wanted}")
    expect(len(store.runs(1)) == 1, f"asked for one run, it returned {len(store.runs(1))}")


def deletes_old_sessions(open_store: Open) -> None:
    """`sweep` deletes the sessions whose newest event is older than the given time, and returns how many."""
    times = iter((1000.0, 2000.0, 2000.0))
    store = open_store("sweep", lambda: next(times))
    store.update(_KEY, _count)
    store.update(Key("codex", "s1"), _count)
    swept = store.sweep(1500.0)
    expect(swept == 1, f"the sweep deleted {swept} sessions, expected 1")
    left = [run.key.host for run in store.runs()]
    expect(left == ["codex"], f"after the sweep, the runs left are of {left}, expected ['codex']")
    given = store.update(_KEY, _count)
    expect(given == 1, f"the state of a deleted session is still there: the next change returned {given}")


def leaves_no_trace_of_a_check(open_store: Open) -> None:
    """`check` adds no run and no session."""
    store = open_store("check", _at(1000))
    store.update(_KEY, _count)
    store.check()
    keys = [run.key for run in store.runs()]
    expect(keys == [_KEY], f"after a check, the runs are of {keys}, expected {[_KEY]}")


def loses_no_change_of_threads(open_store: Open) -> None:
    """Threads that change one state, each with its own handle, take turns."""

    def work(_: int) -> None:
        store = open_store("threads", _at(1000))
        for _ in range(_CHANGES):
            store.update(_KEY, _count)

    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(work, range(_THREADS)))
    given = open_store("threads", _at(1000)).update(_KEY, _count)
    wanted = _THREADS * _CHANGES + 1
    expect(given == wanted, f"after {wanted - 1} changes by {_THREADS} threads, the next returned {given}")


STORE_LAWS: tuple[Callable[[Open], None], ...] = (
    keeps_a_state_for_each_key,
    is_there_when_it_is_opened_again,
    drops_a_change_that_fails,
    returns_the_most_recent_runs_first,
    deletes_old_sessions,
    leaves_no_trace_of_a_check,
    loses_no_change_of_threads,
)
"""The laws that every store keeps."""


def _at(time: float) -> Clock:
    return lambda: float(time)


def _count(state: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    number = (state or {"n": 0})["n"] + 1
    return {"n": number}, [{"run_id": "r1", "calls": number}], number


def _fail(_: dict[str, Any] | None) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    raise ZeroDivisionError
