"""
What goes into the guard and what comes out of it: calls, outcomes, verdicts, events.

Plain slotted values with no import that costs a hook process its start-up time (no `dataclasses`, no
`typing` at run time). They are not to be changed once made: a `ToolCall` and an `Outcome` are read once and
never kept, everything that the guard hands out refuses to be changed.
"""

from __future__ import annotations

from enum import StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final, NoReturn


class Action(StrEnum):
    """
    What the host does with a call: `ALLOW` < `WARN` < `BLOCK` < `ABORT` (SPEC 6.1).

    The values are words (`Action.WARN == "warn"`), the order is that of the ladder.

    Example:
        >>> Action.WARN < Action.BLOCK, str(Action.ABORT)
        (True, 'abort')
    """

    ALLOW = "allow"
    WARN = "warn"
    BLOCK = "block"
    ABORT = "abort"

    def __lt__(self, other: str) -> bool:
        return _RUNGS[self] < _RUNGS[Action(other)]

    def __le__(self, other: str) -> bool:
        return _RUNGS[self] <= _RUNGS[Action(other)]

    def __gt__(self, other: str) -> bool:
        return _RUNGS[self] > _RUNGS[Action(other)]

    def __ge__(self, other: str) -> bool:
        return _RUNGS[self] >= _RUNGS[Action(other)]


_RUNGS = {action: rung for rung, action in enumerate(Action)}


class Level(StrEnum):
    """How bad a finding is: a `WARNING` is told, a `CRITICAL` one stops the call (SPEC 1)."""

    WARNING = "warning"
    CRITICAL = "critical"


