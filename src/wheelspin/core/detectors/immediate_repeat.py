"""The same call follows itself directly and nothing changes."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding
from wheelspin.core.outcome_status import OUTAGE, WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class ImmediateRepeat(Detector):
    """
    The same call follows itself directly and nothing changes.

    What it detects:
        One call made again and again with equal outcomes and no other call in between. Equal calls of one message of
        the model count once. It warns at `warningThreshold` and blocks at `criticalThreshold`; with the documented
        numbers that is where `generic-repeat` does, with the preset `early` it is at the third call and the fourth.

    Why it is a loop:
        Nothing was tried in between that could have changed the answer, so two equal answers say as much as ten.

    Example:
        `A1*21` warns at 11 and blocks at 21. `A1*3 B1 A1*3 B2 A1*3` stays quiet.

    Options:
        `detectors.immediateRepeat`, a switch or an object with `warningThreshold` and `criticalThreshold`.

    Not to be confused with:
        `generic-repeat`, which counts a call whatever came in between; `stagnation`, which counts all calls that bring
        nothing new.

    False positives:
        Waiting for something with a call that is not declared as polling and does not say that it still runs: declare
        it (`toolHints`, `poll`). A result that says so ("pending", `status: running`) has the thresholds of
        `known-poll-no-progress`; an outage is left to `unchanged-failure`. And a tool that does the next thing at each
        equal call and only answers "ok", such as the press of a key: declare that it `mutates`.
    """

    __slots__ = ()

    id = "immediate-repeat"
    switch = "immediate_repeat"
    gives_way = True
    lasts = False
    until_news = True
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Warn and block by the calls in a row."""
        count = history.in_a_row(call.signature)
        if not count or call.polls:
            return None
        nature = history.nature(call.signature)
        if nature == OUTAGE:
            return None
        limits = self.limits(call, settings)
        if nature == WAITING:
            limits = max(limits, settings.limits_of("known_poll_no_progress"))
        return self.graded(count, limits, call.signature, nature=nature)
