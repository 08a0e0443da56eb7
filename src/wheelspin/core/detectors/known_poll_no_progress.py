"""Something is polled again and again and its state does not change."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class KnownPollNoProgress(Detector):
    """
    Something is polled again and again and its state does not change.

    What it detects:
        Equal outcomes in a row of one polling call: `process` with the action `poll` or `log`, `command_status`, and
        what a host declares. It warns at `warningThreshold` and blocks at `criticalThreshold`.

    Why it is a loop:
        Whoever polls should wait longer, do something else, or see that what he waits for is dead.

    Example:
        `~A1*21` warns at 11 and blocks at 21. `~A1*9 ~A2*9` stays quiet.

    Options:
        `detectors.knownPollNoProgress`, `warningThreshold`, `criticalThreshold`.

    Not to be confused with:
        `generic-repeat`, under which a polling call never falls, also when this detector is off: a poll is repeated
        with equal arguments by its nature.

    False positives:
        A long job that says nothing while it runs. Raise the thresholds for agents that start such jobs.
    """

    __slots__ = ()

    id = "known-poll-no-progress"
    switch = "known_poll_no_progress"
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Block or warn by the streak (SPEC 6, rule 4)."""
        if not call.polls:
            return None
        return self.graded(history.streak(call.signature), self.limits(call, settings), call.signature)
