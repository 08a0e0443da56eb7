"""
What a guard keeps of a run and of a session, and the form in which it is written down.

Two rules hold here:

1. The form is plain JSON values. Written and read back after every event, it gives the verdicts of a guard that was
   never stopped (SPEC 10).
2. It holds ids, tool names, digests and counts, never arguments, results or their text.
"""

from __future__ import annotations

from wheelspin.core.call_record import CallRecord, Link, links
from wheelspin.core.compaction import CompactionWindow
from wheelspin.core.events import ERROR, UNKNOWN_TOOL
from wheelspin.core.history import History
from wheelspin.core.outcome_reading import read_outcome
from wheelspin.core.outcome_status import SUCCESS
from wheelspin.core.record import RunRecord
from wheelspin.core.similarity import is_informative, similarity_key_of
from wheelspin.core.state_format import (
    dump_carried,
    dump_pattern,
    dump_record,
    dump_verdict,
    hexed,
    load_carried,
    load_pattern,
    load_record,
    load_verdict,
    number,
    unhexed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.events import Outcome, ToolCall, Verdict
    from wheelspin.core.tools import Tool

    Pattern = tuple[str, tuple[bytes, ...]]
    """A detector's id, and what the pattern is about."""

__all__ = ["Run", "Session"]

_ALONE, _SAME_GROUP, _SAME_MESSAGE = Link
_PLAIN: dict[str, object] = {
    "turn": None,
    "calls": 0,
    "warnings": 0,
    "blocks": 0,
    "blocked_in_a_row": 0,
    "ended_tool": None,
    "ended_at_call": None,
    "ended_at": None,
    "refused": None,
    "allowed_by": None,
    "allowed_at": None,
}
"""The fields of a run that are plain values, each with its value at the beginning."""


class Run:
    """
    One run: its history, what was warned about and blocked in it, and its record.

    Args:
        history: Its newest calls.
        run_id: Its id, or `None`.
        session_id: Id of its session.
        agent_id: Id of its agent.
    """

    __slots__ = (*_PLAIN, "agent_id", "ended", "history", "rewritten", "run_id", "session_id", "warned")

    run_id: str | None
    session_id: str | None
    agent_id: str | None
    history: History
    warned: dict[Pattern, int]
    """Patterns that were warned about, each with the number of findings since then without a warning."""
    rewritten: dict[bytes, bytes]
    """Signatures that the model requested and the host ran as another one, which is the one that is judged."""
    turn: str | None
    """Id of the model's message that requested the newest call."""
    calls: int
    warnings: int
    blocks: int
    blocked_in_a_row: int
    """Number of newest calls that were blocked."""
    ended: Verdict | None
    """The verdict that ended it."""
    ended_tool: str | None
    ended_at_call: int | None
    ended_at: float | None
    refused: str | None
    """Id of the newest call after the end. If it is announced again, it does not count again."""
    allowed_by: str | None
    """Who last allowed the run to go on."""
    allowed_at: float | None

    def __init__(self, history: History, *, run_id: str | None, session_id: str | None, agent_id: str | None) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.agent_id = agent_id
        self.history = history
        self.warned = {}
        self.rewritten = {}
        self.ended = None
        for name, value in _PLAIN.items():
            setattr(self, name, value)

    @property
    def ids(self) -> dict[str, str | None]:
        """The ids of the run, its session and its agent, as events have them."""
        return {"run_id": self.run_id, "session_id": self.session_id, "agent_id": self.agent_id}

    def link(self, turn: str | None) -> Link:
        """
        Return how the next call is linked to the one before it.

        Args:
            turn: Id of the model's message that requested it, if the host has one.
        """
        before, self.turn = self.turn, turn
        if turn is not None:
            return _SAME_MESSAGE if turn == before else _ALONE
        newest = self.history.newest
        return _SAME_GROUP if newest is not None and newest.kind is None else _ALONE

    def note_similarity(self, record: CallRecord, call: ToolCall, newest: CallRecord) -> None:
        """Give a call its similarity key, if it can be compared with that of the newest call."""
        if newest.status is SUCCESS and newest.tool == record.tool:
            record.similarity_key = similarity_key_of(record.known, call.arguments)

    def record_outcome(self, record: CallRecord, call: ToolCall, outcome: Outcome, tool: Tool) -> bool:
        """Record the outcome of a call; return whether an earlier outcome of the call was different."""
        kind = outcome.kind
        if kind is ERROR:
            from wheelspin.core.unknown_tool import says_unknown_tool

            if says_unknown_tool((call.tool, tool.name), outcome.value):
                kind = UNKNOWN_TOOL
        fingerprint, status, similarity_key = read_outcome(tool, outcome, call.arguments)
        if status is SUCCESS and self._resembles_previous(record, fingerprint) and is_informative(tool, outcome):
            similarity_key = similarity_key_of(tool, call.arguments)
        return self.history.record_outcome(record, kind, fingerprint, status, similarity_key)

    def _resembles_previous(self, record: CallRecord, outcome: bytes | None) -> bool:
        """Return whether the call before is another call of the same tool with an equal outcome."""
        before = self.history.before(record)
        if before is None or outcome is None or before.outcome != outcome:
            return False
        return before.tool == record.tool and before.signature != record.signature

    def rewrite(self, record: CallRecord, signature: bytes) -> None:
        """Note that the host ran a call with other arguments (SPEC 3), and expect the same the next time."""
        requested = [before for before, ran in self.rewritten.items() if ran == record.signature] or [record.signature]
        self.rewritten.pop(signature, None)
        self.rewritten.update({before: signature for before in requested if before != signature})
        if len(self.rewritten) > self.history.size:
            del self.rewritten[next(iter(self.rewritten))]
        self.history.change_signature(record, signature)

    def is_warning_due(self, pattern: Pattern, threshold: int) -> bool:
        """Count a finding of a pattern; return whether it is warned about: the first, and each `threshold` later."""
        unreported = self.warned.get(pattern)
        if unreported is not None and unreported + 1 < threshold:
            self.warned[pattern] = unreported + 1
            return False
        self.warned[pattern] = 0
        if len(self.warned) > self.history.size:
            del self.warned[next(iter(self.warned))]
        self.warnings += 1
        return True

    def blocked(self) -> tuple[str, ...]:
        """Return the signatures that are blocked, and those that the run was ended for, in hexadecimal."""
        finding = self.ended.finding if self.ended else None
        ended = finding.signatures if finding is not None else ()
        return tuple(signature.hex() for signature in dict.fromkeys((*self.history.blocked_signatures(), *ended)))

    def end(self, verdict: Verdict, tool: str, call_id: str | None, at: float | None) -> None:
        """End the run at the newest call."""
        self.ended = verdict
        self.ended_tool = tool
        self.ended_at_call = self.calls
        self.ended_at = at
        self.refused = call_id

    def refuse(self, call_id: str | None) -> bool:
        """Count a call after the end; return `False` if it is the same call as the last one."""
        if call_id is not None and call_id == self.refused:
            return False
        self.refused = call_id
        self.calls += 1
        self.blocks += 1
        return True

    def allow(self, signature: str | None, by: str | None, at: float | None) -> None:
        """Unblock everything, or the pattern of one signature, and take back an end; note who allowed it, and when."""
        if signature is None:
            self.history = History(self.history.size)
            self.warned.clear()
        else:
            unblocked = bytes.fromhex(signature)
            self.history = self.history.without(unblocked)
            self.warned = {pattern: since for pattern, since in self.warned.items() if unblocked not in pattern[1]}
        self.blocked_in_a_row = 0
        self.ended = self.ended_tool = self.ended_at_call = self.ended_at = None
        self.allowed_by, self.allowed_at = by, at

    def record(self) -> RunRecord:
        """Return the run's record (SPEC 8)."""
        finding = self.ended.finding if self.ended else None
        own = {name: getattr(self, name) for name in RunRecord.__slots__ if name in Run.__slots__}
        return RunRecord(
            **own,
            code=finding.code if finding else None,
            detector=finding.detector if finding else None,
            tool=self.ended_tool,
            count=finding.count if finding else None,
            threshold=finding.threshold if finding else None,
            reason=self.ended.reason if self.ended else None,
            signatures=self.blocked(),
        )

    def dump(self) -> dict[str, Any]:
        """Return the run as plain JSON values."""
        records = list(self.history)
        patterns = list(dict.fromkeys(record.blocked_by for record in records if record.blocked_by is not None))
        return {
            "run": self.run_id,
            "records": [
                dump_record(record, link, patterns) for record, link in zip(records, links(records), strict=True)
            ],
            "carried": dump_carried(self.history),
            "patterns": [dump_pattern(pattern) for pattern in patterns],
            "warned": [[detector, hexed(about), since] for (detector, about), since in self.warned.items()],
            "pending": [
                [place, dump_verdict(record.pending_verdict)]
                for place, record in enumerate(records)
                if record.pending_verdict is not None
            ],
            "rewritten": [[requested.hex(), ran.hex()] for requested, ran in self.rewritten.items()],
            "ended": dump_verdict(self.ended) if self.ended else None,
            "plain": {name: getattr(self, name) for name in _PLAIN},
        }

    @classmethod
    def load(cls, data: dict[str, Any], size: int, *, session_id: str | None, agent_id: str | None) -> Run:
        """
        Return the run that `dump` wrote down.

        Args:
            data: The plain values.
            size: Number of calls that its history keeps.
            session_id: Id of its session.
            agent_id: Id of its agent.

        Raises:
            KeyError, TypeError, ValueError: The values are not those of a run.
        """
        patterns = [load_pattern(pattern) for pattern in data["patterns"]]
        records = [load_record(record, patterns) for record in data["records"]]
        for at, (record, (*_, link)) in enumerate(zip(records, data["records"], strict=True)):
            record.number = at
            if at:
                record.link(records[at - 1], Link(link))
        for place, verdict in data["pending"]:
            records[number(place)].pending_verdict = load_verdict(verdict)
        history = History(size, records, load_carried(data["carried"], records, size))
        run = cls(history, run_id=data["run"], session_id=session_id, agent_id=agent_id)
        run.warned = {(detector, unhexed(about)): since for detector, about, since in data["warned"]}
        run.rewritten = {bytes.fromhex(requested): bytes.fromhex(ran) for requested, ran in data["rewritten"]}
        run.ended = load_verdict(data["ended"]) if data["ended"] else None
        for name, default in _PLAIN.items():
            value = data["plain"][name]
            setattr(run, name, value if default is None else number(value))
        return run


class Session:
    """
    One conversation of one agent: its post-compaction guard, and its current run.

    Attributes:
        window: The window of the post-compaction guard.
        run_id: The run that calls without a run id belong to, once the host has started one.
        prompts: Number of messages of the user if the host starts no runs: each opens a run without an id.
    """

    __slots__ = ("prompts", "run_id", "window")

    def __init__(self) -> None:
        self.window = CompactionWindow()
        self.run_id: str | None = None
        self.prompts = 0

    def dump(self) -> dict[str, Any]:
        """Return the session, without its runs, as plain JSON values."""
        window = self.window
        return {
            "run": self.run_id,
            "prompts": self.prompts,
            "compactions": window.compactions,
            "window": [window.size, window.left],
            "signature": window.signature.hex() if window.signature else None,
            "outcome": window.outcome.hex() if window.outcome else None,
        }

    @classmethod
    def load(cls, data: dict[str, Any]) -> Session:
        """
        Return the session that `dump` wrote down.

        Raises:
            KeyError, TypeError, ValueError: The values are not those of a session.
        """
        session = cls()
        session.run_id, session.prompts = data["run"], number(data["prompts"])
        window = session.window
        window.compactions = number(data["compactions"])
        window.size, window.left = map(number, data["window"])
        window.signature = bytes.fromhex(data["signature"]) if data["signature"] else None
        window.outcome = bytes.fromhex(data["outcome"]) if data["outcome"] else None
        return session
