"""What the history is made of: a step for each call, and the patterns that vetoes belong to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.repeats import Repeats

__all__ = ["SAME_FAILURE", "UNKNOWN_TOOL", "Pattern", "Step"]

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
    """

    __slots__ = ("born", "count", "detector", "signatures", "threshold")

    def __init__(self, detector: str, threshold: int, signatures: tuple[bytes, ...], count: int, born: int) -> None:
        self.detector = detector
        self.threshold = threshold
        self.signatures = signatures
        self.count = count
        self.born = born


class Step:
    """
    One call in the history (SPEC 1): fingerprints and ids, nothing of its content.

    Attributes:
        tool: Canonical name of the tool.
        signature: Fingerprint of tool and arguments.
        polls: Whether the call only asks for the state of something.
        id: The call's id, or `None`.
        number: Its place in the run, counted from 0; -1 before it is in a history.
        compactions: How many compactions of the session came before the call was asked for.
        kind: `open`, `result`, `shell`, `error`, `unknown_tool`, `denied` or `veto`.
        outcome: Fingerprint of what counts of the outcome; `None` while open, of a veto, and where the outcome
            cannot be compared.
        pattern: The blocked pattern that a veto belongs to.
        repeats: The tally of its signature, while it is shared with other steps.
        nature: What its outcome says of itself: one of the words of `core/nature.py`.
        kin: What it has in common with calls of other signatures: of a failure the way in which it failed, also of a
            call that was blocked for it; of a success the shape of its arguments, which is only looked at where
            successes resemble each other.
        is_stale: Whether this signature had this very outcome before, within the history.
        message: Number of the first step that the same message of the model asked for, its own where the host does not
            tell.
        group: The same, where calls that were asked for before the one before them had an outcome belong together, too.
        limits: Warning and critical threshold that hold for the tool alone, each or `None`.
    """

    __slots__ = (
        "compactions",
        "group",
        "id",
        "is_stale",
        "kin",
        "kind",
        "limits",
        "message",
        "nature",
        "number",
        "outcome",
        "pattern",
        "polls",
        "repeats",
        "signature",
        "tool",
    )

    def __init__(
        self,
        tool: str,
        signature: bytes,
        id: str | None = None,  # noqa: A002 - the field's own word for it
        polls: bool = False,  # noqa: FBT002 - made at every call, and keywords are slow
        compactions: int = 0,
    ) -> None:
        self.tool = tool
        self.signature = signature
        self.polls = polls
        self.id = id
        self.compactions = compactions
        self.number = -1
        self.kind = "open"
        self.outcome: bytes | None = None
        self.pattern: Pattern | None = None
        self.repeats: Repeats | None = None
        self.nature = ""
        self.kin: bytes | None = None
        self.is_stale = False
        self.message = self.group = -1
        self.limits: tuple[int | None, int | None] | None = None

    def is_miss(self) -> bool:
        """Tell whether the tool was not there: the host said so, or the call was blocked for that."""
        return self.kind == "unknown_tool" or (self.pattern is not None and self.pattern.detector == UNKNOWN_TOOL)

    def worked(self) -> bool:
        """Tell whether the tool was there, however the call ended."""
        return self.kind not in {"open", "veto", "unknown_tool"}
