"""
Replay the events of a recorded session through a guard, as if the guard had been there.

The recording continues after a blocked call. The outcome of a call that would not have run is not fed to the guard,
and the call counts as saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wheelspin.config import Config, config_from
from wheelspin.core.events import ALLOW, Action, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.settings import Settings
from wheelspin.core.tools import ToolTable
from wheelspin.replay.prefilter import Bounds, Prefilter
from wheelspin.transcripts.base import (
    Compacted,
    ConfigChanged,
    Event,
    RunStarted,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    UserMessage,
)

__all__ = ["Intervention", "Replay", "ReplayedEvent", "RunReport"]

_MAIN = "main"
_MOST_STOPPED = 10_000


class ReplayedEvent(NamedTuple):
    """An event, and the guard's verdict on it."""

    event: Event
    verdict: Verdict
    skipped: bool
    """Whether it is the outcome of a call that would not have run, which the guard does not see."""


@dataclass(slots=True)
class Intervention:
    """A point at which the guard would have warned, blocked a call or ended the run."""

    action: Action
    line: int
    """Line in the file."""
    call: int
    """Number of the call in its run, counted from 1."""
    tool: str
    detector: str
    code: str
    count: int
    """What the detector counted, at the first of the calls."""
    threshold: int
    reason: str
    times: int = 1
    """Number of calls in a row that it stands for: a call that stays blocked is one intervention."""


