"""The checks for parts of one's own: each finds what it is there to find."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from wheelspin import Level, Outcome, Settings, ToolCall
from wheelspin.core.detector_settings import DetectorSettings
from wheelspin.core.detectors.base import Detector, Finding
from wheelspin.core.detectors.generic_repeat import GenericRepeat
from wheelspin.stores.base import Key, Store
from wheelspin.stores.memory import InMemoryStore
from wheelspin.testing import Case, check_detector, check_reader, check_store
from wheelspin.transcripts.base import Event, Reader, ToolCalled, ToolReturned
from wheelspin.transcripts.codex import Codex
from wheelspin.transcripts.files import Head, TranscriptFile

CODEX = ROOT / "examples" / "sessions" / "codex.jsonl"


class Repeat(Detector):
    """A detector that is right: it warns of the third equal call."""

    id = "repeat"
    observation = "`{tool}` was called {count} times"
    alternatives = ("Do something else.",)

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        count = history.repeats(call.signature) + 1
        return self.found(Level.WARNING, count, 3, call.signature, no_progress=False) if count >= 3 else None


class Crashing(Repeat):
    """One that crashes."""

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        raise KeyError(call)


class Remembering(Repeat):
    """One that keeps a state."""

    def __init__(self) -> None:
        self.asked = 0

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        self.asked += 1
        return self.found(Level.WARNING, self.asked, 3, call.signature) if self.asked >= 3 else None


class Blind(Repeat):
    """One that does not look at outcomes."""

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        count = history.repeats(call.signature) + 1
        return self.found(Level.CRITICAL, count, 3, call.signature) if count >= 3 else None


class Misnamed(Repeat):
    """One whose findings bear another name."""

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        return Finding("another", Level.WARNING, 3, 3, (call.signature,)) if history.repeats(call.signature) else None


class Eager(Repeat):
    """One that speaks below its threshold."""

    def check(self, call: Any, history: Any, settings: DetectorSettings) -> Finding | None:
        return self.found(Level.WARNING, 2, 3, call.signature) if history.repeats(call.signature) else None


def test_a_detector_that_is_right_passes() -> None:
    """With its cases, under the settings that they name."""
    check_detector(Repeat(), Case("A1*3", warns=[3]), Case("A1*2 / A1*2"))
    low = Settings(enabled=True, warning_threshold=4, critical_threshold=7)
    check_detector(GenericRepeat(), Case("A1*8", warns=[5], blocks=[8], settings=low))


@pytest.mark.parametrize(
    ("detector", "said"),
    [
        (Crashing(), r"crashes with KeyError"),
        (Remembering(), r"a second run gives different verdicts"),
        (Blind(), r"stops call 3, although its outcomes change"),
        (Misnamed(), r"carries the id 'another', expected 'repeat'"),
        (Eager(), r"2 is below its threshold 3"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_check_tells_what_a_detector_does_wrong(detector: Detector, said: str) -> None:
    """And at which trajectory."""
    with pytest.raises(AssertionError, match=said):
        check_detector(detector)


def test_a_check_tells_where_a_case_differs() -> None:
    """What was done, and what was expected."""
    with pytest.raises(AssertionError, match=r"A1\*5: warn at \[3\], expected \[4\]"):
        check_detector(Repeat(), Case("A1*5", warns=[4]))


class Forgetting(InMemoryStore):
    """Begins anew with each change of a key."""

    def update(self, key: Key, change: Any) -> Any:
        return super().update(key, lambda _: change(None))


class OneForAll(InMemoryStore):
    """Knows sessions by their ids alone."""

    def update(self, key: Key, change: Any) -> Any:
        return super().update(Key("", key.session), change)


class HalfDone(InMemoryStore):
    """Loses the state where a change fails."""

    def update(self, key: Key, change: Any) -> Any:
        try:
            return super().update(key, change)
        except ZeroDivisionError:
            self.sweep(float("inf"))
            raise


class Swallowing(InMemoryStore):
    """Keeps errors of changes to itself."""

    def update(self, key: Key, change: Any) -> Any:
        try:
            return super().update(key, change)
        except ZeroDivisionError:
            return None


class Unordered(InMemoryStore):
    """Gives the oldest first."""

    def runs(self, most: int = 100) -> Any:
        return super().runs(10**9)[::-1][:most]


class Endless(InMemoryStore):
    """Gives all that it has."""

    def runs(self, most: int = 100) -> Any:
        return super().runs(10**9)


class Thorough(InMemoryStore):
    """Sweeps all."""

    def sweep(self, before: float) -> int:
        return super().sweep(float("inf"))


class Tracing(InMemoryStore):
    """Leaves what it tried."""

    def check(self) -> None:
        self.update(Key("check", ""), lambda _: ({}, [{"run_id": "r"}], None))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Forgetting, r"three changes of one key returned \[1, 1, 1\]"),
        (OneForAll, r"the first change of Key\(.*\) found 3 earlier ones"),
        (HalfDone, r"the change after a failed one returned 1, expected 2"),
        (Swallowing, r"the error of a failed change did not reach the caller"),
        (Unordered, r"the runs are \[\(Key\(.*b"),
        (Endless, r"asked for one run, it returned 3"),
        (Thorough, r"the sweep deleted 2 sessions, expected 1"),
        (Tracing, r"after a check, the runs are of"),
    ],
)
def test_a_check_tells_what_a_store_does_wrong(kind: type[InMemoryStore], said: str) -> None:
    """What was found, and what was expected."""
    kept: dict[str, Store] = {}
    with pytest.raises(AssertionError, match=said):
        check_store(lambda name, clock: kept.setdefault(name, kind(clock)))


def test_a_check_finds_a_store_that_is_another_when_it_is_opened_again() -> None:
    """Threads and processes open it anew."""
    with pytest.raises(AssertionError, match=r"each on a newly opened store, returned \[1, 1, 1\]"):
        check_store(lambda name, clock: InMemoryStore(clock))


class Deaf(Codex):
    def matches(self, head: Head) -> bool:
        return False


class Claiming(Codex):
    """Gives outcomes of calls that nobody asked for."""

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        return (event for event in super().read(file) if not isinstance(event, ToolCalled))


class Leaving(Codex):
    """Gives no outcomes."""

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        return (event for event in super().read(file) if not isinstance(event, ToolReturned))


class Backwards(Codex):
    """Gives places that go back."""

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        return (event._replace(line=9**9 - event.line) for event in super().read(file))


class Trusting(Reader):
    """Takes each line for a call and its outcome."""

    name = "trusting"
    title = "Trusting"

    def matches(self, head: Head) -> bool:
        return True

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        for line, entry in file.lines():
            call = ToolCall(entry["tool"], {})
            yield ToolCalled(line, call)
            yield ToolReturned(line, call, entry["outcome"])


class Silent(Codex):
    """Reads what is left of a broken file without a word."""

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        yield from super().read(file)
        file.problem_count = 0


class Outspoken(Codex):
    """Yields outcomes that include Wheelspin's own advice."""

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        texts = [json.dumps(entry) for _, entry in file.lines()]
        advised = any("Loop detected" in text for text in texts)
        for event in super().read(file):
            if advised and isinstance(event, ToolReturned):
                event = ToolReturned(event.line, event.call, Outcome.result("advised"))  # noqa: PLW2901
            yield event


def _lines(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"tool": "read", "outcome": number}) + "\n" for number in range(9)))
    return path


@pytest.mark.parametrize(
    ("reader", "sample", "said"),
    [
        (Deaf(), lambda _: CODEX, "the reader does not recognise its format"),
        (Claiming(), lambda _: CODEX, "an outcome of a call that is not open"),
        (Leaving(), lambda _: CODEX, r"\d+ calls have no outcome"),
        (Backwards(), lambda _: CODEX, "the line numbers of the events decrease"),
        (Silent(), lambda _: CODEX, "truncated, no problem is noted"),
        (Trusting(), _lines, "raises KeyError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Reader) else "",
)
def test_a_check_tells_what_a_reader_does_wrong(
    reader: Reader, sample: Callable[[Path], Path], said: str, tmp_path: Path
) -> None:
    """And in which file."""
    with pytest.raises(AssertionError, match=said):
        check_reader(reader, sample(tmp_path))


def test_a_check_of_a_reader_needs_a_session() -> None:
    """Without one nothing would be checked."""
    with pytest.raises(ValueError, match="needs a session"):
        check_reader(Codex())
