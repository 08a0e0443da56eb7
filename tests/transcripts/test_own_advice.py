"""Our own advice is known again wherever a host has written it down."""

from __future__ import annotations

import pytest

from wheelspin import Action
from wheelspin.core.advice import advice_on
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.events import Finding, Level
from wheelspin.wire.advice import OPENING, is_refusal


@pytest.mark.parametrize("action", [Action.WARN, Action.BLOCK, Action.ABORT])
def test_every_advice_begins_alike_and_tells_whether_the_call_was_run(action: Action) -> None:
    """Of whatever detector, the first as the second."""
    for detector in DETECTORS:
        for given in (0, 1):
            advice = advice_on(Finding(detector.id, Level.CRITICAL, 20, 20, (b"a",)), action, "read", given)
            assert advice.startswith(OPENING)
            assert is_refusal(advice) is (action is not Action.WARN)
            assert is_refusal(f"hi\n\n{advice}") is (action is not Action.WARN)


def test_what_a_tool_says_is_no_refusal() -> None:
    """Without the words that it begins with, or where they come after."""
    assert not is_refusal("This call was not run")
    assert not is_refusal("x This call was not run. Loop detected: y")
