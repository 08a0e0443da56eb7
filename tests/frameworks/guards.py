"""Guards that keep what they are told, and what they tell."""

from __future__ import annotations

import pytest

from wheelspin import Guard, Outcome, ToolCall, Verdict

__all__ = ["Told", "crashing_guard", "lenient_guard"]


class Told(Guard):
    """A guard that keeps the turns of the calls, by their ids, and the kinds of the outcomes that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: dict[str | None, str | None] = {}
        self.kinds: list[str] = []

    def before(self, call: ToolCall) -> Verdict:
        self.turns[call.id] = call.turn_id
        return super().before(call)

    def after(self, call: ToolCall, outcome: Outcome) -> Verdict:
        self.kinds.append(outcome.kind)
        return super().after(call, outcome)


def lenient_guard(monkeypatch: pytest.MonkeyPatch) -> tuple[Guard, list[str]]:
    """Give a guard whose crashes pass as they do for users, and the kinds of the events that it tells of."""
    kinds: list[str] = []
    monkeypatch.setattr(Guard, "strict", False)
    return Guard(listeners=[lambda event: kinds.append(event.kind)]), kinds


def crashing_guard(monkeypatch: pytest.MonkeyPatch, *parts: str) -> Guard:
    """Give a guard that crashes, as it does for users: in these of its parts, or whatever it is asked and told."""
    guard, _ = lenient_guard(monkeypatch)
    for part in parts or ("_before", "_after"):
        monkeypatch.setattr(guard, part, lambda *_: 1 / 0)
    return guard