@dataclass(slots=True)
class RunReport:
    """What the guard would have done in one run."""

    session: str | None
    agent: str | None
    run: str
    """Id of the run, or its number in the session."""
    line: int
    """Line of the first call."""
    calls: int = 0
    warnings: int = 0
    blocks: int = 0
    """Number of calls that would not have run: blocked ones, and all calls after an abort."""
    tokens: int = 0
    saved_tokens: int = 0
    ended: str | None = None
    """Code of the verdict that would have ended the run; `None` if it would have gone on."""
    interventions: list[Intervention] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether the guard would have done nothing."""
        return not self.interventions

    def has(self, action: Action) -> bool:
        """Return whether the guard would have taken this action."""
        return any(intervention.action is action for intervention in self.interventions)


class _Turn:
    """One message of the model, whose tokens are saved if all its calls are."""

    __slots__ = ("calls", "saved", "tokens", "turn_id")

    def __init__(self) -> None:
        self.turn_id: str | None = None
        self.tokens = 0
        self.calls = 0
        self.saved = 0


class _Track:
    """
    The state of a replay for one session of one agent.

    Attributes:
        guard: The agent's guard.
        bounds: The bounds of the prefilter.
        run: The current run; `None` until it makes a call.
        run_id: Id of the current run, if the host started it.
        prefilter: Keeps the calls of the run while no detector can find anything; `None` if every call is fed.
        turn: The model's current message.
        runs: Number of runs so far.
    """

    __slots__ = ("bounds", "guard", "prefilter", "run", "run_id", "runs", "turn")

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.bounds = Bounds(guard.settings)
        self.run: RunReport | None = None
        self.run_id: str | None = None
        self.runs = 0
        self.prefilter: Prefilter | None = None
        self.turn = _Turn()

    def close_turn(self) -> None:
        """Count the tokens of the current turn, which is complete."""
        turn, run = self.turn, self.run
        if run is not None and turn.tokens:
            run.tokens += turn.tokens
            if turn.calls and turn.saved == turn.calls:
                run.saved_tokens += turn.tokens
        turn.turn_id = None
        turn.tokens = turn.calls = turn.saved = 0

    def end_run(self) -> None:
        """Close the current run, so that the next call starts another."""
        self.close_turn()
        self.run = self.prefilter = None


class Replay:
    """
    Replay recorded sessions through guards, one for each agent with a block in the configuration and one for the rest.

    Args:
        config: The configuration. Without one, the configuration in the file applies, or else `settings`.
        agent: The agent whose block applies to events without an agent and to agents without a block of their own. By
            default, the block of `main` applies to the former and the global block to the latter.
        settings: The settings that apply if there is no configuration.
        tools: What is known about the host's tools.
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
        self._tracks: dict[tuple[str | None, str | None], _Track] = {}
        self._named: dict[tuple[str | None, str | None, str], RunReport] = {}
        self._stopped: dict[int, ToolCall] = {}
        self._uses_prefilter = False
        self._handlers: dict[type, Callable[[Any], Verdict | None]] = {
            ToolCalled: self._tool_called,
            ToolReturned: self._tool_returned,
            TokensUsed: self._tokens_used,
            UserMessage: self._user_message,
            Compacted: self._compacted,
            RunStarted: self._run_started,
            ConfigChanged: self._config_changed,
        }
        self.runs: list[RunReport] = []
        """What the guard would have done in each run, in the order of their first calls."""

    @property
    def is_configured(self) -> bool:
        """Whether there is a configuration, given or found in the file."""
        return self._config is not None

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the user about the configuration."""
        return self._config.resolve(self._agent).notices if self._config else ()

    def play(self, events: Iterable[Event]) -> Iterator[ReplayedEvent]:
        """Feed events to the guards and yield each with its verdict."""
        for event in events:
            verdict = self._handlers[type(event)](event)
            yield ReplayedEvent(event, verdict or ALLOW, skipped=isinstance(event, ToolReturned) and verdict is None)
        self._close_turns()

    def scan(self, events: Iterable[Event]) -> list[RunReport]:
        """Feed events and return the runs: the same as with `play`, but faster."""
        self._uses_prefilter = True
        handlers = self._handlers
        for event in events:
            handlers[type(event)](event)
        self._close_turns()
        return self.runs

    def _close_turns(self) -> None:
        for track in self._tracks.values():
            track.close_turn()

    def _compacted(self, event: Compacted) -> None:
        track = self._track(event.session_id, event.agent_id)
        self._feed_all(track)
        track.guard.compacted(event.session_id, ok=event.ok, agent_id=event.agent_id)

    def _user_message(self, event: UserMessage) -> None:
        track = self._track(event.session_id, event.agent_id)
        if track.prefilter is not None and track.prefilter.waits:
            self._feed_all(track)
        track.guard.user_message(event.session_id, agent_id=event.agent_id)
        if track.run_id is None:
            track.end_run()

    def _run_started(self, event: RunStarted) -> None:
        track = self._track(event.session_id, event.agent_id)
        track.guard.run_started(event.run_id, event.session_id, agent_id=event.agent_id)
        track.end_run()
        track.run_id = event.run_id

    def _config_changed(self, event: ConfigChanged) -> None:
        if not self._is_given:
            self._config = config_from(event.config, f"line {event.line}")
            self._guards.clear()
            self._tracks.clear()

    def _track(self, session_id: str | None, agent_id: str | None) -> _Track:
        track = self._tracks.get((session_id, agent_id))
        if track is None:
            name = agent_id.strip().lower() if agent_id else None
            track = self._tracks.get((session_id, name)) or _Track(self._guard(agent_id))
            self._tracks[session_id, name] = self._tracks[session_id, agent_id] = track
        return track

    def _guard(self, agent_id: str | None) -> Guard:
        name = (agent_id or self._agent).strip().lower()
        if self._config is not None and name not in self._config.agents:
            name = self._others
        guard = self._guards.get(name)
        if guard is None:
            settings = self._config.for_agent(name) if self._config else self._settings
            guard = self._guards[name] = Guard(settings, tools=self._tools)
        return guard

    def _run(self, track: _Track, call: ToolCall, line: int) -> RunReport:
        """Return the run of a call, which becomes the current one."""
        name = call.run_id or track.run_id
        key = (call.session_id, call.agent_id, name or "")
        run = self._named.get(key) if name else track.run
        if run is None:
            track.runs += 1
            run = RunReport(call.session_id, call.agent_id, name or f"#{track.runs}", line)
            self.runs.append(run)
            if name:
                self._named[key] = run
            elif self._may_hold(track, call):
                track.prefilter = Prefilter(track.bounds, track.guard.tools)
        if run is not track.run:
            track.close_turn()
            track.run = run
        return run

    def _may_hold(self, track: _Track, call: ToolCall) -> bool:
        if not self._uses_prefilter or not track.bounds.can_hold:
            return False
        return not track.guard.is_armed(call.session_id, agent_id=call.agent_id)

    def _feed_all(self, track: _Track) -> None:
        """Feed the calls that the prefilter keeps to the guard, which from here on sees every call of the run."""
        prefilter, track.prefilter = track.prefilter, None
        for event in prefilter.events() if prefilter is not None else ():
            if isinstance(event, ToolCalled):
                track.guard.before(event.call)
            else:
                track.guard.after(event.call, event.outcome)

    def _tool_called(self, event: ToolCalled) -> Verdict:
        call = event.call
        track = self._track(call.session_id, call.agent_id)
        run = track.run
        if run is None or call.run_id is not None:
            run = self._run(track, call, event.line)
        run.calls += 1
        turn = track.turn
        if turn.calls and turn.turn_id != call.turn_id:
            track.close_turn()
        turn.turn_id = call.turn_id
        turn.calls += 1
        if track.prefilter is not None:
            if track.prefilter.ask(event):
                return ALLOW
            self._feed_all(track)
        verdict = track.guard.before(call)
        if verdict.due >= Action.BLOCK:
            run.blocks += 1
            turn.saved += 1
        if verdict.stops:
            self._stopped[id(call)] = call
            if len(self._stopped) > _MOST_STOPPED:
                del self._stopped[next(iter(self._stopped))]
        if verdict.finding is not None:
            _add_intervention(verdict, event.line, call, run)
        return verdict

    def _tool_returned(self, event: ToolReturned) -> Verdict | None:
        """Feed an outcome and return the verdict; `None` if the call would not have run."""
        call = event.call
        track = self._track(call.session_id, call.agent_id)
        if track.turn.turn_id is None and track.turn.calls:
            track.close_turn()
        if track.prefilter is not None:
            if track.prefilter.answer(event):
                return ALLOW
            self._feed_all(track)
        if self._stopped.pop(id(call), None) is not None:
            return None
        verdict = track.guard.after(call, event.outcome)
        run = track.run
        if verdict.finding is not None and run is not None and run.ended is None:
            _add_intervention(verdict, event.line, call, run)
        return verdict

    def _tokens_used(self, event: TokensUsed) -> None:
        track = self._track(event.session_id, event.agent_id)
        turn = track.turn
        if turn.turn_id != event.turn_id:
            track.close_turn()
            turn.turn_id = event.turn_id
        turn.tokens = event.tokens
        if event.turn_id is None:
            track.close_turn()


def _add_intervention(verdict: Verdict, line: int, call: ToolCall, run: RunReport) -> None:
    """Add the intervention that is due to the run; a call that stays blocked is one intervention."""
    finding = verdict.finding
    due = verdict.due
    if finding is None or due is Action.ALLOW:
        return
    run.warnings += due is Action.WARN
    newest = run.interventions[-1] if run.interventions else None
    if due is Action.ABORT:
        if run.ended is not None and newest is not None:
            newest.times += 1
            return
        run.ended = finding.code
    elif newest is not None and newest.action is Action.BLOCK is due and newest.code == finding.code:
        newest.times += 1
        return
    run.interventions.append(
        Intervention(
            due,
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
