"""One guard that is used by many threads."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.core.guard.calls import SAME, repeat
from wheelspin import Guard, LoopEvent, ToolCall


class TestThreads:
    @pytest.fixture(autouse=True)
    def _switch_often(self) -> Iterator[None]:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        yield
        sys.setswitchinterval(interval)

    @staticmethod
    def _work(guard: Guard, *, period: int) -> None:
        def work(number: int) -> None:
            for step in range(200):
                arguments = {"n": step % period}
                call = ToolCall("read", arguments, id=f"c{step}", run_id=f"r{number % 4}", session_id=f"s{number}")
                if not guard.before(call).stops:
                    guard.after(call, SAME)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def test_many_threads_lose_no_step(self) -> None:
        """Eight threads with one guard: each run is counted as if it were alone."""
        guard = Guard()
        self._work(guard, period=200)

        assert sorted(record.calls for record in guard.records()) == [200] * 8

    def test_many_threads_lose_no_event_and_tell_none_twice(self) -> None:
        """Whichever thread hands it to the listeners."""
        told: list[str] = []
        self._work(Guard(listeners=[lambda event: told.append(event.kind)]), period=1)

        assert Counter(told) == {"warning": 8, "block": 8 * 10, "abort": 8 * 170}

    def test_a_listener_may_ask_the_guard(self) -> None:
        """Events are told when the guard is done, so that it can be asked from a listener."""
        seen: list[int] = []
        guard: Guard

        def ask(_: LoopEvent) -> None:
            record = guard.record("r1")
            assert record is not None
            seen.append(record.calls)

        guard = Guard(listeners=[ask])
        repeat(guard, 11, run_id="r1")

        assert seen == [11]
