"""One tool keeps failing in the same way, whatever it is called with."""

from __future__ import annotations

from wheelspin.core.call_record import SAME_FAILURE
from wheelspin.core.detectors.base import Detector, Finding
from wheelspin.core.outcome_status import FAILED, OUTAGE, WAITING
from wheelspin.core.settings import OUTAGE as OUTAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class SameFailure(Detector):
    """
    One tool keeps failing in the same way, whatever it is called with.

    What it detects:
        Failures of one tool in a row, with different arguments, that say the same once the arguments are taken out of
        them; or of several tools with nothing else in between. Calls of one parallel batch count once. It warns at
        `warningThreshold`. It blocks at `criticalThreshold`; after a block another call of the tool is free once, and
        the run ends at `globalCircuitBreakerThreshold`. A result that only says that something is still pending counts
        with the thresholds of `known-poll-no-progress`.

    Why it is a loop:
        "Permission denied" forty times is not about the path.

    Example:
        `a!*21` warns at 11 and blocks at 21. `a!*9 a1 a!*9` stays quiet.

    Options:
        `detectors.sameFailure`, a switch or an object with `warningThreshold` and `criticalThreshold`; for failures of
        what stands behind a tool (429, 5xx, timeouts) `infrastructureFailures`.

    Not to be confused with:
        `unchanged-failure`, where the arguments are the same too; `near-repeat`, which looks at successes.

    False positives:
        Looking for one of many places where something may be. A success of the tool, or another failure, begins anew.
    """

    __slots__ = ()

    id = SAME_FAILURE
    switch = "same_failure"
    gives_way = True
    ends_run = True
    lasts = False
    on_news = False
    of_failure = True

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Warn and block by the failures of the tool, or of several tools in a row."""
        chain = history.failing(call.tool)
        count = 0 if chain is None or chain.signatures.keys() == {call.signature} else len(chain)
        newest = history.newest
        across, across_nature = (0, "") if newest is None else _across(call, newest, history, settings)
        if newest is not None and across > count:
            count, way, nature = across, newest.kin, across_nature
            is_free = newest.kind == "veto" and newest.signature != call.signature
        elif chain is not None and count:
            way, nature = chain.way, chain.nature
            is_free = chain.vetoed not in {None, call.signature}
        else:
            return None
        limits = self.limits(call, settings)
        if nature == OUTAGE:
            limits = max(limits, settings.limits_of(OUTAGES))
        elif nature == WAITING:
            limits = max(limits, settings.limits_of("known_poll_no_progress"))
        return self.graded(count, limits, way or b"", nature=nature, is_free=is_free)


def _across(call: Step, newest: Step, history: History, settings: Settings) -> tuple[int, str]:
    """Count the newest failures in a row of several tools, if the one at hand is among them, and give their nature."""
    way = newest.kin
    if way is None or not (newest.nature in FAILED or newest.kind == "veto"):
        return 0, ""
    most = settings.global_circuit_breaker_threshold
    row = history.newest_where(lambda step: step.kin == way and (step.nature in FAILED or step.kind == "veto"), most)
    tools = {step.tool for step in row}
    if len(tools) == 1 or call.tool not in tools:
        return 0, ""
    return len({step.group for step in row}), next((step.nature for step in row if step.nature), "")
