"""
The state of a guard: the runs and sessions that it keeps, found by their ids (SPEC 3).

Two rules hold here:

1. An id is normalised once, where it enters; from there on ids are texts or `None`, and compare as they are.
2. What was used least recently is dropped first, so that the state of a process that runs for years stays bounded.
"""

from __future__ import annotations

from wheelspin.core.fingerprint import fingerprint
from wheelspin.core.history import History
from wheelspin.core.state import Run, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.events import ToolCall
    from wheelspin.core.record import RunRecord

    SessionKey = tuple[str | None, str | None]
    RunKey = tuple[str | None, str | None, str | int]

__all__ = ["GuardState", "normalised_id"]

_LONGEST_ID = 128
_VERSION = 5


def normalised_id(given: object) -> str | None:
    """Return an id as it is compared: a text of at most 128 characters, or `None` for an empty one."""
    if given is None or (type(given) is str and 0 < len(given) <= _LONGEST_ID):
        return given
    if isinstance(given, int) and given.bit_length() <= _LONGEST_ID:
        return str(int(given))
    return fingerprint(given).hex() if given != "" else None


def _session_key(session_id: object, agent_id: object) -> SessionKey:
    agent = normalised_id(agent_id.strip().lower() if isinstance(agent_id, str) else agent_id)
    return agent, normalised_id(session_id)


