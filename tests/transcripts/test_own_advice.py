"""Our own advice is known again wherever a host has written it down."""

from __future__ import annotations

import pytest

from wheelspin import Action
from wheelspin.core.advice import Advisor
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.events import Finding, Level
from wheelspin.wire.advice import OPENING, is_refusal, without_advice


@pytest.mark.parametrize("action", [Action.WARN, Action.BLOCK, Action.ABORT])
def test_every_advice_begins_alike_and_tells_whether_the_call_was_run(action: Action) -> None:
    """Of whatever detector, the first as the second."""
    for detector in DETECTORS:
        for given in (0, 1):
            finding = Finding(detector.id, Level.CRITICAL, 20, 20, (b"a",))
            advice = Advisor(DETECTORS).advice(action, finding, "read", given)
            assert advice.startswith(OPENING)
            assert is_refusal(advice) is (action is not Action.WARN)
            assert is_refusal(f"hi\n\n{advice}") is (action is not Action.WARN)
            assert without_advice(f"hi\n\n\n{advice}") == "hi\n"


@pytest.mark.parametrize(
    "text",
    [
        "This call was not run",
        "x This call was not run.\n\nLoop detected: y",
        "the log:\n\nLoop detected: in the graph",
        "hi\nLoop detected: y. Calling it again will not change that.",
    ],
)
def test_what_a_tool_says_is_none_of_it(text: str) -> None:
    """Where the words are not all there, or not in their places."""
    assert not is_refusal(text)
    assert without_advice(text) == text


def test_what_stands_after_it_is_not_taken_away() -> None:
    """What a tool printed of an advice, and more, is its own."""
    text = "hi\n\nLoop detected: y. Calling it again will not change that.\nand on"

    assert without_advice(text) == text
