"""What the guard tells about its work: the record of a run, and the events for listeners (SPEC 8)."""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.events import Action, Level

__all__ = ["LoopEvent", "RunRecord"]


class RunRecord(Value):
    """
    What became of one run (SPEC 8).

    Attributes:
        run_id: Id of the run; `None` where the host gives none.
        session_id: Id of the session.
        agent_id: Id of the agent.
        calls: Calls that the model asked for.
        warnings: Warnings that were told.
        blocks: Calls that were not run, after the run's end too.
        code: Why the run was ended, such as `global_circuit_breaker`; `None` while it is not.
        detector: Id of the detector that ended it.
        tool: Name of the tool whose call ended it.
        count: How often the pattern was seen.
        threshold: The limit that it had reached.
        reason: The sentence for people.
        ended_at_call: Number of the call that ended it, counted from 1.
        ended_at: Time of the end in seconds since the epoch, where the guard was given a clock.
        signatures: The calls that are blocked, or that the run was ended for, as hexadecimal signatures.
        allowed_by: Who said at last that the run goes on; what ended it is not in the record any more.
        allowed_at: When, in seconds since the epoch.
    """

    __slots__ = (
        "agent_id",
        "allowed_at",
        "allowed_by",
        "blocks",
        "calls",
        "code",
        "count",
        "detector",
        "ended_at",
        "ended_at_call",
        "reason",
        "run_id",
        "session_id",
        "signatures",
        "threshold",
        "tool",
        "warnings",
    )

    run_id: str | None
    session_id: str | None
    agent_id: str | None
    calls: int
    warnings: int
    blocks: int
    code: str | None
    detector: str | None
    tool: str | None
    count: int | None
    threshold: int | None
    reason: str | None
    ended_at_call: int | None
    ended_at: float | None
    signatures: tuple[str, ...]
    allowed_by: str | None
    allowed_at: float | None

    def __init__(self, **fields: Any) -> None:
        self._fill(**(dict.fromkeys(self.__slots__) | {"signatures": ()} | fields))

    @property
    def ended(self) -> bool:
        """Whether the guard ended the run."""
        return self.code is not None

    def as_dict(self) -> dict[str, Any]:
        """Give the record as plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


class LoopEvent(Value):
    """
    Something that the guard did, for listeners: ids, counts and fingerprints, never arguments or results (SPEC 8).

    Attributes:
        kind: `warning`, `block`, `abort`, `armed` or `crash`.
        code: The finding's code; of a crash, the name of the part that crashed.
        reason: The sentence for people.
        action: What was done, or in the mode `observe` would have been.
        observed: Whether it only would have been done: the mode is `observe`.
        fingerprints: The signatures of the pattern, in hexadecimal.
        cause: Of a crash: the exception's type and the place, never its text.
    """

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

    kind: str
    run_id: str | None
    session_id: str | None
    agent_id: str | None
    call_id: str | None
    tool: str | None
    detector: str | None
    code: str | None
    level: Level | None
    action: Action | None
    count: int | None
    threshold: int | None
    fingerprints: tuple[str, ...]
    reason: str
    cause: str | None
    observed: bool

    def __init__(self, kind: str, **fields: Any) -> None:
        blank = dict.fromkeys(self.__slots__) | {"fingerprints": (), "reason": "", "observed": False}
        unknown = fields.keys() - blank.keys()
        if unknown:
            raise TypeError(f"LoopEvent has no field {min(unknown)!r}")
        self._fill(**(blank | fields | {"kind": kind}))
