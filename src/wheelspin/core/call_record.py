"""What the history is made of: a step for each call, and the patterns that vetoes belong to."""

from __future__ import annotations

from wheelspin.core.events import Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wheelspin.core.events import Verdict
    from wheelspin.core.tools import Tool

__all__ = ["ALONE", "IN_GROUP", "IN_MESSAGE", "SAME_FAILURE", "UNKNOWN_TOOL", "Pattern", "Step", "bonds"]

ALONE, IN_GROUP, IN_MESSAGE = range(3)
"""How a step belongs to the one before it."""

SAME_FAILURE = "same-failure"
"""Id of the detector whose vetoes are of a tool that keeps failing, whatever the arguments."""

UNKNOWN_TOOL = "unknown-tool-repeat"
"""Id of the detector whose vetoes are misses of a tool, whatever the arguments."""


class Pattern:
    """
    A pattern that has been blocked in this run: one signature, or the two of a ping-pong (SPEC 6, rule 3).

    Attributes:
        detector: Id of the detector that blocked it.
        threshold: The limit that its count had reached.
        signatures: The calls that it blocks; none for an unavailable tool, which is blocked by its name.
        count: Its count, one more with every veto.
        born: How many calls the run had made when it was first blocked. Where two patterns share a signature, the
            older one is named.
        nature: The nature of the failure that it is about, if it is about one.
    """

    __slots__ = ("born", "count", "detector", "nature", "signatures", "threshold")

    def __init__(
        self,
        detector: str,
        threshold: int,
        signatures: tuple[bytes, ...],
        count: int,
        born: int,
        *,
        nature: str = "",
    ) -> None:
        self.detector = detector
        self.threshold = threshold
        self.signatures = signatures
        self.count = count
        self.born = born
        self.nature = nature

    def finding(self, count: int) -> Finding:
        """Give what is found when a call of it is blocked for the `count`th time."""
        return Finding(self.detector, Level.CRITICAL, count, self.threshold, self.signatures)


class Step:
    """
    One call in the history (SPEC 1): fingerprints and ids, nothing of its content.

    Attributes:
        known: What is known of the tool.
        signature: Fingerprint of tool and arguments.
        id: The call's id, or `None`.
        number: Its place in the run, counted from 0; -1 before it is in a history.
        compactions: How many compactions of the session came before the call was asked for.
        kind: `open`, `result`, `shell`, `error`, `unknown_tool`, `denied` or `veto`.
        outcome: Fingerprint of what counts of the outcome; `None` while open, of a veto, and where the outcome
            cannot be compared.
        pattern: The blocked pattern that a veto belongs to.
        nature: What its outcome says of itself: one of the words of `core/nature.py`.
        bonds: Its group and its message, where it belongs to steps before it.
        kin: What it has in common with calls of other signatures: of a failure the way in which it failed, also of a
            call that was blocked for it; of a success the shape of its arguments, which is only looked at where
            successes resemble each other.
        is_stale: Whether this signature had this very outcome before, within the history.
        told: What the guard said to it, while it is open and there was something to say.
    """

    __slots__ = (
        "bonds",
        "compactions",
        "id",
        "is_stale",
        "kin",
        "kind",
        "known",
        "nature",
        "number",
        "outcome",
        "pattern",
        "signature",
        "told",
    )

    def __init__(
        self,
        known: Tool,
        signature: bytes,
        id: str | None = None,  # noqa: A002 - the field's own word for it
        compactions: int = 0,
    ) -> None:
        self.known = known
        self.signature = signature
        self.id = id
        self.compactions = compactions
        self.number = -1
        self.kind = "open"
        self.outcome: bytes | None = None
        self.pattern: Pattern | None = None
        self.nature = ""
        self.kin: bytes | None = None
        self.is_stale = False
        self.bonds: tuple[int, int] | None = None
        self.told: Verdict | None = None

    @property
    def tool(self) -> str:
        """Canonical name of the tool."""
        return self.known.name

    @property
    def polls(self) -> bool:
        """Whether the call only asks for the state of something."""
        return self.known.polls

    @property
    def limits(self) -> tuple[int | None, int | None] | None:
        """Warning and critical threshold that hold for the tool alone, each or `None`."""
        return self.known.limits

    @property
    def group(self) -> int:
        """Number of the first of the steps that were asked for before an outcome of theirs was known, with this one."""
        return self.number if self.bonds is None else self.bonds[0]

    @property
    def message(self) -> int:
        """Number of the first step that the same message of the model asked for, as far as the host tells."""
        return self.number if self.bonds is None else self.bonds[1]

    def bind(self, before: Step, *, in_message: bool) -> None:
        """Let it belong to the step before it: to its group of parallel calls, and to its message or not."""
        self.bonds = before.group, before.message if in_message else self.number

    def is_miss(self) -> bool:
        """Tell whether the tool was not there: the host said so, or the call was blocked for that."""
        return self.kind == "unknown_tool" or (self.pattern is not None and self.pattern.detector == UNKNOWN_TOOL)

    def worked(self) -> bool:
        """Tell whether the tool was there, however the call ended."""
        return self.kind not in {"open", "veto", "unknown_tool"}


def bonds(steps: Iterable[Step]) -> Iterator[int]:
    """Give for each step how it belongs to the one before it: 2 to its message, 1 to its group, 0 not at all."""
    before: Step | None = None
    for step in steps:
        if before is None or before.group != step.group:
            yield ALONE
        else:
            yield IN_MESSAGE if before.message == step.message else IN_GROUP
        before = step
