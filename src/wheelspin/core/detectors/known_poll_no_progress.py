"""Something is polled again and again and its state does not change."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Needs, Rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class KnownPollNoProgress(Detector):
    """
    Something is polled again and again and its state does not change.

    What it detects:
        Equal outcomes in a row of one polling call: `process` with the action `poll` or `log`, `command_status`, and
        what a host declares. It warns at `warningThreshold` and blocks at `criticalThreshold`.

    Why it is a loop:
        An agent that polls should wait longer, do something else, or notice that the job is dead.

    Example:
        `~A1*21` warns at 11 and blocks at 21. `~A1*9 ~A2*9` stays quiet.

    Options:
        `detectors.knownPollNoProgress`, `warningThreshold`, `criticalThreshold`.

    Not to be confused with:
        `generic-repeat`, which never looks at polling calls, even if this detector is off: polling means repeating a
        call with equal arguments.

    False positives:
        A long job that prints nothing while it runs. Raise the thresholds for agents that start such jobs.
    """

    __slots__ = ()

    id = "known-poll-no-progress"
    default_thresholds = {"early": (8, 12)}
    rank = Rank.OUTCOMES
    stays_blocked = True
    ends_on_change = True
    observation = "`{tool}` was polled {count} times and its state did not change"
    alternatives = (
        "Do something else that does not depend on it, or report that it is still pending.",
        "Wait considerably longer before you poll again, or check whether the job is still running at all.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Block or warn by the streak (SPEC 6, rule 4)."""
        if not call.polls:
            return None
        return self.graded(history.streak(call.signature), self.thresholds(call, settings), call.signature)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal calls."""
        return Needs(Evidence.EQUAL_CALLS, self.lowest_warning(settings))
