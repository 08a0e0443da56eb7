"""A tool that does not exist is called again and again."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Level, Needs, Rank, Scope
from wheelspin.core.events import VETO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class UnknownToolRepeat(Detector):
    """
    A tool that does not exist is called again and again.

    What it detects:
        `unknownToolThreshold` calls of one tool name that the host answered with "no such tool", since that tool last
        worked. Arguments do not matter, and calls of other tools in between do not reset it. It also counts calls in a
        row of names that do not exist, a new one each time: it warns at `unknownToolThreshold` of them and blocks at
        twice that. After such a block one other name may be tried, a tool that has worked is never blocked for it, and
        the run ends at `globalCircuitBreakerThreshold`.

    Why it is a loop:
        A name that is not registered will not be registered by asking for it again, with whatever arguments.

    Example:
        `?A*11` blocks at 11. `?a*12` warns at 11. `(?A B+)*5 A+ (?A B+)*4` stays quiet.

    Options:
        `unknownToolThreshold`. It can be raised, but not switched off.

    Not to be confused with:
        `generic-repeat`, which looks at the arguments too and knows nothing of missing tools.

    False positives:
        A tool that is registered while the run goes on stays blocked for as long as the blocked calls are in the
        history. Start a new run, or reset this one, when the tools change.
    """

    __slots__ = ()

    id = "unknown-tool-repeat"
    can_switch = False
    threshold_setting = "unknown_tool_threshold"
    scope = Scope.MISSING_TOOL
    rank = Rank.FIRST
    ends_run = True
    observation = "`{tool}` was called {count} times, but there is no tool of that name"
    alternatives = (
        "Use one of the tools that you were given.",
        "Look at the list of your tools, and use the one that comes closest to what you want.",
    )

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Block at the threshold (SPEC 6, rule 1); for names that are new each time, warn there and block at twice."""
        threshold = settings.unknown_tool_threshold
        misses = history.misses(call.tool)
        if misses >= threshold:
            return self.found(Level.CRITICAL, misses, threshold, call.signature)
        newest = history.newest
        if newest is None or not newest.is_miss:
            return None
        most = max(2 * threshold, settings.global_circuit_breaker_threshold)
        row = history.newest_where(lambda record: record.is_miss, most)
        if len({record.tool for record in row}) < threshold or _has_worked(call.tool, history):
            return None
        may_block = newest.kind is not VETO or newest.tool == call.tool
        return self.graded(len(row), (threshold, 2 * threshold), call.signature, may_block=may_block)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count missing tools."""
        return Needs(Evidence.STANDING_FAILURES, settings.unknown_tool_threshold)


def _has_worked(tool: str, history: History) -> bool:
    return any(record.tool == tool and record.found_its_tool for record in history)
