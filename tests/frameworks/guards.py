"""Guards that record what they receive and report, or crash."""

from __future__ import annotations

import pytest

from wheelspin import Guard, Outcome, ToolCall, Verdict

__all__ = ["RecordingGuard", "crashing_guard", "lenient_guard"]


class RecordingGuard(Guard):
    """A guard that records the turn of each call by call id, and the kinds of the outcomes."""

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
    """Return a guard whose crashes are swallowed, as for users, and the kinds of its events."""
    kinds: list[str] = []
    monkeypatch.setattr(Guard, "strict", False)
    return Guard(listeners=[lambda event: kinds.append(event.kind)]), kinds


def crashing_guard(monkeypatch: pytest.MonkeyPatch, *parts: str) -> Guard:
    """Return a guard that crashes in the named methods, by default in every check and record, as for users."""
    guard, _ = lenient_guard(monkeypatch)
    for part in parts or ("_before", "_after"):
        monkeypatch.setattr(guard, part, lambda *_: 1 / 0)
    return guard
