"""Wheelspin itself, measured on the runs of its peers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from evaluation.runs import Call, Run
from wheelspin import Guard, Outcome, Settings, ToolCall
from wheelspin.core.known_tools import TOOLS

__all__ = ["judge", "tools"]

tools = TOOLS.extended(
    shells=["shell", "run_shell_command", "execute_bash", "local_shell"],
    polls=["taskoutput", "bashoutput", "agentoutputtool", "taskoutputtool"],
    sends=["send_message"],
    plans=["update_plan", "todowrite", "write_todos", "todo_write"],
    ignored={"bash": ["description"]},
)
"""What an adapter knows about the tools of the hosts that the runs are from."""


def _outcome(call: Call) -> Outcome:
    if not call.error:
        return Outcome.result(call.result)
    return Outcome.error(call.result)


def judge(runs: Iterable[Run], settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield the signals on each run, as a peer does."""
    for run in runs:
        guard = Guard(settings, tools=tools)
        signals: list[tuple[int, str, str]] = []
        seconds = 0.0
        for number, call in enumerate(run.calls):
            turn = None if call.message is None else str(call.message)
            tool_call = ToolCall(call.tool, call.args, id=str(number), turn_id=turn)
            outcome = _outcome(call)
            start = time.perf_counter()
            if call.user_before:
                guard.user_message()
            if call.compaction_before:
                guard.compacted()
            verdict = guard.before(tool_call)
            after = verdict if verdict.stops else guard.after(tool_call, outcome)
            seconds += time.perf_counter() - start
            if verdict.action == "warn":
                signals.append((number, "warn", "after"))
            elif verdict.stops:
                signals.append((number, "stop", "before"))
            elif after.stops:
                signals.append((number, "stop", "after"))
            if verdict.action == "abort" or after.action == "abort":
                guard.reset()
        yield {"id": run.id, "signals": signals, "seconds": seconds}
