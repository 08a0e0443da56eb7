"""
Replay: a trajectory through a guard, as if the guard had been there.

The recording goes on after a block: the outcome of a call that would not have run is not fed to the guard, and the
call counts as saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from wheelspin.config import Config, config_from
from wheelspin.core.events import ALLOW, Action, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.core.settings import Settings
from wheelspin.core.volatile import TOOLS, ToolTable
from wheelspin.transcript import (
    Answered,
    Asked,
    Compacted,
    Configured,
    Event,
    RunStarted,
    Spent,
    UserSpoke,
)

__all__ = ["Judged", "Replay", "RunReport", "Sighting"]

_MAIN = "main"
_MOST_STOPPED = 10_000


class Judged(NamedTuple):
    """An event, and what the guard said to it."""

    event: Event
    verdict: Verdict
    skipped: bool
    """Whether it is the outcome of a call that would not have run, and was not fed."""


@dataclass(slots=True)
class Sighting:
    """A place at which the guard would have said or done something."""

    action: Action
    line: int
    """Line of the file."""
    call: int
    """Number of the call in its run, counted from 1."""
    tool: str
    detector: str
    code: str
    count: int
    """The count at the first of them."""
    threshold: int
    reason: str
    times: int = 1
    """How many calls in a row it stands for: a call that stays blocked is one sighting."""


@dataclass(slots=True)
class _Turn:
    """One message of the model: its tokens are saved if all its calls are."""

    turn_id: str | None = None
    tokens: int = 0
    calls: int = 0
    saved: int = 0


@dataclass(slots=True)
class RunReport:
    """What would have become of one run."""

    session: str | None
    agent: str | None
    run: str
    """Its id, or its number in the session."""
    line: int
    """Line of its first call."""
    calls: int = 0
    warnings: int = 0
    blocks: int = 0
    """Calls that would not have run: blocked ones, and all after an abort."""
    tokens: int = 0
    saved_tokens: int = 0
    ended: str | None = None
    """Code of what would have ended it."""
    sightings: list[Sighting] = field(default_factory=list)
    turn: _Turn = field(default_factory=_Turn, repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether the guard would have said nothing."""
        return not self.sightings

    def has(self, action: Action) -> bool:
        """Tell whether the guard would have taken this action."""
        return any(sighting.action is action for sighting in self.sightings)

    def settle(self) -> None:
        """Count the tokens of the turn that is over."""
        turn, self.turn = self.turn, _Turn()
        self.tokens += turn.tokens
        if turn.calls and turn.saved == turn.calls:
            self.saved_tokens += turn.tokens


