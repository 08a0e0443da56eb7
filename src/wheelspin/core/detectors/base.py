"""
The contract of a detector: a pure question about the history of one run, and all that is known about one kind of loop.

Three rules hold here:

1. A detector keeps no state. It is asked before a call runs and sees that call and the records before it.
2. A detector says what it found. How often it is reported, and what follows from it, is decided by the escalation.
3. Everything that is derived from a detector (its configuration, schema, texts, documentation page, and what a scan may
   skip) is derived from its class. Nothing else in the package names it.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from wheelspin.core.events import Finding, Level
from wheelspin.core.outcome_status import OutcomeStatus
from wheelspin.core.thresholds import Thresholds, overridden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History

__all__ = ["Detector", "Evidence", "Finding", "Level", "Needs", "Rank", "Scope"]


class Scope(Enum):
    """What a pattern is about: findings of one detector about the same thing are one pattern."""

    CALL = "call"
    """The calls whose signatures the finding holds."""
    FAILURE = "failure"
    """A way of failing, whatever the call; the finding's only signature is the digest of the failure."""
    TOOL = "tool"
    """All calls of one tool."""
    MISSING_TOOL = "missing tool"
    """Names that are not tools. A call that is blocked for it counts as one more miss."""
    RUN = "run"
    """The whole run."""


class Rank(IntEnum):
    """Which finding counts when several detectors have one. A critical finding always comes before a warning."""

    FIRST = 0
    """Asked before it is looked up whether the call is blocked already (SPEC 6, rules 1 and 2)."""
    OUTCOMES = 1
    """Documented detection that compares outcomes."""
    CALLS = 2
    """Documented detection that counts calls, whatever their outcomes."""
    SUPPLEMENTARY = 3
    """Detection beyond the documented one: its warnings give way to those of all others."""


class Evidence(Enum):
    """What a detector needs to see before it can find anything about a call."""

    EQUAL_CALLS = "equal calls"
    """Calls in the history that are equal to the call at hand."""
    EQUAL_FAILURES = "equal failures"
    """The same, and their outcomes were no successes."""
    STANDING_FAILURES = "standing failures"
    """Outcomes that were no successes, of tools that have not worked since."""
    REPEATED_CALLS = "repeated calls"
    """The call at hand was made before, and so were all calls of this many messages before it."""
    EQUAL_RESULTS = "equal results"
    """Newest results in a row that are equal and of the tool of the call at hand."""


class Needs:
    """
    The least that a detector needs to see before it can find anything.

    Attributes:
        evidence: What it needs to see.
        count: How many of it.
        calls: Number of earlier calls in the run without which it finds nothing.
    """

    __slots__ = ("calls", "count", "evidence")

    def __init__(self, evidence: Evidence, count: int, calls: int | None = None) -> None:
        self.evidence = evidence
        self.count = max(1, count)
        self.calls = self.count if calls is None else calls


