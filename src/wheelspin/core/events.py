"""
What goes into the guard and what comes out of it: calls and outcomes, findings and verdicts.

Two rules hold here:

1. A `ToolCall` and an `Outcome` are read once and never kept. Everything that the guard hands out is immutable.
2. Nothing is imported that slows down the start of a hook process (no `dataclasses`, no `typing` at run time).
"""

from __future__ import annotations

from enum import StrEnum

from wheelspin.core.outcome_status import OutcomeStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final, NoReturn


class Action(StrEnum):
    """
    What the host does with a call: `ALLOW` < `WARN` < `BLOCK` < `ABORT` (SPEC 6.1).

    Members compare by severity, and equal their names in lower case (`Action.WARN == "warn"`).

    Example:
        >>> Action.WARN < Action.BLOCK, str(Action.ABORT)
        (True, 'abort')
    """

    ALLOW = "allow"
    WARN = "warn"
    BLOCK = "block"
    ABORT = "abort"

    def __lt__(self, other: str) -> bool:
        return _SEVERITY[self] < _SEVERITY[Action(other)]

    def __le__(self, other: str) -> bool:
        return _SEVERITY[self] <= _SEVERITY[Action(other)]

    def __gt__(self, other: str) -> bool:
        return _SEVERITY[self] > _SEVERITY[Action(other)]

    def __ge__(self, other: str) -> bool:
        return _SEVERITY[self] >= _SEVERITY[Action(other)]


_SEVERITY = {action: severity for severity, action in enumerate(Action)}


class Level(StrEnum):
    """How serious a finding is: a `WARNING` is reported to the model, a `CRITICAL` finding stops the call (SPEC 1)."""

    WARNING = "warning"
    CRITICAL = "critical"


class _Content:
    """A slotted value that equals another of its type with the same content."""

    __slots__: tuple[str, ...] = ()

    def _content(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self), self._content()))


