"""
Replay: a trajectory through a guard, as if the guard had been there.

The recording goes on after a block: the outcome of a call that would not have run is not fed to the guard, and the
call counts as saved.
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

    @property
    def is_clean(self) -> bool:
        """Whether the guard would have said nothing."""
        return not self.sightings

    def has(self, action: Action) -> bool:
        """Tell whether the guard would have taken this action."""
        return any(sighting.action is action for sighting in self.sightings)


class _Turn:
    """One message of the model: its tokens are saved if all its calls are."""

    __slots__ = ("calls", "saved", "tokens", "turn_id")

    def __init__(self) -> None:
        self.turn_id: str | None = None
        self.tokens = 0
        self.calls = 0
        self.saved = 0


class _Track:
    """
    What a replay follows of one session of one agent.

    Attributes:
        guard: The guard of this agent.
        bounds: Below how many of something it says nothing.
        run: The run that is on; `None` until it makes a call.
        run_id: Its id, where the host started it.
        screen: Holds on to the calls of the run while nothing can be found in it; `None` where every call is fed.
        turn: The message of the model that is on.
        runs: How many runs there were.
    """

    __slots__ = ("bounds", "guard", "run", "run_id", "runs", "screen", "turn")

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.bounds = Bounds(guard.settings)
        self.run: RunReport | None = None
        self.run_id: str | None = None
        self.runs = 0
        self.screen: Prefilter | None = None
        self.turn = _Turn()

    def settle(self) -> None:
        """Count the tokens of the turn that is over."""
        turn, run = self.turn, self.run
        if run is not None and turn.tokens:
            run.tokens += turn.tokens
            if turn.calls and turn.saved == turn.calls:
                run.saved_tokens += turn.tokens
        turn.turn_id = None
        turn.tokens = turn.calls = turn.saved = 0

    def end_run(self) -> None:
        """Begin another run with the next call."""
        self.settle()
        self.run = self.screen = None


class Replay:
    """
    Play trajectories through guards, one guard for each agent that the configuration names and one for the rest.

    Args:
        config: What holds. Without it, `settings` do.
        agent: The agent whose block holds for events that name none, and for agents without a block of their own; left
            out, these have the block of `main` and the global one.
        settings: What holds where there is no configuration.
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
        self._screens = False
        self._take: dict[type, Callable[[Any], Verdict | None]] = {
            ToolCalled: self._asked,
            ToolReturned: self._answered,
            TokensUsed: self._spent,
            UserMessage: self._spoke,
            Compacted: self._compacted,
            RunStarted: self._started,
            ConfigChanged: self._configured,
        }
        self.runs: list[RunReport] = []
        """What would have become of each run, in the order of their first calls."""

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
            verdict = self._take[type(event)](event)
            yield Judged(event, verdict or ALLOW, skipped=isinstance(event, ToolReturned) and verdict is None)
        self._settle()

    def scan(self, events: Iterable[Event]) -> list[RunReport]:
        """Feed events, and give the runs: the same as with `play`, but quicker."""
        self._screens = True
        take = self._take
        for event in events:
            take[type(event)](event)
        self._settle()
        return self.runs

    def _settle(self) -> None:
        for track in self._tracks.values():
            track.settle()

    def _compacted(self, event: Compacted) -> None:
        track = self._track(event.session_id, event.agent_id)
        self._feed_all(track)
        track.guard.compacted(event.session_id, ok=event.ok, agent_id=event.agent_id)

    def _spoke(self, event: UserMessage) -> None:
        track = self._track(event.session_id, event.agent_id)
        if track.screen is not None and track.screen.waits:
            self._feed_all(track)
        track.guard.user_message(event.session_id, agent_id=event.agent_id)
        if track.run_id is None:
            track.end_run()

    def _started(self, event: RunStarted) -> None:
        track = self._track(event.session_id, event.agent_id)
        track.guard.run_started(event.run_id, event.session_id, agent_id=event.agent_id)
        track.end_run()
        track.run_id = event.run_id

    def _configured(self, event: ConfigChanged) -> None:
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
        """Give the run that a call belongs to, and make it the one that is on."""
        name = call.run_id or track.run_id
        key = (call.session_id, call.agent_id, name or "")
        run = self._named.get(key) if name else track.run
        if run is None:
            track.runs += 1
            run = RunReport(call.session_id, call.agent_id, name or f"#{track.runs}", line)
            self.runs.append(run)
            if name:
                self._named[key] = run
            elif self._screens and not track.guard.is_armed(call.session_id, agent_id=call.agent_id):
                track.screen = Prefilter(track.bounds, track.guard.tools)
        if run is not track.run:
            track.settle()
            track.run = run
        return run

    def _feed_all(self, track: _Track) -> None:
        """Feed the guard what the screen holds on to; from here on it sees every call of the run."""
        screen, track.screen = track.screen, None
        for event in screen.events() if screen is not None else ():
            if isinstance(event, ToolCalled):
                track.guard.before(event.call)
            else:
                track.guard.after(event.call, event.outcome)

    def _asked(self, event: ToolCalled) -> Verdict:
        call = event.call
        track = self._track(call.session_id, call.agent_id)
        run = track.run
        if run is None or call.run_id is not None:
            run = self._run(track, call, event.line)
        run.calls += 1
        turn = track.turn
        if turn.calls and turn.turn_id != call.turn_id:
            track.settle()
        turn.turn_id = call.turn_id
        turn.calls += 1
        if track.screen is not None:
            if track.screen.ask(event):
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
            _see(verdict, event.line, call, run)
        return verdict

    def _answered(self, event: ToolReturned) -> Verdict | None:
        """Feed an outcome; `None` where its call would not have run."""
        call = event.call
        track = self._track(call.session_id, call.agent_id)
        if track.turn.turn_id is None and track.turn.calls:
            track.settle()
        if track.screen is not None:
            if track.screen.answer(event):
                return ALLOW
            self._feed_all(track)
        if self._stopped.pop(id(call), None) is not None:
            return None
        verdict = track.guard.after(call, event.outcome)
        run = track.run
        if verdict.finding is not None and run is not None and run.ended is None:
            _see(verdict, event.line, call, run)
        return verdict

    def _spent(self, event: TokensUsed) -> None:
        track = self._track(event.session_id, event.agent_id)
        turn = track.turn
        if turn.turn_id != event.turn_id:
            track.settle()
            turn.turn_id = event.turn_id
        turn.tokens = event.tokens
        if event.turn_id is None:
            track.settle()


def _see(verdict: Verdict, line: int, call: ToolCall, run: RunReport) -> None:
    """Write down what the guard would have said or done; a call that stays stopped is one sighting."""
    finding = verdict.finding
    due = verdict.due
    if finding is None or due is Action.ALLOW:
        return
    run.warnings += due is Action.WARN
    newest = run.sightings[-1] if run.sightings else None
    if due is Action.ABORT:
        if run.ended is not None and newest is not None:
            newest.times += 1
            return
        run.ended = finding.code
    elif newest is not None and newest.action is Action.BLOCK is due and newest.code == finding.code:
        newest.times += 1
        return
    run.sightings.append(
        Sighting(
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
