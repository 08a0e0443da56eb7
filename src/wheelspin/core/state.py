"""
What the guard remembers of a run and of a session, in the open, and the form in which it is written down.

The form is plain JSON values. Written and read back after every event, it gives the verdicts of a guard that was
never stopped (SPEC 10). It holds ids, tool names, digests and counts, never arguments, results or their text.
"""

from __future__ import annotations

from wheelspin.core.call_record import Pattern, Step, bonds
from wheelspin.core.compaction import CompactionWindow
from wheelspin.core.events import Action, Finding, Level, Verdict
from wheelspin.core.history import History
from wheelspin.core.record import RunRecord
from wheelspin.core.tools import Tool
from wheelspin.core.unblock import blocked_in, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.history import Memory

__all__ = ["Run", "Session"]

_IN_MESSAGE = 2
_BONDS = (0, 1, _IN_MESSAGE)


class Run:
    """
    One run: its history, what was said and blocked in it, and its record.

    Attributes:
        history: The newest steps.
        said: Patterns that were warned about, each with the findings since then that were not said.
        turn: Id of the message of the model that asked for the newest call.
        rewritten: Signatures that the model asked for and the host ran as another one, which is what will be judged.
        vetoes: How many vetoes the run's newest steps are.
        ended: The verdict that ended the run.
        refused: Id of the newest call that met the end: announced again, it does not count again.
        allowed_by: Who said at last that the run goes on, and `allowed_at`: when.
    """

    __slots__ = (
        "allowed_at",
        "allowed_by",
        "blocks",
        "calls",
        "ended",
        "ended_at",
        "ended_at_call",
        "ended_tool",
        "history",
        "refused",
        "rewritten",
        "run_id",
        "said",
        "turn",
        "vetoes",
        "warnings",
    )

    def __init__(self, run_id: str | None, history: History) -> None:
        self.run_id = run_id
        self.history = history
        self.said: dict[tuple[str, tuple[bytes, ...]], int] = {}
        self.rewritten: dict[bytes, bytes] = {}
        self.turn: str | None = None
        self.vetoes = 0
        self.calls = 0
        self.warnings = 0
        self.blocks = 0
        self.ended: Verdict | None = None
        self.ended_tool: str | None = None
        self.ended_at_call: int | None = None
        self.ended_at: float | None = None
        self.refused: str | None = None
        self.allowed_by: str | None = None
        self.allowed_at: float | None = None

    def blocked(self) -> tuple[str, ...]:
        """Give the signatures that are blocked, and those that the run was ended for, in hexadecimal."""
        finding = self.ended.finding if self.ended else None
        ended = finding.signatures if finding is not None else ()
        return tuple(signature.hex() for signature in dict.fromkeys((*blocked_in(self.history), *ended)))

    def refuse(self, call_id: str | None) -> bool:
        """Count a call that comes after the end; `False` for the one that came last."""
        if call_id is not None and call_id == self.refused:
            return False
        self.refused = call_id
        self.calls += 1
        self.blocks += 1
        return True

    def allow(self, signature: str | None, by: str | None, at: float | None) -> None:
        """Free what is blocked, or the pattern of one signature alone, and take back an end; it is noted who, when."""
        if signature is None:
            self.history = History(self.history.size)
            self.said.clear()
        else:
            freed = bytes.fromhex(signature)
            self.history = without(self.history, freed)
            self.said = {pattern: since for pattern, since in self.said.items() if freed not in pattern[1]}
        self.vetoes = 0
        self.ended = self.ended_tool = self.ended_at_call = self.ended_at = None
        self.allowed_by, self.allowed_at = by, at

    def record(self, session_id: str | None, agent_id: str | None) -> RunRecord:
        """Give the run's record (SPEC 8)."""
        finding = self.ended.finding if self.ended else None
        return RunRecord(
            run_id=self.run_id,
            session_id=session_id,
            agent_id=agent_id,
            calls=self.calls,
            warnings=self.warnings,
            blocks=self.blocks,
            code=finding.code if finding else None,
            detector=finding.detector if finding else None,
            tool=self.ended_tool,
            count=finding.count if finding else None,
            threshold=finding.threshold if finding else None,
            reason=self.ended.reason if self.ended else None,
            ended_at_call=self.ended_at_call,
            ended_at=self.ended_at,
            signatures=self.blocked(),
            allowed_by=self.allowed_by,
            allowed_at=self.allowed_at,
        )

    def dump(self) -> dict[str, Any]:
        """Give the run as plain JSON values."""
        steps = list(self.history)
        patterns = list(dict.fromkeys(step.pattern for step in steps if step.pattern is not None))
        return {
            "run": self.run_id,
            "turn": self.turn,
            "steps": [_dump_step(step, bond, patterns) for step, bond in zip(steps, bonds(steps), strict=True)],
            "memory": _dump_memory(self.history),
            "patterns": [
                [
                    *(pattern.detector, pattern.threshold, _hexed(pattern.signatures)),
                    *(pattern.count, pattern.born, pattern.nature),
                ]
                for pattern in patterns
            ],
            "said": [[detector, _hexed(signatures), since] for (detector, signatures), since in self.said.items()],
            "told": [[place, _dump_verdict(step.told)] for place, step in enumerate(steps) if step.told is not None],
            "rewritten": [[asked.hex(), ran.hex()] for asked, ran in self.rewritten.items()],
            "vetoes": self.vetoes,
            "calls": self.calls,
            "warnings": self.warnings,
            "blocks": self.blocks,
            "ended": _dump_verdict(self.ended) if self.ended else None,
            "endedTool": self.ended_tool,
            "endedAtCall": self.ended_at_call,
            "endedAt": self.ended_at,
            "refused": self.refused,
            "allowed": [self.allowed_by, self.allowed_at],
        }

    @classmethod
    def load(cls, data: dict[str, Any], size: int) -> Run:
        """
        Make a run from what `dump` gave.

        Args:
            data: The plain values.
            size: Steps that its history keeps.

        Raises:
            KeyError, TypeError, ValueError: The values are none of ours.
        """
        patterns = [
            Pattern(detector, threshold, _unhexed(signatures), count, born, nature=_text(nature))
            for detector, threshold, signatures, count, born, nature in data["patterns"]
        ]
        steps = [_load_step(step, patterns) for step in data["steps"]]
        for number, (step, (*_, bond)) in enumerate(zip(steps, data["steps"], strict=True)):
            step.number = number
            if bond and number:
                step.bind(steps[number - 1], in_message=bond == _IN_MESSAGE)
        for place, verdict in data["told"]:
            steps[_number(place)].told = _load_verdict(verdict)
        run = cls(data["run"], History(size, steps, _load_memory(data["memory"], len(steps), size)))
        run.turn = data["turn"]
        run.said = {(detector, _unhexed(signatures)): since for detector, signatures, since in data["said"]}
        run.rewritten = {bytes.fromhex(asked): bytes.fromhex(ran) for asked, ran in data["rewritten"]}
        run.vetoes, run.calls = _number(data["vetoes"]), _number(data["calls"])
        run.warnings, run.blocks = _number(data["warnings"]), _number(data["blocks"])
        run.ended = _load_verdict(data["ended"]) if data["ended"] else None
        run.ended_tool, run.ended_at_call = data["endedTool"], data["endedAtCall"]
        run.ended_at = data["endedAt"]
        run.refused = data["refused"]
        run.allowed_by, run.allowed_at = data["allowed"]
        return run