class Value(_Content):
    """A slotted value that is immutable once it is made."""

    __slots__: tuple[str, ...] = ()

    def _fill(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: `{name}` cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: `{name}` cannot be deleted")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), self._content())


def _rebuilt(kind: type[Value], content: Iterable[object]) -> Value:
    value = object.__new__(kind)
    value._fill(**dict(zip(kind.__slots__, content, strict=True)))
    return value


class ToolCall(_Content):
    """
    A request of the model to run one tool (SPEC 1).

    Every id is optional. The guard reads the call and keeps none of its arguments.

    Attributes:
        tool: The tool's name as the model wrote it.
        arguments: The decoded arguments, usually a mapping; any Python value is accepted.
        id: The provider's id of this call, by which an outcome finds its call.
        turn_id: Id of the model's message that requested this call.
        run_id: Id of the task, from the user's prompt to the final answer. Counts never cross runs.
        session_id: Id of the conversation.
        agent_id: Id of the agent.

    Example:
        >>> ToolCall("read", {"path": "/a"}, id="c1", run_id="r1").tool
        'read'
    """

    __slots__ = ("agent_id", "arguments", "id", "run_id", "session_id", "signed", "tool", "turn_id")

    signed: tuple[object, tuple[Any, bytes]] | None
    """The tool and the signature, which are computed once for each call (`ToolTable.signed`)."""

    def __init__(
        self,
        tool: str,
        arguments: object = None,
        *,
        id: str | None = None,  # noqa: A002 - the field's own word for it
        turn_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> None:
        self.tool: Final[str] = tool
        self.arguments: Final = arguments
        self.id: Final = id
        self.turn_id: Final = turn_id
        self.run_id: Final = run_id
        self.session_id: Final = session_id
        self.agent_id: Final = agent_id
        self.signed = None

    def _content(self) -> tuple[object, ...]:
        return self.tool, self.arguments, *(getattr(self, name) for name in _CALL_IDS)

    def __repr__(self) -> str:
        """Show the ids, but not the arguments, which can hold secrets."""
        ids = [f"{name}={getattr(self, name)!r}" for name in _CALL_IDS if getattr(self, name) is not None]
        return f"ToolCall({', '.join([repr(self.tool), *ids])})"


_CALL_IDS = ("id", "turn_id", "run_id", "session_id", "agent_id")


class OutcomeKind(StrEnum):
    """Where an outcome came from (SPEC 1)."""

    RESULT = "result"
    """The tool returned a value."""
    SHELL = "shell"
    """A shell command ran."""
    ERROR = "error"
    """The call failed."""
    UNKNOWN_TOOL = "unknown_tool"
    """There is no tool of that name."""
    DENIED = "denied"
    """A user, a policy or another guard refused the call."""
    VETO = "veto"
    """This guard blocked the call."""
    MISSING = "missing"
    """The host never learned what came back."""


RESULT: Final = OutcomeKind.RESULT
SHELL: Final = OutcomeKind.SHELL
ERROR: Final = OutcomeKind.ERROR
UNKNOWN_TOOL: Final = OutcomeKind.UNKNOWN_TOOL
DENIED: Final = OutcomeKind.DENIED
VETO: Final = OutcomeKind.VETO
MISSING: Final = OutcomeKind.MISSING


class Outcome(_Content):
    """
    What came back from a call: a result, an error, an unknown tool, a refusal, or a block by the guard (SPEC 1).

    Use one of the named constructors. The guard takes a fingerprint and keeps nothing else.

    Attributes:
        kind: Where it came from.
        value: The result, or the text of the error.
        error_kind: The type of the error, in the host's words.
    """

    __slots__ = ("error_kind", "kind", "value")

    def __init__(self, kind: OutcomeKind, value: object = None, error_kind: str = "") -> None:
        self.kind: Final[OutcomeKind] = kind
        self.value: Final = value
        self.error_kind: Final = error_kind

    @classmethod
    def result(cls, value: object) -> Outcome:
        """The tool ran and returned `value`, which may be any Python value."""
        return cls(RESULT, value)

    @classmethod
    def shell(
        cls,
        output: object,
        *,
        status: str = "completed",
        exit_code: int | None = None,
        timed_out: bool = False,
    ) -> Outcome:
        """
        A shell command ran, whatever the host calls its shell tool (SPEC 4.2, rule 3).

        Args:
            output: What the command printed.
            status: `running`, `completed` or `failed`.
            exit_code: The command's exit code, if the host reports it.
            timed_out: Whether the host stopped the command because it took too long.
        """
        details = {"status": status, "exitCode": exit_code, "timedOut": timed_out, "aggregated": output}
        return cls(SHELL, details)

    @classmethod
    def error(cls, error: object, kind: str = "") -> Outcome:
        """
        The call failed.

        Args:
            error: The text of the error, or the exception itself. The exception's type becomes the kind; its stack is
                ignored.
            kind: The type of the error, in the host's words.
        """
        if isinstance(error, BaseException):
            return cls(ERROR, _message(error), kind or type(error).__name__)
        return cls(ERROR, error, kind)

    @classmethod
    def unknown_tool(cls, text: object = "") -> Outcome:
        """The host has no tool of that name (SPEC 4.3); `text` is what it answered the model."""
        return cls(UNKNOWN_TOOL, text)

    @classmethod
    def denied(cls, text: object = "") -> Outcome:
        """Somebody else refused the call: a user, a policy, another guard."""
        return cls(DENIED, text)

    @classmethod
    def veto(cls) -> Outcome:
        """The guard itself blocked the call. It knows that already, so reporting it changes nothing."""
        return cls(VETO)

    @classmethod
    def missing(cls) -> Outcome:
        """The host never learned what came back. The call stays open and is never evidence for a block."""
        return cls(MISSING)

    def __repr__(self) -> str:
        """Show the kind, but not the value, which can hold secrets."""
        return f"Outcome({str(self.kind)!r})"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


class Finding(Value):
    """What one detector saw (SPEC 1)."""

    __slots__ = ("cause", "count", "detector", "level", "no_progress", "signatures", "status", "threshold")

    detector: str
    """Id of the detector, in kebab case."""
    level: Level
    """Whether it is reported to the model or stops the call."""
    count: int
    """How many times the pattern was seen."""
    threshold: int
    """The threshold that the count reached."""
    signatures: tuple[bytes, ...]
    """Fingerprints of the calls in the pattern: one, the two of a ping-pong, or none for a row of blocked calls."""
    no_progress: bool
    """Whether outcomes were compared and found equal; `False` if only calls were counted."""
    cause: str
    """For the circuit breaker: id of the detector whose count tripped it; empty if it was its own."""
    status: OutcomeStatus | None
    """The status of the outcomes, where the detector looks at it."""

    def __init__(
        self,
        detector: str,
        level: Level,
        count: int,
        threshold: int,
        signatures: tuple[bytes, ...],
        *,
        no_progress: bool = True,
        cause: str = "",
        status: OutcomeStatus | None = None,
    ) -> None:
        self._fill(
            detector=detector,
            level=level,
            count=count,
            threshold=threshold,
            signatures=signatures,
            no_progress=no_progress,
            cause=cause,
            status=status,
        )

    @property
    def code(self) -> str:
        """The detector's id in snake case, as used in events, logs and records (SPEC 6 and 8)."""
        return _CODES.get(self.detector) or self.detector.replace("-", "_")

    @property
    def pattern(self) -> tuple[str, tuple[bytes, ...]]:
        """The detector and the sorted signatures: equal for all findings of one pattern."""
        return self.detector, tuple(sorted(self.signatures))


_CODES = {"post-compaction-guard": "compaction_loop_persisted"}


class Verdict(Value):
    """The guard's answer to one event (SPEC 6.1)."""

    __slots__ = ("action", "advice", "finding", "observed", "reason")

    action: Action
    """What to do: `ALLOW` < `WARN` < `BLOCK` < `ABORT`."""
    finding: Finding | None
    """What was found. It can be set although the action is `ALLOW`, since a warning is not repeated at every call."""
    reason: str
    """For people and logs; empty if nothing was found."""
    advice: str
    """For the model: add it to the call's result (warn), or answer the call with it (block, abort)."""
    observed: Action | None
    """In `observe` mode: the action that would have been taken; the `action` itself is `ALLOW`."""

    def __init__(
        self,
        action: Action,
        finding: Finding | None = None,
        *,
        reason: str = "",
        advice: str = "",
        observed: Action | None = None,
    ) -> None:
        self._fill(action=action, finding=finding, reason=reason, advice=advice, observed=observed)

    @property
    def stops(self) -> bool:
        """Whether the call must not run."""
        return self.action is Action.BLOCK or self.action is Action.ABORT

    @property
    def due(self) -> Action:
        """The action to take, or the one that `observe` mode would have taken."""
        return self.action if self.observed is None else self.observed

    @property
    def code(self) -> str | None:
        """The finding's machine-readable code, such as `generic_repeat`."""
        return self.finding.code if self.finding else None


ALLOW = Verdict(Action.ALLOW)
"""The verdict when nothing was found: one shared object."""
