"""What the guard answers: its actions, the reason for people and the advice for the model."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.core.guard.calls import SAME, actions_of, read_call, repeat
from wheelspin import Guard, Outcome, Settings, ToolCall
from wheelspin.core.events import ALLOW
from wheelspin.core.known_tools import TOOLS
from wheelspin.testing import play


class TestDefaults:
    def test_a_guard_that_is_made_without_settings_is_on(self) -> None:
        """Whoever makes a guard wants one: it blocks the twenty-first call."""
        assert actions_of(repeat(Guard(), 21))[20] == "block"

    def test_settings_are_taken_as_they_are(self) -> None:
        """Settings in which nothing is enabled leave the detectors off."""
        assert set(actions_of(repeat(Guard(Settings()), 60))) == {"allow"}

    def test_a_call_with_which_nothing_is_wrong_costs_no_object(self) -> None:
        """Allow is one shared verdict."""
        guard = Guard()

        assert guard.before(read_call()) is guard.after(read_call(), SAME) is ALLOW


CYCLES = ["A1*9", "(A1 B1)*8", "(A1 B1 C1)*6", "(e+ T!)*16", "a!*12", "a1*20", "?a*14", "~A1*16", "A%*20"]
BY_STATUS = {"A%*8": "outage of a service", "A-*4": "refused on purpose", "A.*9": "not done yet"}


class TestTexts:
    def test_a_block_says_what_was_seen_and_what_to_do(self) -> None:
        """The reason is for people, the advice for the model; both name tool and count, neither the arguments."""
        verdict = repeat(Guard(), 21, tool="Read")[-1]

        assert verdict.reason == (
            "`Read` was called 20 times with the same arguments and returned the same result each time (limit 20); "
            "this call is blocked."
        )
        assert verdict.advice.startswith("Loop detected: `Read` was called 20 times")
        assert "will not be run again" in verdict.advice
        assert "/a" not in verdict.reason + verdict.advice

    @pytest.mark.parametrize("times", [11, 21, 31])
    def test_every_rung_has_an_advice(self, times: int) -> None:
        """Warn, block and abort each tell the model something."""
        verdict = repeat(Guard(), times)[-1]

        assert verdict.advice
        assert verdict.reason

    @pytest.mark.parametrize("trajectory", CYCLES)
    def test_a_second_advice_differs_from_the_first(self, trajectory: str) -> None:
        """It says what repeats first, and offers another way out each time."""
        moves = play(trajectory, Settings(enabled=True, preset="early"))
        advice = [move.verdict.advice for move in moves if move.verdict is not None and move.verdict.advice]

        assert len(advice) > 1
        assert all(text.startswith("Loop detected: ") for text in advice)
        ways_out = [text.split(". ", 2)[2] for text in advice]
        assert all(one != other for one, other in itertools.pairwise(ways_out[:3]))

    @pytest.mark.parametrize(("trajectory", "words"), BY_STATUS.items())
    def test_the_advice_fits_what_the_outcomes_say(self, trajectory: str, words: str) -> None:
        """An outage is backed off from, a refusal is not asked again, what runs is waited for."""
        moves = play(trajectory, Settings(enabled=True, preset="early"))

        assert next(words in move.verdict.advice for move in moves if move.verdict and move.verdict.advice)

    def test_what_is_not_said_has_no_advice(self) -> None:
        """Between two warnings the finding is on the verdict, and the model hears nothing."""
        verdict = repeat(Guard(), 12)[-1]

        assert (verdict.action, verdict.advice) == ("allow", "")
        assert verdict.finding is not None
        assert verdict.finding.count == 11

    @pytest.mark.parametrize("name", ["", "a\nb`c", "x" * 500, "\x1b[31mred"])
    def test_a_name_cannot_forge_the_text(self, name: str) -> None:
        """A model writes names; they end up on one line, short, and without signs that mean something."""
        reason = repeat(Guard(), 21, tool=name)[-1].reason

        assert "\n" not in reason
        assert "\x1b" not in reason
        assert len(reason) < 300

    def test_a_name_that_is_no_text_is_a_tool(self) -> None:
        """An adapter that passes something else gets an answer all the same."""
        tool: Any = None

        assert repeat(Guard(), 21, tool=tool)[-1].reason.startswith("`tool` was called")

    def test_a_row_of_blocked_calls_is_told_apart_from_one_call(self) -> None:
        """What ends the run is then not the newest call, but the row."""
        guard = Guard()
        verdict = ALLOW
        for number in range(31):
            call = ToolCall("read" if number % 2 else "list", {})
            verdict = guard.before(call)
            if not verdict.stops:
                guard.after(call, SAME)

        assert verdict.action == "abort"
        assert "10 calls were blocked in a row, most recently" in verdict.reason
        assert verdict.finding is not None
        assert verdict.finding.signatures == ()


def test_what_cannot_be_looked_into_is_never_blocked() -> None:
    """Two such results may differ although nothing shows it: the calls are warned about, no more."""
    actions = [repeat(Guard(), 40, outcome=Outcome.result([object()]))[number].action for number in (10, 20, 30, 39)]

    assert actions == ["warn", "warn", "warn", "allow"]


def test_an_adapter_that_knows_its_tools_is_guarded_by_what_it_knows() -> None:
    """A tool that sends, declared by the host, is recognised as repeating itself although each answer has a new id."""
    guard = Guard(tools=TOOLS.extended(sends=["telegram"]))
    verdict = ALLOW
    for number in range(21):
        call = ToolCall("Telegram", {"to": 1, "text": "hi"})
        verdict = guard.before(call)
        if not verdict.stops:
            guard.after(call, Outcome.result({"ok": True, "message_id": number}))

    assert verdict.action == "block"


def test_a_disabled_guard_does_nothing_at_all() -> None:
    """An explicit `false` turns both mechanisms off."""
    guard = Guard(Settings(enabled=False))
    guard.compacted()

    assert set(actions_of(repeat(guard, 60))) == {"allow"}
    assert guard.record() is None
