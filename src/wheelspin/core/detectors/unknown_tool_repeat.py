"""A tool that does not exist is called again and again."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


class UnknownToolRepeat(Detector):
    """
    A tool that does not exist is called again and again.

    What it detects:
        `unknownToolThreshold` calls of one tool name that the host answered with "no such tool", since that tool last
        worked. Arguments do not matter, and calls of other tools in between do not reset it. It also counts calls in a
        row of names that do not exist, a new one each time: it warns at `unknownToolThreshold` of them and blocks at
        twice that. After such a block another name is free once, a tool that has worked is always free, and the run
        ends at `globalCircuitBreakerThreshold`.

    Why it is a loop:
        A name that is not registered will not be registered by asking for it once more, with whatever arguments.

    Example:
        `?A*11` blocks at 11. `?a*12` warns at 11. `(?A B+)*5 A+ (?A B+)*4` stays quiet.

    Options:
        `unknownToolThreshold`. It cannot be switched off by `detectors`, only raised.

    Not to be confused with:
        `generic-repeat`, which looks at the arguments too and knows nothing of tools that are not there.

    False positives:
        A tool that is registered while the run goes on is blocked for as long as the vetoes are in the history. Start a
        new run, or reset this one, when the tools change.
    """

    __slots__ = ()

    id = "unknown-tool-repeat"
    first = True
    ends_run = True
    lasts = False
    of_run = True
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Block at the threshold (SPEC 6, rule 1); of names that are new each time, warn there and block at twice."""
        limit = settings.unknown_tool_threshold
        misses = history.misses(call.tool)
        if misses >= limit:
            return self.found(Level.CRITICAL, misses, limit, call.signature)
        newest = history.newest
        if newest is None or not newest.is_miss():
            return None
        row = history.newest_where(
            lambda step: step.is_miss(), max(2 * limit, settings.global_circuit_breaker_threshold)
        )
        if len({step.tool for step in row}) < limit or _has_worked(call.tool, history):
            return None
        is_free = newest.kind == "veto" and newest.tool != call.tool
        return self.graded(len(row), (limit, 2 * limit), call.signature, is_free=is_free)


def _has_worked(tool: str, history: History) -> bool:
    return any(step.tool == tool and step.worked() for step in history)