class _Content:
    """A slotted value that is equal to another of its kind with the same content."""

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
    """A slotted value that is closed to change once it is made."""

    __slots__: tuple[str, ...] = ()

    def _fill(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is not to be changed: `{name}` was to be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is not to be changed: `{name}` was to be deleted")

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
    One request of the model to run one tool (SPEC 1).

    Every id is optional. The guard reads the call and keeps none of its arguments.

    Attributes:
        tool: The tool's name as the model wrote it.
        arguments: The decoded arguments, as a rule a mapping; any Python value will do.
        id: The provider's id of this call. With it an outcome finds its call.
        turn_id: Id of the message of the model that asked for this call.
        run_id: Id of the task from the user's prompt to the final answer. Counts never cross runs.
        session_id: Id of the conversation.
        agent_id: Id of the agent.

    Example:
        >>> ToolCall("read", {"path": "/a"}, id="c1", run_id="r1").tool
        'read'
    """

    __slots__ = ("agent_id", "arguments", "id", "run_id", "session_id", "signed", "tool", "turn_id")

    signed: tuple[object, tuple[Any, bytes]] | None
    """What the guard works out of the call once: nothing of it is kept elsewhere."""

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
        """Name the call by its ids; its arguments can hold secrets and stay out."""
        ids = [f"{name}={getattr(self, name)!r}" for name in _CALL_IDS if getattr(self, name) is not None]
        return f"ToolCall({', '.join([repr(self.tool), *ids])})"


_CALL_IDS = ("id", "turn_id", "run_id", "session_id", "agent_id")


class Outcome(_Content):
    """
    What came back from a call: a result, an error, an unknown tool, a denial, our own veto (SPEC 1).

    Made by one of its named constructors. The guard takes a fingerprint and keeps nothing else.

    Attributes:
        kind: `result`, `shell`, `error`, `unknown_tool`, `denied`, `veto` or `missing`.
        value: The result, or the text of the error.
        error_kind: What sort of error it was, as the host calls it.
    """

    __slots__ = ("error_kind", "kind", "value")

    def __init__(self, kind: str, value: object = None, error_kind: str = "") -> None:
        self.kind: Final = kind
        self.value: Final = value
        self.error_kind: Final = error_kind

    @classmethod
    def result(cls, value: object) -> Outcome:
        """The tool ran and gave `value`; any Python value will do."""
        return cls("result", value)

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
            exit_code: The command's exit code, where the host tells it.
            timed_out: Whether the host stopped the command for its time limit.
        """
        details = {"status": status, "exitCode": exit_code, "timedOut": timed_out, "aggregated": output}
        return cls("shell", details)

    @classmethod
    def error(cls, error: object, kind: str = "") -> Outcome:
        """
        The call failed.

        Args:
            error: The text of the error, or the exception itself: its type becomes the kind, its stack does not count.
            kind: What sort of error it was, as the host calls it.
        """
        if isinstance(error, BaseException):
            return cls("error", _message(error), kind or type(error).__name__)
        return cls("error", error, kind)

    @classmethod
    def unknown_tool(cls, text: object = "") -> Outcome:
        """The host has no tool of that name (SPEC 4.3); `text` is what it told the model."""
        return cls("unknown_tool", text)

    @classmethod
    def denied(cls, text: object = "") -> Outcome:
        """Somebody else refused the call: a user, a policy, another guard."""
        return cls("denied", text)

    @classmethod
    def veto(cls) -> Outcome:
        """The guard itself blocked the call. It knows that already, so reporting it changes nothing."""
        return cls("veto")

    @classmethod
    def missing(cls) -> Outcome:
        """The host never learned what came back: the call stays open, and is never evidence for a block."""
        return cls("missing")

    def __repr__(self) -> str:
        """Name the kind; a result can hold secrets and stays out."""
        return f"Outcome({self.kind!r})"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


class Finding(Value):
    """What one detector saw (SPEC 1)."""

    __slots__ = ("cause", "count", "detector", "level", "nature", "no_progress", "signatures", "threshold")

    detector: str
    """Id of the detector, in kebab case."""
    level: Level
    """Whether it is told or stops the call."""
    count: int
    """How often the pattern was seen."""
    threshold: int
    """The limit that the count has reached."""
    signatures: tuple[bytes, ...]
    """Fingerprints of the calls that make the pattern: one, the two sides of a ping-pong, none for a row of vetoes."""
    no_progress: bool
    """Whether the outcomes were compared and found equal; `False` where only the calls were counted."""
    cause: str
    """Of the breaker: id of the detector whose count tripped it; empty where that was its own."""
    nature: str
    """What the outcomes say of themselves, where that matters: `failure`, `outage`, `refusal` or `waiting`."""

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
        nature: str = "",
    ) -> None:
        self._fill(
            detector=detector,
            level=level,
            count=count,
            threshold=threshold,
            signatures=signatures,
            no_progress=no_progress,
            cause=cause,
            nature=nature,
        )

    @property
    def code(self) -> str:
        """The detector's id in snake case, as event, log and record name it (SPEC 6 and 8)."""
        return _CODES.get(self.detector) or self.detector.replace("-", "_")

    @property
    def pattern(self) -> tuple[str, tuple[bytes, ...]]:
        """What is the same in all findings of one pattern, whichever side of it is at hand."""
        return self.detector, tuple(sorted(self.signatures))


_CODES = {"post-compaction-guard": "compaction_loop_persisted"}


class Verdict(Value):
    """The guard's answer to one event (SPEC 6.1)."""

    __slots__ = ("action", "advice", "finding", "observed", "reason")

    action: Action
    """What to do: `ALLOW` < `WARN` < `BLOCK` < `ABORT`."""
    finding: Finding | None
    """What was seen. It can be there although the action is `ALLOW`: a warning is not said at every call."""
    reason: str
    """For people and logs; empty where nothing was found."""
    advice: str
    """For the model: add it to the call's result (warn) or answer the call with it (block, abort)."""
    observed: Action | None
    """In the mode `observe`: what would have been done, where that is not nothing; the action is `ALLOW` then."""

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
        """What is to be done, or in the mode `observe` would have been."""
        return self.action if self.observed is None else self.observed

    @property
    def code(self) -> str | None:
        """The finding's machine-readable code, such as `generic_repeat`."""
        return self.finding.code if self.finding else None


ALLOW = Verdict(Action.ALLOW)
"""The verdict on a call with which nothing is wrong: one shared object."""
