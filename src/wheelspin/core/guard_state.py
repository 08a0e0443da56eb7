"""The runs and sessions that a guard remembers: found by their ids, the least recently used dropped first (SPEC 3)."""

from __future__ import annotations

from wheelspin.core.fingerprint import fingerprint
from wheelspin.core.history import History
from wheelspin.core.state import Run, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wheelspin.core.call_record import Step
    from wheelspin.core.events import ToolCall
    from wheelspin.core.record import RunRecord

__all__ = ["Memory", "plain_id"]

_LONGEST_ID = 128
_VERSION = 4


def plain_id(given: object) -> str | None:
    """Give an id as it is compared: a text of bearable length, `None` for an empty one."""
    if given is None or (type(given) is str and 0 < len(given) <= _LONGEST_ID):
        return given
    if isinstance(given, int) and given.bit_length() <= _LONGEST_ID:
        return str(int(given))
    return fingerprint(given).hex() if given != "" else None


def _agent(given: object) -> str | None:
    return plain_id(given.strip().lower() if isinstance(given, str) else given)


class Memory:
    """
    The state of a guard.

    Args:
        history_size: Steps that are kept per run.
        max_runs: Runs that are kept, and sessions.
    """

    __slots__ = ("_asked", "_history_size", "_max_runs", "_placed", "_runs", "_sessions")

    def __init__(self, history_size: int, max_runs: int) -> None:
        self._history_size = history_size
        self._max_runs = max(1, max_runs)
        self._sessions: dict[tuple[str | None, str | None], Session] = {}
        self._runs: dict[tuple[str | None, str | None, str | int], Run] = {}
        self._forget_placed()

    def _forget_placed(self) -> None:
        self._asked: tuple[object, object, object] = (None, None, self)
        self._placed: tuple[Session, Run] | None = None

    def session(self, session_id: object, agent_id: object) -> Session:
        """Give the session of these ids, to be changed; a new one where there is none."""
        self._forget_placed()
        return self._session((_agent(agent_id), plain_id(session_id)))

    def is_armed(self, session_id: object, agent_id: object) -> bool:
        """Tell whether the window of a session is open."""
        session = self._sessions.get((_agent(agent_id), plain_id(session_id)))
        return session is not None and session.window.left > 0

    def _session(self, key: tuple[str | None, str | None]) -> Session:
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session()
            if len(self._sessions) > self._max_runs:
                del self._sessions[next(iter(self._sessions))]
        elif len(self._sessions) > 1:
            self._sessions[key] = self._sessions.pop(key)
        return session

    def place(self, call: ToolCall) -> tuple[Session, Run]:
        """Give the session and the run that a call belongs to; new ones where there are none."""
        asked = call.agent_id, call.session_id, call.run_id
        if self._placed is not None and asked == self._asked:
            return self._placed
        key = _agent(call.agent_id), plain_id(call.session_id)
        session = self._session(key)
        run_id = plain_id(call.run_id) or session.run_id
        run_key = (*key, session.prompts if run_id is None else run_id)
        run = self._runs.pop(run_key, None) or Run(run_id, History(self._history_size))
        self._runs[run_key] = run
        if len(self._runs) > self._max_runs:
            del self._runs[next(iter(self._runs))]
        self._asked, self._placed = asked, (session, run)
        return self._placed

    def run(self, run_id: object, session_id: object, agent_id: object) -> Run | None:
        """Give the run that a call of these ids would belong to; `None` where it has made none."""
        whose = _agent(agent_id), plain_id(session_id)
        session = self._sessions.get(whose)
        given = plain_id(run_id) or (session.run_id if session else None)
        return self._runs.get((*whose, (session.prompts if session else 0) if given is None else given))

    def runs(self, run_id: object, session_id: object, agent_id: object) -> list[Run]:
        """Give the runs that match all the ids that are given."""
        run, session, agent = plain_id(run_id), plain_id(session_id), _agent(agent_id)
        return [
            found
            for key, found in self._runs.items()
            if agent in {None, key[0]} and session in {None, key[1]} and run in {None, found.run_id}
        ]

    def asked(
        self, call: ToolCall, call_id: str | None, signature: bytes, session: Session, run: Run
    ) -> tuple[Step | None, Run]:
        """Give the step that an outcome belongs to, and its run, where the run has no call of this id (SPEC 3)."""
        if call_id is None:
            return run.history.open_call(run.rewritten.get(signature, signature)), run
        before = self._run_before(call, session)
        if before is not None and call_id in before.history.calls:
            return before.history.calls[call_id], before
        return None, run

    def _run_before(self, call: ToolCall, session: Session) -> Run | None:
        """Give the run before the user spoke last, where runs have no ids: an open call may still belong to it."""
        if session.prompts == 0 or session.run_id is not None or plain_id(call.run_id) is not None:
            return None
        return self._runs.get((_agent(call.agent_id), plain_id(call.session_id), session.prompts - 1))

    def start_run(self, run_id: object, session_id: object, agent_id: object) -> None:
        """Make this the run of calls without a run id. A run that was ended begins anew."""
        session = self.session(session_id, agent_id)
        session.run_id = plain_id(run_id)
        key = _agent(agent_id), plain_id(session_id), session.run_id
        run = self._runs.get(key)  # type: ignore[arg-type]
        if run is not None and run.ended is not None:
            del self._runs[key]  # type: ignore[arg-type]

    def forget(self, run_id: object = None, session_id: object = None, agent_id: object = None) -> None:
        """Drop what matches all the ids that are given; everything where none is."""
        run, session, agent = plain_id(run_id), plain_id(session_id), _agent(agent_id)

        def matches(key: tuple[str | None, str | None]) -> bool:
            return (agent is None or key[0] == agent) and (session is None or key[1] == session)

        for key in [key for key in self._runs if matches(key[:2]) and (run is None or key[2] == run)]:
            del self._runs[key]
        if run is None:
            for session_key in [key for key in self._sessions if matches(key)]:
                del self._sessions[session_key]
        self._forget_placed()

    def record(self, run_id: object, session_id: object, agent_id: object) -> RunRecord | None:
        """Give the record of the run that was used last of those that match all the ids that are given."""
        run, session, agent = plain_id(run_id), plain_id(session_id), _agent(agent_id)
        for record in self.records():
            if (
                run in {None, record.run_id}
                and session in {None, record.session_id}
                and agent in {None, record.agent_id}
            ):
                return record
        return None

    def records(self) -> Iterator[RunRecord]:
        """Give the records of all runs in which a call was made, the one that was used last first."""
        for (agent, session, _), run in reversed(self._runs.items()):
            if run.calls:
                yield run.record(session, agent)

    def dump(self) -> dict[str, Any]:
        """Give everything as plain JSON values, the least recently used first."""
        return {
            "version": _VERSION,
            "sessions": [[*key, session.dump()] for key, session in self._sessions.items()],
            "runs": [[*key, run.dump()] for key, run in self._runs.items()],
        }

    def load(self, data: dict[str, Any]) -> None:
        """
        Take over what `dump` gave, in place of what is there.

        Raises:
            ValueError: The values are none of ours, or of a version that is not known.
        """
        if type(data) is not dict or data.get("version") != _VERSION:
            raise ValueError("this is no state of a guard, or one of another version")
        try:
            sessions = {(agent, session): Session.load(state) for agent, session, state in data["sessions"]}
            runs = {
                (agent, session, run): Run.load(state, self._history_size)
                for agent, session, run, state in data["runs"]
            }
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as damage:
            raise ValueError(f"this state of a guard is damaged: {type(damage).__name__}") from damage
        self._sessions, self._runs = sessions, runs
        self._forget_placed()
