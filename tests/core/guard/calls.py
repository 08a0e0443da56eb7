"""Calls that the tests of the guard make."""

from __future__ import annotations

from typing import Any

from wheelspin import Action, Guard, Outcome, ToolCall, Verdict

__all__ = ["SAME", "actions_of", "read_call", "repeat"]

SAME = Outcome.result("same")


def read_call(path: str = "/a", **ids: Any) -> ToolCall:
    return ToolCall("read", {"path": path}, **ids)


def repeat(guard: Guard, times: int, *, outcome: Outcome = SAME, tool: str = "read", **ids: Any) -> list[Verdict]:
    """Ask for the same call so many times, each with an id of its own."""
    verdicts = []
    for _ in range(times):
        call = ToolCall(tool, {"path": "/a"}, **ids)
        verdicts.append(guard.before(call))
        if not verdicts[-1].stops:
            guard.after(call, outcome)
    return verdicts


def actions_of(verdicts: list[Verdict]) -> list[Action]:
    return [verdict.action for verdict in verdicts]
