"""
The post-compaction guard: the loop that survives a compaction ends the run (SPEC 7).

After a compaction it looks at the outcomes of the next few calls. If they are all the same call with the same
outcome, the compaction did not break the loop, and what comes next would fill the context again.
"""

from __future__ import annotations

from wheelspin.core.events import Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step

__all__ = ["DETECTOR", "CompactionWindow"]

DETECTOR = "post-compaction-guard"


class CompactionWindow:
    """
    The window of one session, which outlives its runs.

    Attributes:
        compactions: How many compactions have armed it so far.
        size: Calls that the open window is for.
        left: Calls that it still waits for; 0 while it is not armed.
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

    def observe(self, step: Step) -> Finding | None:
        """
        Look at the outcome of a call.

        Returns:
            A finding where this was the last call of the window and all of them were equal. One different call, or one
            whose outcome cannot be compared, closes the window.
        """
        if not self.left or step.compactions != self.compactions:
            return None
        first = self.left == self.size
        same = first or (step.signature == self.signature and step.outcome == self.outcome)
        if step.outcome is None or not same:
            self.left = 0
            return None
        self.signature, self.outcome = step.signature, step.outcome
        self.left -= 1
        if self.left:
            return None
        return Finding(DETECTOR, Level.CRITICAL, self.size, self.size, (step.signature,))
