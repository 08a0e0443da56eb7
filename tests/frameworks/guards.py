"""A guard that keeps what it is told."""

from __future__ import annotations

from wheelspin import Guard, Outcome, ToolCall, Verdict

__all__ = ["Told"]


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
