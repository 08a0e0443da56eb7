"""
Findings in words: the reason is for people and logs, the advice is for the model (SPEC 6.1).

Three rules hold here:

1. Advice says what was seen, that repeating it will not help, and one other thing to do. It begins with
   `OPENING` and is a single line.
2. It names the tool and the count, never the arguments: a model that reads them again is tempted to repeat them.
3. What was seen, and what to do instead, comes from the detector's class.
"""

from __future__ import annotations

from wheelspin.core.compaction import POST_COMPACTION_GUARD
from wheelspin.core.detectors.base import Detector
from wheelspin.core.events import Action, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wheelspin.core.events import Finding

__all__ = ["NOT_RUN", "OPENING", "REMOVED", "Advisor", "printable_name"]

OPENING = "Loop detected: "
"""The beginning of every advice."""
NOT_RUN = "This call was not run"
"""What every advice says that answers a call in place of the tool."""

_LONGEST_NAME = 80
_DONE = {
    Action.ALLOW: "",
    Action.WARN: "",
    Action.BLOCK: "; this call is blocked",
    Action.ABORT: "; the run is ended",
}
_WOULD_BE = {
    Action.ALLOW: "",
    Action.WARN: "; the model would be warned",
    Action.BLOCK: "; this call would be blocked",
    Action.ABORT: "; the run would be ended",
}
_CONSEQUENCES = {
    Action.ALLOW: "Calling it again will not change that.",
    Action.WARN: "Calling it again will not change that.",
    Action.BLOCK: f"{NOT_RUN}.",
    Action.ABORT: f"{NOT_RUN}, and this run ends here.",
}
_STAYS_BLOCKED = f"{NOT_RUN}, and will not be run again in this task."


class Removed(Detector):
    """A detector that an earlier guard of this run had, and this one does not have."""

    __slots__ = ()

    id = "removed"
    observation = "`{tool}` is part of a pattern that was found earlier in this run ({count} times)"
    alternatives = ("Take a different approach.", "Report what you have found so far, and take a different approach.")


REMOVED = Removed()


class Advisor:
    """
    Puts the findings of detectors into words.

    Args:
        detectors: The detectors whose findings there may be.
    """

    __slots__ = ("_detectors",)

    def __init__(self, detectors: Iterable[Detector]) -> None:
        self._detectors = {detector.id: detector for detector in (*detectors, POST_COMPACTION_GUARD)}

    def verdict(self, action: Action, finding: Finding, tool: object, given: int, *, observes: bool = False) -> Verdict:
        """
        Return the verdict on a call.

        Args:
            action: What follows from the finding.
            finding: What was found.
            tool: Name of the tool, as the model wrote it.
            given: Number of pieces of advice that the run has had, so that the next one differs.
            observes: Whether the action is only recorded.
        """
        if observes and action is not Action.ALLOW:
            reason = self.reason(action, finding, tool, observed=True)
            return Verdict(Action.ALLOW, finding, reason=reason, observed=action)
        advice = "" if action is Action.ALLOW else self.advice(action, finding, tool, given)
        return Verdict(action, finding, reason=self.reason(action, finding, tool), advice=advice)

    def reason(self, action: Action, finding: Finding, tool: object, *, observed: bool = False) -> str:
        """Return the sentence for people; the arguments are those of `verdict`."""
        done = (_WOULD_BE if observed else _DONE)[action]
        return f"{self._description(finding, tool)} (limit {finding.threshold}){done}."

    def advice(self, action: Action, finding: Finding, tool: object, given: int) -> str:
        """Return the text for the model; the arguments are those of `verdict`."""
        detector = self._detectors.get(finding.detector, REMOVED)
        stays_blocked = action is Action.BLOCK and detector.stays_blocked
        consequence = _STAYS_BLOCKED if stays_blocked else _CONSEQUENCES[action]
        instead = detector.suggest(finding, given)
        return f"{OPENING}{self._description(finding, tool)}. {consequence} {instead}"

    def _description(self, finding: Finding, tool: object) -> str:
        detector = self._detectors.get(finding.cause or finding.detector, REMOVED)
        return detector.describe(finding, printable_name(tool))


def printable_name(tool: object) -> str:
    """Return the name of a tool as the model wrote it, on one line and no longer than a name should be."""
    if not isinstance(tool, str):
        return "tool"
    characters = [sign if sign.isprintable() else "?" for sign in str.__str__(tool)[:_LONGEST_NAME]]
    return "".join(characters).replace("`", "'").strip() or "tool"