class Session:
    """
    One conversation of one agent: the post-compaction guard, and which run is on.

    Attributes:
        window: The post-compaction guard's window.
        run_id: The run that calls without a run id belong to, once the host has started one.
        prompts: How often the user spoke where the host starts no runs: each opens a run without an id.
    """

    __slots__ = ("prompts", "run_id", "window")

    def __init__(self) -> None:
        self.window = CompactionWindow()
        self.run_id: str | None = None
        self.prompts = 0

    def dump(self) -> dict[str, Any]:
        """Give the session, without its runs, as plain JSON values."""
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
        Make a session from what `dump` gave.

        Raises:
            KeyError, TypeError, ValueError: The values are none of ours.
        """
        session = cls()
        session.run_id, session.prompts = data["run"], _number(data["prompts"])
        window = session.window
        window.compactions = _number(data["compactions"])
        window.size, window.left = map(_number, data["window"])
        window.signature = bytes.fromhex(data["signature"]) if data["signature"] else None
        window.outcome = bytes.fromhex(data["outcome"]) if data["outcome"] else None
        return session


def _number(value: object) -> int:
    if type(value) is not int:
        raise ValueError("a number was expected")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("a text was expected")
    return value


def _hexed(signatures: tuple[bytes, ...]) -> list[str]:
    return [signature.hex() for signature in signatures]


def _unhexed(signatures: list[str]) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(signature) for signature in signatures)


def _dump_step(step: Step, bond: int, patterns: list[Pattern]) -> list[Any]:
    return [
        step.tool,
        step.signature.hex(),
        step.kind,
        step.outcome.hex() if step.outcome else None,
        step.id,
        step.polls,
        step.compactions,
        patterns.index(step.pattern) if step.pattern is not None else None,
        step.nature,
        step.kin.hex() if step.kin else None,
        step.is_stale,
        bond,
    ]


def _load_step(data: list[Any], patterns: list[Pattern]) -> Step:
    tool, signature, kind, outcome, call, polls, compactions, pattern, nature, kin, is_stale, bond = data
    if bond not in _BONDS:
        raise ValueError("a step does not say how it belongs to the one before it")
    step = Step(Tool(_text(tool), polls=bool(polls)), bytes.fromhex(signature), call, compactions)
    step.kind = kind
    step.outcome = bytes.fromhex(outcome) if outcome else None
    step.pattern = patterns[pattern] if pattern is not None else None
    step.nature = _text(nature)
    step.kin = bytes.fromhex(kin) if kin else None
    step.is_stale = bool(is_stale)
    return step


def _dump_memory(history: History) -> list[Any]:
    fresh, passed, failures = history.memory()
    return [
        fresh,
        passed,
        [[sign.hex(), count, outcome.hex() if outcome else None, nature] for sign, count, outcome, nature in failures],
    ]


def _load_memory(data: list[Any], steps: int, size: int) -> Memory:
    fresh, passed, failures = data
    kept = max(0, _number(fresh) - max(0, steps - size))
    return (
        kept,
        _number(passed),
        [
            (bytes.fromhex(sign), _number(count), bytes.fromhex(outcome) if outcome else None, _text(nature))
            for sign, count, outcome, nature in failures
        ],
    )


def _dump_verdict(verdict: Verdict) -> list[Any]:
    finding = verdict.finding
    seen = finding and [
        finding.detector,
        finding.level,
        finding.count,
        finding.threshold,
        _hexed(finding.signatures),
        finding.no_progress,
        finding.cause,
        finding.nature,
    ]
    return [verdict.action, verdict.reason, verdict.advice, seen, verdict.observed]


def _load_verdict(data: list[Any]) -> Verdict:
    action, reason, advice, seen, observed = data
    finding = None
    if seen:
        detector, level, count, threshold, signatures, no_progress, cause, nature = seen
        finding = Finding(
            _text(detector),
            Level(level),
            count,
            threshold,
            _unhexed(signatures),
            no_progress=bool(no_progress),
            cause=_text(cause),
            nature=_text(nature),
        )
    due = None if observed is None else Action(observed)
    return Verdict(Action(action), finding, reason=reason, advice=advice, observed=due)