class Replay:
    """
    Play trajectories through guards, one guard for each agent that the configuration names and one for the rest.

    Args:
        config: What holds. Without it, `settings` do.
        agent: The agent whose block holds for events that name none, and for agents without a block of their own; left
            out, these have the block of `main` and the global one.
        settings: What holds where there is no configuration.
        tools: What is known about the host's tools.

    Attributes:
        runs: What would have become of each run, in the order of their first calls.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        agent: str | None = None,
        settings: Settings | None = None,
        tools: ToolTable = TOOLS,
    ) -> None:
        self._config = config
        self._is_given = config is not None
        self._agent = (agent or _MAIN).strip().lower()
        self._others = self._agent if agent else ""
        self._settings = Settings(enabled=True) if settings is None else settings
        self._tools = tools
        self._guards: dict[str, Guard] = {}
        self._runs: dict[tuple[str | None, str | None, str], RunReport] = {}
        self._started: dict[tuple[str | None, str | None], str] = {}
        self._prompts: dict[tuple[str | None, str | None], int] = {}
        self._counts: dict[tuple[str | None, str | None], int] = {}
        self._stopped: dict[int, ToolCall] = {}

    @property
    def runs(self) -> list[RunReport]:
        """What would have become of each run, in the order of their first calls."""
        return list(self._runs.values())

    @property
    def is_configured(self) -> bool:
        """Whether there is a configuration: given, or found in the file."""
        return self._config is not None

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know about the configuration."""
        return self._config.resolve(self._agent).notices if self._config else ()

    def play(self, events: Iterable[Event]) -> Iterator[Judged]:
        """Feed events, and give each with the guard's verdict."""
        for event in events:
            yield self.feed(event)
        for run in self._runs.values():
            run.settle()

    def feed(self, event: Event) -> Judged:
        """Feed one event."""
        match event:
            case Asked():
                return Judged(event, self._asked(event), skipped=False)
            case Answered():
                return self._answered(event)
            case Spent():
                self._spent(event)
            case Compacted():
                self._guard(event.agent_id).compacted(event.session_id, ok=event.ok, agent_id=event.agent_id)
            case UserSpoke():
                self._guard(event.agent_id).user_message(event.session_id, agent_id=event.agent_id)
                key = event.session_id, event.agent_id
                self._prompts[key] = self._prompts.get(key, 0) + 1
            case RunStarted():
                self._guard(event.agent_id).run_started(event.run_id, event.session_id, agent_id=event.agent_id)
                self._started[event.session_id, event.agent_id] = event.run_id
            case Configured():
                if not self._is_given:
                    self._config = config_from(event.config, f"line {event.line}")
                    self._guards.clear()
        return Judged(event, ALLOW, skipped=False)

    def _guard(self, agent_id: str | None) -> Guard:
        name = (agent_id or self._agent).strip().lower()
        if self._config is not None and name not in self._config.agents:
            name = self._others
        guard = self._guards.get(name)
        if guard is None:
            settings = self._config.for_agent(name) if self._config else self._settings
            guard = self._guards[name] = Guard(settings, tools=self._tools)
        return guard

    def _run(self, call: ToolCall, line: int) -> RunReport:
        key = call.session_id, call.agent_id
        name = call.run_id or self._started.get(key) or f"#{self._prompts.get(key, 0)}"
        run = self._runs.get((*key, name))
        if run is None:
            self._counts[key] = self._counts.get(key, 0) + 1
            shown = f"#{self._counts[key]}" if name.startswith("#") else name
            run = self._runs[(*key, name)] = RunReport(call.session_id, call.agent_id, shown, line)
        return run

    def _asked(self, event: Asked) -> Verdict:
        call = event.call
        run = self._run(call, event.line)
        verdict = self._guard(call.agent_id).before(call)
        run.calls += 1
        if run.turn.calls and run.turn.turn_id != call.turn_id:
            run.settle()
        run.turn.turn_id = call.turn_id
        run.turn.calls += 1
        if verdict.stops:
            run.blocks += 1
            run.turn.saved += 1
            self._stopped[id(call)] = call
            if len(self._stopped) > _MOST_STOPPED:
                del self._stopped[next(iter(self._stopped))]
        self._see(verdict, event.line, call, run)
        return verdict

    def _answered(self, event: Answered) -> Judged:
        call = event.call
        if self._stopped.pop(id(call), None) is not None:
            return Judged(event, ALLOW, skipped=True)
        verdict = self._guard(call.agent_id).after(call, event.outcome)
        run = self._run(call, event.line)
        if run.turn.turn_id is None:
            run.settle()
        if run.ended is None:
            self._see(verdict, event.line, call, run)
        return Judged(event, verdict, skipped=False)

    def _spent(self, event: Spent) -> None:
        key = event.session_id, event.agent_id
        name = self._started.get(key) or f"#{self._prompts.get(key, 0)}"
        run = self._runs.get((*key, name))
        if run is None:
            return
        if event.turn_id is None or run.turn.turn_id == event.turn_id:
            run.turn.tokens = event.tokens
        else:
            run.settle()
            run.turn.turn_id, run.turn.tokens = event.turn_id, event.tokens
        if event.turn_id is None:
            run.settle()

    def _see(self, verdict: Verdict, line: int, call: ToolCall, run: RunReport) -> None:
        """Write down what the guard would have said or done; a call that stays stopped is one sighting."""
        finding = verdict.finding
        if finding is None or verdict.action is Action.ALLOW:
            return
        run.warnings += verdict.action is Action.WARN
        newest = run.sightings[-1] if run.sightings else None
        if verdict.action is Action.ABORT:
            if run.ended is not None and newest is not None:
                newest.times += 1
                return
            run.ended = finding.code
        elif newest is not None and newest.action is Action.BLOCK is verdict.action and newest.code == finding.code:
            newest.times += 1
            return
        run.sightings.append(
            Sighting(
                verdict.action,
                line,
                run.calls,
                call.tool,
                finding.detector,
                finding.code,
                finding.count,
                finding.threshold,
                verdict.reason,
            )
        )
