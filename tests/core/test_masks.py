"""What is volatile in the text of a failure is masked; everything else stays."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wheelspin import Outcome, ToolHint
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.masks import mask_failure, masked_kinds
from wheelspin.core.outcome_reading import _may_be_stub, read_outcome
from wheelspin.core.outcome_status import SUCCESSFUL
from wheelspin.core.status_reading import status_of
from wheelspin.core.tools import Tool

MASKED = {
    "a clock time": ("at 10:32:07 it broke", "at 10:32:08 it broke", "time"),
    "a date and time": ("2026-06-16T10:03:07Z ERROR x", "2026-06-16T11:44:01Z ERROR x", "time"),
    "a log's date": ("2026/06/16 10:03:07,123 x", "2026/06/16 10:03:09,001 x", "time"),
    "a duration": ("failed after 0.31s", "failed after 12.5s", "duration"),
    "a duration in words": ("gave up after 3 seconds", "gave up after 41 seconds", "duration"),
    "minutes and seconds": ("took 1m12s", "took 2m3.5s", "duration"),
    "a rate": ("4190.11it/s then error", "3020.5it/s then error", "rate"),
    "a progress bar": (
        "split: 100%|####| 5/5 [00:01<00:00]\nboom",
        "split: 40%|##  | 2/5 [00:01<00:02]\nboom",
        "progress",
    ),
    "an attempt": ("attempt 1 of 5 failed", "attempt 2 of 5 failed", "attempt"),
    "a retry": ("Retry #3: no", "Retry #4: no", "attempt"),
    "a process id": ("worker pid 812 died", "worker pid 99 died", "process"),
    "a process group": ("Process Group PGID: 4711", "Process Group PGID: 12", "process"),
    "an address": ("<Foo object at 0x7f00aa12>", "<Foo object at 0x7f00bb99>", "address"),
    "a temporary path": ("cannot open /tmp/build-17/x.c", "cannot open /tmp/build-18/x.c", "path"),
    "a temporary folder's name": ("in tmpab12cd_8 it failed", "in tmpzz99xy_1 it failed", "path"),
    "a request id": ("request id: 8f-22 refused", "request id: 9a-01 refused", "id"),
    "a uuid": (
        "run 123e4567-e89b-42d3-a456-426614174000 failed",
        "run 7d444840-9dc0-41d1-b245-5ffdce74fad2 failed",
        "id",
    ),
    "a seed": ("random seed set to 715", "random seed set to 678", "seed"),
}
KEPT = {
    "a line": ("error at line 12", "error at line 40"),
    "a place in a file": ("a.py:12:34: error", "a.py:15:10: error"),
    "how many failed": ("3 failed, 5 passed", "2 failed, 6 passed"),
    "an amount": ("price is 1203, paid 833", "price is 1203, paid 900"),
    "how far it came": ("process 3 of 10 failed", "process 4 of 10 failed"),
    "a name in a temporary path": ("no /tmp/session/a.txt", "no /tmp/session/b.txt"),
    "a version": ("needs 1.2.3", "needs 1.2.4"),
    "a port": ("refused on port 8080", "refused on port 8081"),
}


@pytest.mark.parametrize(("left", "right", "kind"), MASKED.values(), ids=MASKED.keys())
def test_what_is_drawn_anew_each_time_is_masked(left: str, right: str, kind: str) -> None:
    """Two failures that differ in nothing else are one, and the kind is told."""
    assert mask_failure(left) == mask_failure(right)
    assert kind in masked_kinds(left)


@pytest.mark.parametrize(("left", "right"), KEPT.values(), ids=KEPT.keys())
def test_other_digits_are_news(left: str, right: str) -> None:
    """A failure that moved is another failure."""
    assert mask_failure(left) != mask_failure(right)


def test_the_middle_of_a_very_long_failure_is_left_as_it_is() -> None:
    """Both ends are masked: there a failure says what it is."""
    head, tail = "at 10:00:00 " * 900, " after 12.5s" * 900
    middle = "at 10:00:00 " * 2000

    masked = mask_failure(head + middle + tail)

    assert masked.startswith("at <time> at <time>")
    assert masked.endswith("after <duration> after <duration>")
    assert middle[6000:12000] in masked


TEXTS = st.text(max_size=60) | st.sampled_from(
    [text for pair in (*MASKED.values(), *KEPT.values()) for text in pair[:2]]
)


HINTS = st.builds(
    ToolHint,
    poll=st.sampled_from([None, True]),
    identity=st.sampled_from([None, ["path"]]),
    mutates=st.sampled_from([None, False]),
    warning_threshold=st.sampled_from([None, 1, 99]),
    critical_threshold=st.sampled_from([None, 2, 99]),
)


@given(TEXTS, TEXTS, st.sampled_from(["read", "exec", "message", "process"]), HINTS)
def test_a_changed_success_never_looks_equal(left: str, right: str, name: str, hint: ToolHint) -> None:
    """Masks are for what is no success, and no hint but `volatile` makes two successes one."""
    tool = TOOLS.look_up(name, {}).hinted(hint)
    first, second = Outcome.result(left), Outcome.result(right)
    assume(left != right and not _may_be_stub(left) and not _may_be_stub(right))
    assume(status_of(tool, first) in SUCCESSFUL and status_of(tool, second) in SUCCESSFUL)

    assert read_outcome(tool, first, None)[0] != read_outcome(tool, second, None)[0]


@given(st.text(max_size=400))
def test_masking_a_second_time_changes_nothing(text: str) -> None:
    """What is masked holds nothing to mask."""
    once = mask_failure(text)

    assert mask_failure(once) == once


FAILURES = {
    "a path that was asked for": (
        {"path": "src/a1.py"},
        "no such file: src/a1.py",
        {"path": "src/b2.py"},
        "no such file: src/b2.py",
    ),
    "a word of a command": ({"command": "cat a1.txt"}, "cat: a1.txt: no", {"command": "cat b2.txt"}, "cat: b2.txt: no"),
    "a number": ({"id": 4711}, "row 4711 is locked", {"id": 812}, "row 812 is locked"),
    "nothing of the arguments": ({"q": "one"}, "401 Unauthorized", {"q": "two"}, "401 Unauthorized"),
}


@pytest.mark.parametrize(("asked", "said", "asked_then", "said_then"), FAILURES.values(), ids=FAILURES.keys())
def test_the_way_of_a_failure_does_not_repeat_the_arguments(
    asked: object, said: str, asked_then: object, said_then: str
) -> None:
    """What the call itself said is no news in its answer; a call's own outcome stays exact."""
    tool = Tool("read")
    first, second = (
        read_outcome(tool, Outcome.error(text), arguments)
        for text, arguments in ((said, asked), (said_then, asked_then))
    )

    assert first[2] == second[2]
    assert (first[0] == second[0]) == (said == said_then)
