"""The public API as a user writes it: never run, only checked by mypy in strict mode."""

from __future__ import annotations

from wheelspin import (
    Action,
    Config,
    Finding,
    Guard,
    LoopEvent,
    Outcome,
    Replay,
    RunRecord,
    Settings,
    ToolCall,
    ToolTable,
    Verdict,
    errors,
    load_config,
)
from wheelspin.core.known_tools import TOOLS
from wheelspin.testing import Played, play, strict

config: Config = load_config("openclaw.json5")
settings: Settings = config.for_agent("safe-runner")
tools: ToolTable = TOOLS.extended(polls=["wait"])


def listen(event: LoopEvent) -> None:
    """Hear of what the guard does."""
    kind: str = event.kind
    code: str | None = event.code
    print(kind, code)


guard = Guard(settings, tools=tools, listeners=[listen], clock=lambda: 0.0)
call = ToolCall(tool="read", arguments={"path": "/a"}, id="c1", run_id="r1")
verdict: Verdict = guard.before(call)
action: Action = verdict.action
finding: Finding | None = verdict.finding
if not verdict.stops and action < Action.BLOCK:
    verdict = guard.after(call, Outcome.result({"content": []}))
guard.compacted(ok=True)
record: RunRecord | None = guard.record("r1")
state: dict[str, object] = guard.dump()

with strict():
    moves: list[Played] = play("A1*3")

replay = Replay(config, agent="main")

try:
    load_config("openclaw.json5")
except errors.ConfigError as problem:
    faults: tuple[errors.Fault, ...] = problem.faults
