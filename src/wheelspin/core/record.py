"""What the guard reports about its work: the record of a run, and the events for listeners (SPEC 8)."""

from __future__ import annotations

from enum import StrEnum

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.events import Action, Level

__all__ = ["EventKind", "LoopEvent", "RunRecord"]


class RunRecord(Value):
    """What became of one run (SPEC 8)."""

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
    """Id of the run; `None` if the host gives none."""
    session_id: str | None
    """Id of the session."""
    agent_id: str | None
    """Id of the agent, trimmed and in lower case."""
    calls: int
    """Number of calls that the model requested."""
    warnings: int
    """Number of warnings given."""
    blocks: int
    """Number of calls that were not run, also after the run's end."""
    code: str | None
    """Why the run was ended, such as `global_circuit_breaker`; `None` if it was not."""
    detector: str | None
    """Id of the detector that ended it."""
    tool: str | None
    """Name of the tool whose call ended it."""
    count: int | None
    """How many times the pattern was seen."""
    threshold: int | None
    """The threshold that the count reached."""
    reason: str | None
    """The sentence for people."""
    ended_at_call: int | None
    """Number of the call that ended it, from 1."""
    ended_at: float | None
    """Time of the end in seconds since the epoch, if the guard has a clock."""
    signatures: tuple[str, ...]
    """The calls that are blocked, or that the run was ended for, as hexadecimal signatures."""
    allowed_by: str | None
    """Who last allowed the run to go on. What had ended it is no longer in the record."""
    allowed_at: float | None
    """When, in seconds since the epoch."""

    def __init__(self, **fields: Any) -> None:
        self._fill(**(dict.fromkeys(self.__slots__) | {"signatures": ()} | fields))

    @property
    def ended(self) -> bool:
        """Whether the guard ended the run."""
        return self.code is not None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


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
