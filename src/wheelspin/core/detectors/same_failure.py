"""One tool keeps failing in the same way, whatever its arguments."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Needs, Scope
from wheelspin.core.events import VETO
from wheelspin.core.outcome_status import FAILED, OUTAGE, SUCCESS, WAIT, OutcomeStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class SameFailure(Detector):
    """
    One tool keeps failing in the same way, whatever its arguments.

    What it detects:
        Failures of one tool in a row, with different arguments, whose texts are equal once the arguments are removed;
        or such failures of several tools with nothing else in between. Calls of one parallel batch count once. It warns
        at `warningThreshold`. It blocks at `criticalThreshold`; after a block, one other call of the tool may run, and
        the run ends at `globalCircuitBreakerThreshold`. A result that only says that something is still pending counts
        with the thresholds of `known-poll-no-progress`.

    Why it is a loop:
        "Permission denied" forty times is not about the path.

    Example:
        `a!*21` warns at 11 and blocks at 21. `a!*9 a1 a!*9` stays quiet.

    Options:
        `detectors.sameFailure`, a switch or an object with `warningThreshold` and `criticalThreshold`; for outages of a
        service (429, 5xx, timeouts) `infrastructureFailures`.

    Not to be confused with:
        `unchanged-failure`, where the arguments are the same too; `near-repeat`, which looks at successes.

    False positives:
        Looking for something in many places. A success of the tool, or a different failure, starts the count again.
    """

    __slots__ = ()

    id = "same-failure"
    default_thresholds = {"early": (4, 6)}
    scope = Scope.FAILURE
    ends_run = True
    observation = "`{tool}` has failed {count} times in the same way, whatever its arguments"
    alternatives = (
        "Fix the cause first, or do it without this tool.",
        "Find out why it fails with one simple call that should work.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Warn and block by the failures of the tool, or of several tools in a row."""
        chain = history.failing(call.tool)
        count = 0 if chain is None or chain.signatures.keys() == {call.signature} else len(chain)
        newest = history.newest
        across, across_status = (0, SUCCESS) if newest is None else _across(call, newest, history, settings)
        if newest is not None and across > count:
            count, way, status = across, newest.similarity_key, across_status
            may_block = newest.kind is not VETO or newest.signature == call.signature
        elif chain is not None and count:
            way, status = chain.way, chain.status
            may_block = chain.blocked in {None, call.signature}
        else:
            return None
        thresholds = self.thresholds(call, settings)
        if status is OUTAGE:
            thresholds = max(thresholds, settings.outage_thresholds)
        elif status is WAIT:
            thresholds = max(thresholds, settings.wait_thresholds)
        return self.graded(count, thresholds, way or b"", status=status, may_block=may_block)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count failures."""
        return Needs(Evidence.STANDING_FAILURES, self.lowest_warning(settings))

    def is_over(self, about: tuple[bytes, ...], record: CallRecord, history: History, *, changed: bool) -> bool:  # noqa: ARG002
        """End when no tool fails in this way any more."""
        return not history.still_fails(about[0])


def _across(
    call: CallRecord, newest: CallRecord, history: History, settings: DetectorSettings
) -> tuple[int, OutcomeStatus]:
    """Count the newest failures in a row of several tools, if that of the call is among them; return their status."""
    way = newest.similarity_key
    if way is None or not _has_failed(newest):
        return 0, SUCCESS
    most = settings.global_circuit_breaker_threshold
    row = history.newest_where(lambda record: record.similarity_key == way and _has_failed(record), most)
    tools = {record.tool for record in row}
    if len(tools) == 1 or call.tool not in tools:
        return 0, SUCCESS
    status = next((record.status for record in row if record.status is not SUCCESS), SUCCESS)
    return len({record.group for record in row}), status


def _has_failed(record: CallRecord) -> bool:
    return record.status in FAILED or record.kind is VETO
