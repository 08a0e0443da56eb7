"""
Loop events: what listeners are notified of (SPEC 8).

An event holds ids, counts and fingerprints, never arguments, results or their text; of a crash, the type of the
exception and the place. The module is loaded with the first event, so that a hook process without events starts
quickly.
"""

from __future__ import annotations

from enum import StrEnum

from wheelspin.core.advice import printable_name
from wheelspin.core.events import Action, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.events import Level, Verdict

__all__ = ["EventKind", "LoopEvent", "armed_event", "crash_event", "verdict_event"]


class EventKind(StrEnum):
    """What a `LoopEvent` reports."""

    WARNING = "warning"
    """The model is warned."""
    BLOCK = "block"
    """A call is blocked."""
    ABORT = "abort"
    """A run is ended, or a call of an ended run is refused."""
    ARMED = "armed"
    """The post-compaction guard was armed."""
    CRASH = "crash"
    """A part of the guard crashed, and the call passed."""


class LoopEvent(Value):
    """Something that the guard did: ids, counts and fingerprints, never arguments or results (SPEC 8)."""

    __slots__ = (
        "action",
        "agent_id",
        "call_id",
        "cause",
        "code",
        "count",
        "detector",
        "fingerprints",
        "kind",
        "level",
        "observed",
        "reason",
        "run_id",
        "session_id",
        "threshold",
        "tool",
    )

    kind: EventKind
    run_id: str | None
    session_id: str | None
    agent_id: str | None
    call_id: str | None
    tool: str | None
    detector: str | None
    code: str | None
    """The finding's code; of a crash, what crashed."""
    level: Level | None
    action: Action | None
    """The action that was taken, or that `observe` mode would have taken."""
    count: int | None
    threshold: int | None
    fingerprints: tuple[str, ...]
    """The signatures of the pattern, in hexadecimal."""
    reason: str
    """The sentence for people."""
    cause: str | None
    """Of a crash: the type of the exception and the place, never its text."""
    observed: bool
    """Whether the action was only recorded: the mode is `observe`."""

    def __init__(self, kind: EventKind, **fields: Any) -> None:
        blank = dict.fromkeys(self.__slots__) | {"fingerprints": (), "reason": "", "observed": False}
        unknown = fields.keys() - blank.keys()
        if unknown:
            raise TypeError(f"LoopEvent has no field {min(unknown)!r}")
        self._fill(**(blank | fields | {"kind": kind}))


_KINDS = {Action.WARN: EventKind.WARNING, Action.BLOCK: EventKind.BLOCK, Action.ABORT: EventKind.ABORT}


def verdict_event(verdict: Verdict, tool: object, **ids: str | None) -> LoopEvent | None:
    """
    Return the event of a verdict, or `None` if there is nothing to report.

    Args:
        verdict: The verdict.
        tool: Name of the tool, as the model wrote it.
        ids: `run_id`, `session_id`, `agent_id` and `call_id`, normalised.
    """
    finding = verdict.finding
    due = verdict.due
    if finding is None or due is Action.ALLOW:
        return None
    return LoopEvent(
        _KINDS[due],
        **ids,
        tool=printable_name(tool),
        detector=finding.detector,
        code=finding.code,
        level=finding.level,
        action=due,
        observed=verdict.observed is not None,
        count=finding.count,
        threshold=finding.threshold,
        fingerprints=tuple(signature.hex() for signature in finding.signatures),
        reason=verdict.reason,
    )


def crash_event(part: str, crash: Exception) -> LoopEvent:
    """
    Return the event of a crash of a part of the guard (SPEC 9).

    Args:
        part: What crashed, such as a detector's id.
        crash: The exception.
    """
    place = crash.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place else ""
    cause = f"{type(crash).__name__}{where}"
    return LoopEvent(EventKind.CRASH, code=part, reason=f"{part} crashed with {cause}; the call passed", cause=cause)


def armed_event(size: int, session_id: str | None, agent_id: str | None) -> LoopEvent:
    """
    Return the event of a post-compaction guard that was armed.

    Args:
        size: The number of calls that it watches.
        session_id: Its session.
        agent_id: Its agent.
    """
    reason = f"post-compaction guard armed for {size} attempts"
    return LoopEvent(EventKind.ARMED, session_id=session_id, agent_id=agent_id, threshold=size, reason=reason)