class GuardState:
    """
    The runs and sessions of a guard.

    Args:
        history_size: Number of calls that are kept per run.
        max_runs: Number of runs that are kept, and of sessions.
    """

    __slots__ = ("_history_size", "_max_runs", "_placed", "_placed_ids", "_runs", "_sessions")

    def __init__(self, history_size: int, max_runs: int) -> None:
        self._history_size = history_size
        self._max_runs = max(1, max_runs)
        self._sessions: dict[SessionKey, Session] = {}
        self._runs: dict[RunKey, Run] = {}
        self._placed_ids: tuple[object, object, object] = (None, None, None)
        self._placed: tuple[Session, Run] | None = None

    def session(self, session_id: object, agent_id: object) -> Session:
        """Return the session with these ids, to be changed; a new one if there is none."""
        self._forget_place()
        return self._session(_session_key(session_id, agent_id))

    def is_armed(self, session_id: object, agent_id: object) -> bool:
        """Return whether the post-compaction guard of a session waits for outcomes."""
        session = self._sessions.get(_session_key(session_id, agent_id))
        return session is not None and session.window.left > 0

    def place(self, call: ToolCall) -> tuple[Session, Run]:
        """Return the session and the run that a call belongs to; new ones if there are none."""
        ids = call.agent_id, call.session_id, call.run_id
        if self._placed is not None and ids == self._placed_ids:
            return self._placed
        key = _session_key(call.session_id, call.agent_id)
        session = self._session(key)
        run_id = normalised_id(call.run_id) or session.run_id
        run_key = (*key, session.prompts if run_id is None else run_id)
        run = self._runs.pop(run_key, None)
        if run is None:
            run = Run(History(self._history_size), run_id=run_id, session_id=key[1], agent_id=key[0])
        self._runs[run_key] = run
        if len(self._runs) > self._max_runs:
            del self._runs[next(iter(self._runs))]
        self._placed_ids, self._placed = ids, (session, run)
        return self._placed

    def run(self, run_id: object, session_id: object, agent_id: object) -> Run | None:
        """Return the run that a call with these ids would belong to; `None` if it has made none."""
        key = _session_key(session_id, agent_id)
        session = self._sessions.get(key)
        given = normalised_id(run_id) or (session.run_id if session else None)
        return self._runs.get((*key, (session.prompts if session else 0) if given is None else given))

    def runs(self, run_id: object = None, session_id: object = None, agent_id: object = None) -> list[Run]:
        """Return the runs that match all ids that are given, the least recently used first."""
        agent, session = _session_key(session_id, agent_id)
        run = normalised_id(run_id)
        return [
            found
            for found in self._runs.values()
            if agent in {None, found.agent_id} and session in {None, found.session_id} and run in {None, found.run_id}
        ]

    def find_call(
        self, call: ToolCall, call_id: str | None, signature: bytes, session: Session, run: Run
    ) -> tuple[CallRecord | None, Run]:
        """
        Return the record that an outcome belongs to, and its run, if the run has no call of this id (SPEC 3).

        Args:
            call: The call.
            call_id: Its id.
            signature: Its signature.
            session: Its session.
            run: The run that it would belong to by its ids.
        """
        if call_id is None:
            return run.history.open_call(run.rewritten.get(signature, signature)), run
        previous = self._previous_run(call, session, run)
        if previous is not None and call_id in previous.history.calls:
            return previous.history.calls[call_id], previous
        return None, run

    def start_run(self, run_id: object, session_id: object, agent_id: object) -> None:
        """Make this the run of calls without a run id. A run that was ended begins anew."""
        session = self.session(session_id, agent_id)
        session.run_id = normalised_id(run_id)
        if session.run_id is not None:
            key = (*_session_key(session_id, agent_id), session.run_id)
            run = self._runs.get(key)
            if run is not None and run.ended is not None:
                del self._runs[key]

    def forget(self, run_id: object = None, session_id: object = None, agent_id: object = None) -> None:
        """Drop the runs and sessions that match all ids that are given; everything if none is."""
        agent, session = _session_key(session_id, agent_id)
        run = normalised_id(run_id)

        def matches(key: SessionKey) -> bool:
            return agent in {None, key[0]} and session in {None, key[1]}

        for key in [key for key in self._runs if matches(key[:2]) and run in {None, key[2]}]:
            del self._runs[key]
        if run is None:
            for session_key in [key for key in self._sessions if matches(key)]:
                del self._sessions[session_key]
        self._forget_place()

    def records(self, run_id: object = None, session_id: object = None, agent_id: object = None) -> Iterator[RunRecord]:
        """Yield the records of the runs that made a call and match all ids that are given, the last used first."""
        return (run.record() for run in reversed(self.runs(run_id, session_id, agent_id)) if run.calls)

    def dump(self) -> dict[str, Any]:
        """Return everything as plain JSON values, the least recently used first."""
        return {
            "version": _VERSION,
            "sessions": [[*key, session.dump()] for key, session in self._sessions.items()],
            "runs": [[*key, run.dump()] for key, run in self._runs.items()],
        }

    def load(self, data: dict[str, Any]) -> None:
        """
        Take over what `dump` returned, in place of what there is.

        Raises:
            ValueError: The data is not the state of a guard, or of another version.
        """
        if type(data) is not dict or data.get("version") != _VERSION:
            raise ValueError("this is not the state of a guard, or that of another version")
        try:
            sessions = {(agent, session): Session.load(state) for agent, session, state in data["sessions"]}
            runs = {
                (agent, session, key): Run.load(state, self._history_size, session_id=session, agent_id=agent)
                for agent, session, key, state in data["runs"]
            }
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as damage:
            raise ValueError(f"this state of a guard is damaged: {type(damage).__name__}") from damage
        self._sessions, self._runs = sessions, runs
        self._forget_place()

    def _session(self, key: SessionKey) -> Session:
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session()
            if len(self._sessions) > self._max_runs:
                del self._sessions[next(iter(self._sessions))]
        elif len(self._sessions) > 1:
            self._sessions[key] = self._sessions.pop(key)
        return session

    def _previous_run(self, call: ToolCall, session: Session, run: Run) -> Run | None:
        """Return the run before the user's last message, if runs have no ids: an open call may still belong to it."""
        if session.prompts == 0 or session.run_id is not None or normalised_id(call.run_id) is not None:
            return None
        return self._runs.get((run.agent_id, run.session_id, session.prompts - 1))

    def _forget_place(self) -> None:
        """Forget where the last call belonged: nothing else may be assumed to be there still."""
        self._placed = None
