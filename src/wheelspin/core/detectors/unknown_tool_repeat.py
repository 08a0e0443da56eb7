"""A tool that does not exist is called again and again."""

from __future__ import annotations

from wheelspin.core.detector import Detector, Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings
    from wheelspin.core.step import Step


class UnknownToolRepeat(Detector):
    """
    A tool that does not exist is called again and again.

    What it detects:
        `unknownToolThreshold` calls of one tool name that the host answered with "no such tool", since that tool last
        worked. Arguments do not matter, and calls of other tools in between do not reset it.

    Why it is a loop:
        A name that is not registered will not be registered by asking for it once more, with whatever arguments.

    Example:
        `?A*11` blocks at 11. `(?A B+)*5 A+ (?A B+)*4` stays quiet.

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
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Block at the threshold (SPEC 6, rule 1)."""
        misses = history.misses(call.tool)
        if misses < settings.unknown_tool_threshold:
            return None
        return self.found(Level.CRITICAL, misses, settings.unknown_tool_threshold, call.signature)
