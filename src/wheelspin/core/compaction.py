"""
The post-compaction guard: a loop that survives a compaction ends the run (SPEC 7).

After a compaction it observes the outcomes of the next few calls. If they are all the same call with the same outcome,
the compaction did not break the loop, and the context would only fill up again.
"""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord

__all__ = ["POST_COMPACTION_GUARD", "CompactionWindow"]


class PostCompactionGuard(Detector):
    """The same call with the same outcome goes on after a compaction of the context."""

    __slots__ = ()

    id = "post-compaction-guard"
    can_switch = False
    observation = "after a compaction, `{tool}` was called {count} times with the same arguments"
    no_progress = " and returned the same result each time"
    alternatives = (
        "Report what you have found so far and what is blocking you.",
        "Stop here: summarise what is done, what is not, and what you need.",
    )


POST_COMPACTION_GUARD = PostCompactionGuard()
"""It has no place in the list of detectors: it observes outcomes, and belongs to a session."""


class CompactionWindow:
    """
    The window of one session, which outlives its runs.

    Attributes:
        compactions: Number of compactions that have armed it so far.
        size: Number of calls that the open window is for.
        left: Number of calls that it still waits for; 0 if it is not armed.
        signature: The call that all outcomes so far were of.
        outcome: The outcome that all of them had.
    """

    __slots__ = ("compactions", "left", "outcome", "signature", "size")

    def __init__(self) -> None:
        self.compactions = 0
        self.size = 0
        self.left = 0
        self.signature: bytes | None = None
        self.outcome: bytes | None = None

    def arm(self, size: int) -> None:
        """Start a fresh window: a compaction succeeded."""
        self.compactions += 1
        self.size = self.left = size
        self.signature = self.outcome = None

    def observe(self, record: CallRecord) -> Finding | None:
        """
        Observe the outcome of a call.

        Returns:
            A finding if this was the last call of the window and all of them were equal. One different call, or one
            whose outcome cannot be compared, closes the window.
        """
        if not self.left or record.compactions != self.compactions:
            return None
        is_first = self.left == self.size
        is_same = is_first or (record.signature == self.signature and record.outcome == self.outcome)
        if record.outcome is None or not is_same:
            self.left = 0
            return None
        self.signature, self.outcome = record.signature, record.outcome
        self.left -= 1
        if self.left:
            return None
        return POST_COMPACTION_GUARD.found(Level.CRITICAL, self.size, self.size, record.signature)
