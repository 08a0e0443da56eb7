"""
The guard: events in, verdicts out (SPEC 3 to 9).

Three rules hold here:

1. It opens nothing, waits for nothing and has no clock of its own. One lock lets many threads use it.
2. It fails open, loudly: if it crashes, the call passes, and an event and a log line report the crash.
3. Everything that it decides follows from the events of one run and session, in the order in which they came.
"""

from __future__ import annotations

from _thread import allocate_lock

from wheelspin.core.advice import Advisor, printable_name
from wheelspin.core.call_record import CallRecord
from wheelspin.core.escalation import Escalation
from wheelspin.core.events import ALLOW, MISSING, VETO, Action
from wheelspin.core.guard_state import GuardState, normalised_id
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.notifications import Notifier
from wheelspin.core.settings import Mode, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from wheelspin.core.detectors.base import Detector
    from wheelspin.core.events import Finding, Outcome, ToolCall, Verdict
    from wheelspin.core.loop_events import LoopEvent
    from wheelspin.core.record import RunRecord
    from wheelspin.core.state import Run
    from wheelspin.core.tools import ToolTable

__all__ = ["Guard"]

_DEFAULTS = Settings(enabled=True)
_UNTOLD = (MISSING, VETO)


class Guard:
    """
    Watch the tool calls of one agent's runs.

    Call `before` for each call that the model requests, `after` with its outcome, and `compacted` when the context was
    compacted. Events of many runs, sessions and threads may come in any order. Nothing that a model or a tool does
    raises an exception: if the guard itself fails, the call passes, and an event and a log line report it (SPEC 9).

    Args:
        settings: The agent's settings. Without them the detectors are on, with the documented thresholds. Settings from
            a configuration file are taken as they are: there the detectors are off unless the file sets
            `enabled: true`.
        tools: What is known about tools by their names; a host adapter extends it.
        listeners: Called with every `LoopEvent`.
        clock: Returns the time in seconds since the epoch, for run records; without it they hold no times.
        max_runs: Number of runs that are kept, and of sessions; the least recently used is dropped first (SPEC 3).
        detectors: The detectors, in the order in which they are asked; without them, those of the settings.
        logs: Whether events are also written to the standard log.

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
        detectors: Iterable[Detector] | None = None,
        logs: bool = True,
    ) -> None:
        self.settings = _DEFAULTS if settings is None else settings
        self.tools = tools.extended(hints=dict(self.settings.tool_hints)) if self.settings.tool_hints else tools
        """What is known about tools, with the hints of the settings."""
        known = self.settings.detectors if detectors is None else tuple(detectors)
        self.advisor = Advisor(known)
        """Puts findings into words."""
        self._observes = self.settings.mode is Mode.OBSERVE
        self._clock = clock
        self._state = GuardState(self.settings.history_size, max_runs)
        self._escalation = Escalation(filter(self.settings.is_on, known), self.settings, self._crashed)
        self._notifier = Notifier(listeners, self._crashed, logs=logs)
        self._lock = allocate_lock()

    def before(self, call: ToolCall) -> Verdict:
        """
        Judge a call before it runs.

        Args:
            call: The call that the model requested.

        Returns:
            `allow`: run it. `warn`: run it, pass its result to `after`, then add `advice` to the result. `block`:
            answer it with `advice`, as one ordinary result that is flagged as an error. `abort`: the same, and end the
            run.
        """
        try:
            with self._lock:
                verdict = self._before(call)
        except Exception as crash:
            self._crashed("guard", crash)
            verdict = ALLOW
        if self._notifier.pending:
            self._notifier.notify()
        return verdict

    def after(self, call: ToolCall, outcome: Outcome) -> Verdict:
        """
        Record what came back from a call.

        Args:
            call: The call, with the arguments that it ran with, and the id that it was requested with.
            outcome: What came back. The outcome of a call that was blocked is known and need not be recorded.

        Returns:
            `allow`, or `abort` if the loop goes on after a compaction (SPEC 7), or the run was ended before.
        """
        try:
            with self._lock:
                verdict = self._after(call, outcome)
        except Exception as crash:
            self._crashed("guard", crash)
            verdict = ALLOW
        if self._notifier.pending:
            self._notifier.notify()
        return verdict

    def asked(self, call: ToolCall) -> Verdict | None:
        """
        Return the verdict that `before` gave, for hosts that attach a warning in another process than they ask in.

        Args:
            call: The call. Without an id, it is the newest open call that equals it.

        Returns:
            Its verdict while it is open, and for good if it was not run; `allow` once it has an outcome; `None` if
            `before` was not called for it.
        """
        try:
            with self._lock:
                return self._asked(call)
        except Exception as crash:
            self._crashed("guard", crash)
        self._notifier.notify()
        return None

    def ending(
        self, run_id: str | None = None, session_id: str | None = None, *, agent_id: str | None = None
    ) -> Verdict | None:
        """
        Return the verdict that ended a run, for hosts that can end one at other times than a call.

        Args:
            run_id: The run; without it, the one that the session's next call belongs to.
            session_id: The session, if the host has more than one.
            agent_id: The agent.

        Returns:
            The verdict, which is `abort`; `None` if the run goes on, or has made no call.
        """
        with self._lock:
            run = self._state.run(run_id, session_id, agent_id)
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
        Let runs go on, because the user says so: what is blocked is unblocked, counts start again, ends are taken back.

        Args:
            run_id: The run; without it, all that match the rest.
            session_id: Its session.
            agent_id: Its agent.
            signature: Unblock only the pattern of this call: a signature as in records and events, in hexadecimal.
            by: Who says so, for the record.

        Returns:
            The number of runs that match, and in which the signature is blocked if one is given.
        """
        with self._lock:
            runs = self._state.runs(run_id, session_id, agent_id)
            meant = [run for run in runs if signature is None or signature in run.blocked()]
            for run in meant:
                run.allow(signature, by, self._clock() if self._clock else None)
            return len(meant)

    def compacted(self, session_id: str | None = None, *, ok: bool = True, agent_id: str | None = None) -> None:
        """
        Arm the post-compaction guard: the context of this session was shortened and the run goes on (SPEC 7).

        Args:
            session_id: The session, if the host has more than one.
            ok: Whether the compaction succeeded; a failed one arms nothing.
            agent_id: The agent.
        """
        if not ok or self.settings.enabled is False:
            return
        size = self.settings.window_size
        with self._lock:
            self._state.session(session_id, agent_id).window.arm(size)
        self._notifier.add_armed(size, session_id, agent_id)
        self._notifier.notify()

    def is_armed(self, session_id: str | None = None, *, agent_id: str | None = None) -> bool:
        """Return whether the post-compaction guard of a session waits for outcomes."""
        with self._lock:
            return self._state.is_armed(session_id, agent_id)

    def run_started(self, run_id: str, session_id: str | None = None, *, agent_id: str | None = None) -> None:
        """Make this the run of the session's calls without a run id. If it was ended, it begins anew."""
        with self._lock:
            self._state.start_run(run_id, session_id, agent_id)

    def user_message(self, session_id: str | None = None, *, agent_id: str | None = None) -> None:
        """Start a new run, if the host gives no run ids: the user sent a message (SPEC 3)."""
        with self._lock:
            self._state.session(session_id, agent_id).prompts += 1

    def reset(self, *, run_id: str | None = None, session_id: str | None = None, agent_id: str | None = None) -> None:
        """Drop the runs and sessions that match every id given; everything if none is given."""
        with self._lock:
            self._state.forget(run_id, session_id, agent_id)

    def record(
        self, run_id: str | None = None, session_id: str | None = None, *, agent_id: str | None = None
    ) -> RunRecord | None:
        """
        Return the record of a run (SPEC 8).

        Args:
            run_id: The run; without it, the one that was used last.
            session_id: Its session, if run ids alone do not identify a run.
            agent_id: Its agent.

        Returns:
            The record, or `None` if no such run is kept.
        """
        with self._lock:
            return next(self._state.records(run_id, session_id, agent_id), None)

    def records(self) -> list[RunRecord]:
        """Return the records of all runs that are kept, the last used first."""
        with self._lock:
            return list(self._state.records())

    def crashed(self, part: str, crash: Exception) -> None:
        """
        Report that something around the guard crashed and the call passes, in an event and a log line (SPEC 9).

        Args:
            part: What crashed, such as "the adapter".
            crash: The exception. In tests (`strict`) it is raised.
        """
        self._crashed(part, crash)
        self._notifier.notify()

    def dump(self) -> dict[str, Any]:
        """Return the state as plain JSON values: ids, tool names, digests and counts."""
        with self._lock:
            return self._state.dump()

    def load(self, state: dict[str, Any]) -> None:
        """
        Replace the state with one that `dump` returned.

        Raises:
            ValueError: The state is damaged, or of another version.
        """
        with self._lock:
            self._state.load(state)

    def _before(self, call: ToolCall) -> Verdict:
        if self.settings.enabled is False:
            return ALLOW
        session, run = self._state.place(call)
        call_id = normalised_id(call.id)
        if run.ended is not None:
            return self._reported(run.ended, call, call_id, run) if run.refuse(call_id) else run.ended
        tool, signature = self.tools.signed(call)
        if tool.exempt:
            run.calls += 1
            return ALLOW
        if run.rewritten:
            signature = run.rewritten.get(signature, signature)
        announced = run.history.calls.get(call_id) if call_id is not None else None
        if announced is not None and announced.kind is None:
            if announced.signature == signature:
                return announced.pending_verdict or ALLOW
            link = run.history.remove(announced)
        else:
            link = run.link(None if call.turn_id is None else normalised_id(call.turn_id))
            run.calls += 1
        record = CallRecord(tool, signature, call_id, session.window.compactions)
        newest = run.history.newest
        if newest is not None and newest.similarity_key is not None:
            run.note_similarity(record, call, newest)
        finding = self._escalation.judge(record, run.history)
        if finding is None:
            run.blocked_in_a_row = 0
            run.history.append(record, link)
            return ALLOW
        given = run.warnings + run.blocks
        action, finding = self._escalation.escalate(finding, record, link, run)
        verdict = self.advisor.verdict(action, finding, call.tool, given, observes=self._observes)
        if action is Action.ABORT:
            self._end(verdict, call, call_id, run)
        elif record.kind is None:
            record.pending_verdict = verdict
        return self._reported(verdict, call, call_id, run)

    def _after(self, call: ToolCall, outcome: Outcome) -> Verdict:
        if self.settings.enabled is False:
            return ALLOW
        session, run = self._state.place(call)
        tool, signature = self.tools.signed(call)
        if tool.exempt:
            return ALLOW
        call_id = normalised_id(call.id)
        record = run.history.calls.get(call_id) if call_id is not None else None
        if record is None:
            record, run = self._state.find_call(call, call_id, signature, session, run)
        if run.ended is not None:
            return self._reported(run.ended, call, call_id, run)
        if outcome.kind in _UNTOLD or (record is not None and record.kind is not None):
            return ALLOW
        if record is None:
            record = CallRecord(tool, signature, call_id, session.window.compactions)
            run.calls += 1
            run.blocked_in_a_row = 0
            run.history.append(record, run.link(normalised_id(call.turn_id)))
        elif record.signature != signature:
            run.rewrite(record, signature)
        changed = run.record_outcome(record, call, outcome, tool)
        if run.warned:
            self._escalation.outcome_recorded(record, run, changed=changed)
        record.pending_verdict = None
        finding = session.window.observe(record) if session.window.left else None
        if finding is None:
            return ALLOW
        verdict = self._verdict(Action.ABORT, finding, call, run)
        self._end(verdict, call, call_id, run)
        return self._reported(verdict, call, call_id, run)

    def _asked(self, call: ToolCall) -> Verdict | None:
        session, run = self._state.place(call)
        call_id = normalised_id(call.id)
        record = run.history.calls.get(call_id) if call_id is not None else None
        if record is None:
            record, run = self._state.find_call(call, call_id, self.tools.signed(call)[1], session, run)
        if record is None:
            return run.ended if call_id is not None and call_id == run.refused else None
        pattern = record.blocked_by
        if pattern is None:
            return record.pending_verdict or ALLOW
        return self._verdict(Action.BLOCK, pattern.finding(pattern.count), call, run)

    def _verdict(self, action: Action, finding: Finding, call: ToolCall, run: Run) -> Verdict:
        return self.advisor.verdict(action, finding, call.tool, run.warnings + run.blocks, observes=self._observes)

    def _end(self, verdict: Verdict, call: ToolCall, call_id: str | None, run: Run) -> None:
        run.end(verdict, printable_name(call.tool), call_id, self._clock() if self._clock else None)

    def _reported(self, verdict: Verdict, call: ToolCall, call_id: str | None, run: Run) -> Verdict:
        """Queue the event of a verdict, if there is anything to report, and return the verdict."""
        if verdict.finding is not None:
            self._notifier.add_verdict(verdict, call.tool, call_id=call_id, **run.ids)
        return verdict

    def _crashed(self, part: str, crash: Exception) -> None:
        if self.strict:
            raise crash
        self._notifier.add_crash(part, crash)
