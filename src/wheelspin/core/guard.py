"""
The guard: events in, verdicts out (SPEC 3 to 9).

It opens nothing, waits for nothing and has no clock of its own. One lock lets many threads use it.
"""

from __future__ import annotations

from _thread import allocate_lock

from wheelspin.core.advice import shown
from wheelspin.core.call_record import Step
from wheelspin.core.call_records import bond_of, note_shape, rewrite, settle, sign
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.escalation import Escalation
from wheelspin.core.events import ALLOW, Action
from wheelspin.core.guard_state import Memory, plain_id
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.log import log
from wheelspin.core.notifications import crash_of, event_of, tell, verdict_of
from wheelspin.core.record import LoopEvent
from wheelspin.core.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from wheelspin.core.detectors.base import Detector
    from wheelspin.core.events import Finding, Outcome, ToolCall, Verdict
    from wheelspin.core.record import RunRecord
    from wheelspin.core.state import Run
    from wheelspin.core.tools import ToolTable

__all__ = ["Guard"]


class Guard:
    """
    Watch the tool calls of one agent's runs.

    Ask `before` a tool runs, tell `after` what came back, and tell when the context was `compacted`. Events of many
    runs, sessions and threads may come in any order. Nothing that a model or a tool does makes it raise: if the guard
    itself fails, the call passes, and an event and a log line say so (SPEC 9).

    Args:
        settings: What holds for the agent. Without them the detectors are on, with the documented thresholds: whoever
            makes a guard wants one. Settings from a configuration file are taken as they are: there the detectors are
            off unless the file says `enabled: true`.
        tools: What is known about tools by their names; a host adapter extends it.
        listeners: Called with every `LoopEvent`.
        clock: Gives the time in seconds since the epoch, for run records; without it they hold none.
        max_runs: Runs that are kept, and sessions; the least recently used one goes first (SPEC 3).
        detectors: What is asked, in this order.

    Example:
        >>> from wheelspin import Guard, Outcome, ToolCall
        >>> guard = Guard()
        >>> for _ in range(21):
        ...     call = ToolCall("read", {"path": "/a"}, run_id="r1")
        ...     verdict = guard.before(call)
        ...     if not verdict.stops:
        ...         verdict = guard.after(call, Outcome.result("the same text"))
        >>> str(verdict.action), verdict.code
        ('block', 'generic_repeat')
    """

    strict = False
    """Raise a crash of the guard instead of letting the call pass: for tests."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        tools: ToolTable = TOOLS,
        listeners: Iterable[Callable[[LoopEvent], object]] = (),
        clock: Callable[[], float] | None = None,
        max_runs: int = 2000,
        detectors: Iterable[Detector] = DETECTORS,
    ) -> None:
        self.settings = Settings(enabled=True) if settings is None else settings
        self.tools = tools.extended(hints=dict(self.settings.tool_hints)) if self.settings.tool_hints else tools
        """What is known about tools, with the hints of the settings."""
        self._observes = self.settings.mode == "observe"
        self._listeners = (log, *listeners)
        self._clock = clock
        self._memory = Memory(self.settings.history_size, max_runs)
        self._ladder = Escalation(filter(self._is_on, detectors), self.settings, self._crashed)
        self._lock = allocate_lock()
        self._events: list[LoopEvent] = []

    def _is_on(self, detector: Detector) -> bool:
        switched_off = detector.switch and not getattr(self.settings, detector.switch, True)
        return bool(self.settings.enabled) and not switched_off

    def before(self, call: ToolCall) -> Verdict:
        """
        Judge a call before it runs.

        Args:
            call: The call that the model asked for.

        Returns:
            `allow`: run it. `warn`: run it and add `advice` to its result, after the result was told to `after`.
                `block`: answer it with `advice`, as one ordinary result that is flagged as an error. `abort`: the same,
                and end the run.
        """
        try:
            with self._lock:
                verdict = self._before(call)
        except Exception as crash:
            self._crashed("guard", crash)
            verdict = ALLOW
        if self._events:
            self._tell()
        return verdict

    def after(self, call: ToolCall, outcome: Outcome) -> Verdict:
        """
        Take in what came back from a call.

        Args:
            call: The call, with the arguments that it was run with, and the id that it was asked for with.
            outcome: What came back. The outcome of a call that was blocked is known already and need not be told.

        Returns:
            `allow`, or `abort` where the loop goes on after a compaction (SPEC 7), or the run was ended before.
        """
        try:
            with self._lock:
                verdict = self._after(call, outcome)
        except Exception as crash:
            self._crashed("guard", crash)
            verdict = ALLOW
        if self._events:
            self._tell()
        return verdict

    def asked(self, call: ToolCall) -> Verdict | None:
        """
        Give what `before` said to a call, for hosts that attach a warning in another process than they ask in.

        Args:
            call: The call; one without an id is the newest open call that is equal to it.

        Returns:
            Its verdict while it is open, and for good where it was not run; `allow` once it is settled, `None` where it
            was never asked about.
        """
        try:
            with self._lock:
                return self._asked(call)
        except Exception as crash:
            self._crashed("guard", crash)
        self._tell()
        return None

    def ending(
        self, run_id: str | None = None, session_id: str | None = None, *, agent_id: str | None = None
    ) -> Verdict | None:
        """
        Give the verdict that ended a run, for hosts that can end one at other times than a call.

        Args:
            run_id: The run; without it, the one that the session's next call belongs to.
            session_id: The session, where the host has more than one.
            agent_id: The agent.

        Returns:
            The verdict, which is `abort`; `None` where the run goes on, or has made no call.
        """
        with self._lock:
            run = self._memory.run(run_id, session_id, agent_id)
            return run.ended if run is not None else None

    def allow(
        self,
        run_id: str | None = None,
        session_id: str | None = None,
        *,
        agent_id: str | None = None,
        signature: str | None = None,
        by: str | None = None,
    ) -> int:
        """
        Let runs go on, since the user says so: what is blocked is free and counted anew, and an end is taken back.

        Args:
            run_id: The run; without it, all that match the rest.
            session_id: Its session.
            agent_id: Its agent.
            signature: Free only the pattern of this call: a signature as records and events have it, in hexadecimal.
            by: Who says so, for the record.

        Returns:
            How many runs were freed: those that match, and with a signature those in which it is blocked.
        """
        with self._lock:
            runs = self._memory.runs(run_id, session_id, agent_id)
            meant = [run for run in runs if signature is None or signature in run.blocked()]
            for run in meant:
                run.allow(signature, by, self._clock() if self._clock else None)
            return len(meant)

    def compacted(self, session_id: str | None = None, *, ok: bool = True, agent_id: str | None = None) -> None:
        """
        Arm the post-compaction guard: the context of this session was shortened and the run goes on (SPEC 7).

        Args:
            session_id: The session, where the host has more than one.
            ok: Whether the compaction succeeded; a failed one arms nothing.
            agent_id: The agent.
        """
        if not ok or self.settings.enabled is False:
            return
        size = self.settings.window_size
        with self._lock:
            self._memory.session(session_id, agent_id).window.arm(size)
        reason = f"post-compaction guard armed for {size} attempts"
        armed = LoopEvent("armed", session_id=session_id, agent_id=agent_id, threshold=size, reason=reason)
        self._events.append(armed)
        self._tell()

    def is_armed(self, session_id: str | None = None, *, agent_id: str | None = None) -> bool:
        """Tell whether the post-compaction guard of a session waits for outcomes."""
        with self._lock:
            return self._memory.is_armed(session_id, agent_id)

    def run_started(self, run_id: str, session_id: str | None = None, *, agent_id: str | None = None) -> None:
        """Make this the run of the session's calls that name none. One that was ended begins anew."""
        with self._lock:
            self._memory.start_run(run_id, session_id, agent_id)

    def user_message(self, session_id: str | None = None, *, agent_id: str | None = None) -> None:
        """Open a new run, where the host gives no run ids: the user spoke (SPEC 3)."""
        with self._lock:
            self._memory.session(session_id, agent_id).prompts += 1

    def reset(self, *, run_id: str | None = None, session_id: str | None = None, agent_id: str | None = None) -> None:
        """Forget the runs and sessions that match every id given; everything where none is given."""
        with self._lock:
            self._memory.forget(run_id, session_id, agent_id)

    def record(
        self, run_id: str | None = None, session_id: str | None = None, *, agent_id: str | None = None
    ) -> RunRecord | None:
        """
        Give the record of a run (SPEC 8).

        Args:
            run_id: The run; without it, the one that was used last.
            session_id: Its session, where run ids alone do not tell runs apart.
            agent_id: Its agent.

        Returns:
            The record, or `None` where no such run is remembered.
        """
        with self._lock:
            return self._memory.record(run_id, session_id, agent_id)

    def records(self) -> list[RunRecord]:
        """Give the records of all runs that are remembered, the one that was used last first."""
        with self._lock:
            return list(self._memory.records())

    def crashed(self, part: str, crash: Exception) -> None:
        """
        Tell that something around the guard crashed and the call passes: an event and a log line say so (SPEC 9).

        Args:
            part: What it was, as in "the adapter".
            crash: The exception; in tests (`strict`) it is raised.
        """
        self._crashed(part, crash)
        self._tell()

    def dump(self) -> dict[str, Any]:
        """Give all that is remembered as plain JSON values: ids, tool names, digests and counts."""
        with self._lock:
            return self._memory.dump()

    def load(self, state: dict[str, Any]) -> None:
        """
        Take over what `dump` gave, in place of what is remembered.

        Raises:
            ValueError: The state is damaged, or of another version.
        """
        with self._lock:
            self._memory.load(state)

    def _before(self, call: ToolCall) -> Verdict:
        if self.settings.enabled is False:
            return ALLOW
        session, run = self._memory.place(call)
        if run.ended is not None:
            return self._report(run.ended, call, run) if run.refuse(plain_id(call.id)) else run.ended
        tool, signature = sign(call, self.tools)
        if tool.unjudged:
            run.calls += 1
            return ALLOW
        if run.rewritten:
            signature = run.rewritten.get(signature, signature)
        call_id = plain_id(call.id)
        announced = run.history.calls.get(call_id) if call_id is not None else None
        if announced is not None and announced.kind == "open":
            if announced.signature == signature:
                return announced.told or ALLOW
            bond = run.history.forget(announced)
        else:
            bond = bond_of(call, run)
            run.calls += 1
        step = Step(tool, signature, call_id, session.window.compactions)
        newest = run.history.newest
        if newest is not None and newest.kin is not None:
            note_shape(step, call, tool, newest)
        finding = self._ladder.judge(step, run.history)
        if finding is None:
            run.vetoes = 0
            run.history.append(step, bond)
            return ALLOW
        given = run.warnings + run.blocks
        action, finding = self._ladder.climb(finding, step, bond, run)
        verdict = self._verdict(action, finding, call, given)
        if action is Action.ABORT:
            self._end(verdict, call, run)
        elif step.kind == "open":
            step.told = verdict
        return self._report(verdict, call, run)

    def _after(self, call: ToolCall, outcome: Outcome) -> Verdict:
        if self.settings.enabled is False:
            return ALLOW
        session, run = self._memory.place(call)
        tool, signature = sign(call, self.tools)
        if tool.unjudged:
            return ALLOW
        call_id = plain_id(call.id)
        step = run.history.calls.get(call_id) if call_id is not None else None
        if step is None:
            step, run = self._memory.asked(call, call_id, signature, session, run)
        if run.ended is not None:
            return self._report(run.ended, call, run)
        if outcome.kind in {"missing", "veto"} or (step is not None and step.kind != "open"):
            return ALLOW
        if step is None:
            step = Step(tool, signature, call_id, session.window.compactions)
            run.calls += 1
            run.vetoes = 0
            run.history.append(step, bond_of(call, run))
        elif step.signature != signature:
            rewrite(step, signature, run)
        changed = settle(step, call, outcome, tool, run)
        if run.said:
            self._ladder.settled(step, run, changed=changed)
        step.told = None
        finding = session.window.observe(step) if session.window.left else None
        if finding is None:
            return ALLOW
        verdict = self._verdict(Action.ABORT, finding, call, run.warnings + run.blocks)
        self._end(verdict, call, run)
        return self._report(verdict, call, run)

    def _asked(self, call: ToolCall) -> Verdict | None:
        session, run = self._memory.place(call)
        call_id = plain_id(call.id)
        step = run.history.calls.get(call_id) if call_id is not None else None
        if step is None:
            step, run = self._memory.asked(call, call_id, sign(call, self.tools)[1], session, run)
        if step is None:
            return run.ended if call_id is not None and call_id == run.refused else None
        if step.pattern is None:
            return step.told or ALLOW
        return self._verdict(Action.BLOCK, step.pattern.finding(step.pattern.count), call, run.warnings + run.blocks)

    def _verdict(self, action: Action, finding: Finding, call: ToolCall, given: int) -> Verdict:
        return verdict_of(action, finding, call.tool, given, observes=self._observes)

    def _end(self, verdict: Verdict, call: ToolCall, run: Run) -> None:
        run.ended = verdict
        run.ended_tool = shown(call.tool)
        run.ended_at_call = run.calls
        run.refused = plain_id(call.id)
        run.ended_at = self._clock() if self._clock else None

    def _report(self, verdict: Verdict, call: ToolCall, run: Run) -> Verdict:
        """Make the event that goes with a verdict, if it says anything."""
        event = event_of(verdict, call, run.run_id)
        if event is not None:
            self._events.append(event)
        return verdict

    def _crashed(self, part: str, crash: Exception) -> None:
        if self.strict:
            raise crash
        self._events.append(crash_of(part, crash))

    def _tell(self) -> None:
        tell(self._events, self._listeners, self._crashed)