class Detector:
    """
    One kind of loop. A detector is one file: the class, with its documentation page as its docstring.

    The first line of the docstring describes the loop in the configuration's schema and in the documentation. The
    texts may contain `{tool}`, the tool's name, and `{count}`.

    Attributes:
        id: Its name in kebab case, which is also the file's name; in a configuration the same in camel case.
        can_switch: Whether a configuration can switch it off and give it thresholds of its own.
        follows: Id of the detector by whose switch it goes, unless it is switched itself.
        default_thresholds: Its warning and critical threshold by preset; without them the shared ones hold.
        threshold_setting: Name of the setting that is its only threshold, if it cannot be switched.
        scope: What its patterns are about.
        rank: Which of several findings counts.
        ends_run: Whether a count that reaches `globalCircuitBreakerThreshold` ends the run, although calls that are not
            blocked came in between.
        stays_blocked: Whether what it blocks stays blocked for as long as the blocked call is in the history. Otherwise
            each call is judged anew, and may run as soon as something new has happened.
        ends_on_change: Whether a pattern has ended when one of its calls has another outcome than before. Otherwise it
            is warned about again only after every further `threshold` findings.
        observation: What was seen, as a clause: "`{tool}` was called {count} times with the same arguments".
        no_progress: What is added if outcomes were compared: " and returned the same result each time".
        alternatives: What the model could do instead; a second advice in a run takes the second one, and so on.
        alternatives_by_status: The same, if the finding has an outcome status that is named here.

    Raises:
        TypeError: A subclass has no `id` in kebab case, no `observation`, no `alternatives`, or no docstring.
    """

    __slots__ = ()

    id: ClassVar[str] = ""
    name: ClassVar[str] = ""
    """Its id in snake case, as settings in Python and machine-readable codes have it; made of the id."""
    can_switch: ClassVar[bool] = True
    follows: ClassVar[str] = ""
    default_thresholds: ClassVar[Mapping[str, Thresholds]] = {}
    threshold_setting: ClassVar[str] = ""
    scope: ClassVar[Scope] = Scope.CALL
    rank: ClassVar[Rank] = Rank.SUPPLEMENTARY
    ends_run: ClassVar[bool] = False
    stays_blocked: ClassVar[bool] = False
    ends_on_change: ClassVar[bool] = False
    observation: ClassVar[str] = ""
    no_progress: ClassVar[str] = ""
    alternatives: ClassVar[tuple[str, ...]] = ()
    alternatives_by_status: ClassVar[Mapping[OutcomeStatus, tuple[str, ...]]] = {
        OutcomeStatus.OUTAGE: (
            "This is an outage of a service, not your mistake: leave it alone for a few minutes and do other work.",
            "The service is still down: report that, and what remains to be done once it is back.",
        ),
        OutcomeStatus.REFUSAL: (
            "It was refused on purpose: ask what would be acceptable instead of asking again.",
            "Do without it, or stop and say what you need permission for.",
        ),
        OutcomeStatus.WAIT: (
            "It is not done yet: wait considerably longer before you check again, or do something else meanwhile.",
            "Check whether the job is still running at all, or report that it is not done.",
        ),
    }

    def __init_subclass__(cls) -> None:
        """Refuse a class that cannot be configured, described or reported."""
        super().__init_subclass__()
        missing = [
            what
            for what, is_there in (
                ("an `id` in kebab case, such as 'my-loop'", _is_kebab(cls.id)),
                ("an `observation`, such as '`{tool}` was called {count} times'", cls.observation),
                ("`alternatives`: at least one thing that the model could do instead", cls.alternatives),
                ("a docstring whose first line says what the loop is", (cls.__doc__ or "").strip()),
            )
            if not is_there
        ]
        if missing:
            raise TypeError(f"the detector `{cls.__module__}.{cls.__qualname__}` needs {'; and '.join(missing)}")
        cls.name = cls.id.replace("-", "_")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @property
    def summary(self) -> str:
        """The loop in one line: the first line of the docstring."""
        return (self.__doc__ or "").strip().partition("\n")[0]

    @property
    def is_documented(self) -> bool:
        """Whether it is one of the detectors that OpenClaw documented, which the shared thresholds are made for."""
        return self.rank in (Rank.OUTCOMES, Rank.CALLS)

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """
        Return what there is to say about the call at hand.

        Args:
            call: The call at hand, which is not yet in the history.
            history: The records of the same run before it.
            settings: The agent's settings.

        Returns:
            One finding, the worst, or `None`.
        """
        raise NotImplementedError

    def needs(self, settings: DetectorSettings) -> Needs | None:  # noqa: ARG002 - a contract names what its members are given
        """
        Return the least that it needs to see before it can find anything.

        A scan skips what cannot lead to a finding, and so does the guard for a call that nothing in the history
        concerns. `tests/replay` checks that no verdict is lost.

        Args:
            settings: The agent's settings.

        Returns:
            What it needs; `None` if it has to be asked about every call.
        """
        return None

    def is_over(self, about: tuple[bytes, ...], record: CallRecord, history: History, *, changed: bool) -> bool:  # noqa: ARG002
        """
        Return whether a pattern that was warned about has ended, so that the next warning is about a new one.

        Args:
            about: What the pattern is about: signatures, the digest of a failure, the tool's name, or nothing.
            record: A call that has just got its outcome.
            history: The records of the run, with this one.
            changed: Whether an earlier outcome of the call was different.
        """
        return self.ends_on_change and changed and record.signature in about

    def thresholds(self, call: CallRecord, settings: DetectorSettings) -> Thresholds:
        """Return the warning and the critical threshold for a call, whose tool may have its own (SPEC 6.3)."""
        shared = settings.thresholds_of(self)
        return shared if call.thresholds is None else overridden(shared, call.thresholds)

    def lowest_warning(self, settings: DetectorSettings) -> int:
        """Return the lowest warning threshold that can hold for a call: its own, or that of a tool."""
        return min(settings.thresholds_of(self)[0], settings.lowest_hint)

    def about(self, finding: Finding, tool: str) -> tuple[bytes, ...]:
        """Return what the pattern of a finding is about, which is equal for all findings of one pattern."""
        match self.scope:
            case Scope.CALL | Scope.FAILURE:
                return tuple(sorted(finding.signatures))
            case Scope.TOOL:
                return (tool.encode("utf-8", "surrogatepass"),)
            case Scope.MISSING_TOOL | Scope.RUN:
                return ()

    def graded(
        self,
        count: int,
        thresholds: Thresholds,
        *signatures: bytes,
        status: OutcomeStatus | None = None,
        may_block: bool = True,
    ) -> Finding | None:
        """
        Return a critical finding, a warning or `None`, by a count of calls without progress.

        Args:
            count: How many times it was seen.
            thresholds: The warning and the critical threshold.
            signatures: The calls that make the pattern.
            status: The status of their outcomes.
            may_block: Whether it may be blocked now.
        """
        warning, critical = thresholds
        if count >= critical and may_block:
            return self.found(Level.CRITICAL, count, critical, *signatures, status=status)
        return self.found(Level.WARNING, count, warning, *signatures, status=status) if count >= warning else None

    def found(
        self,
        level: Level,
        count: int,
        threshold: int,
        *signatures: bytes,
        no_progress: bool = True,
        status: OutcomeStatus | None = None,
    ) -> Finding:
        """Return a finding of this detector."""
        return Finding(self.id, level, count, threshold, signatures, no_progress=no_progress, status=status)

    def describe(self, finding: Finding, tool: str) -> str:
        """
        Return what was seen, as a clause.

        Args:
            finding: A finding of this detector, or one of the circuit breaker that this detector's count tripped.
            tool: Name of the tool, as it can be printed.
        """
        return self.observation.format(tool=tool, count=finding.count) + self.no_progress * finding.no_progress

    def suggest(self, finding: Finding, given: int) -> str:
        """
        Return what the model could do instead.

        Args:
            finding: A finding of this detector.
            given: Number of pieces of advice that the run has had.
        """
        texts = self.alternatives
        if finding.status is not None:
            texts = self.alternatives_by_status.get(finding.status, texts)
        return texts[given % len(texts)]


def _is_kebab(name: str) -> bool:
    words = name.split("-")
    return all(word.isascii() and word.isalnum() and word == word.lower() for word in words)
