"""The record of a run: what the guard reports of it (SPEC 8)."""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


__all__ = ["RunRecord"]


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
