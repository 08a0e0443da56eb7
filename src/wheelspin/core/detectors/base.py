"""
The contract of a detector: a pure question about the history of one run.

A detector keeps no state. It is asked before a call runs, sees the call at hand and the steps before it, and says
what it found. How often it is said and what follows from it is the guard's business.
"""

from __future__ import annotations

from wheelspin.core.events import Finding, Level
from wheelspin.core.settings import own_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Limits, Settings

__all__ = ["Detector", "Finding", "Level"]


class Detector:
    """
    One kind of loop. A detector is one file: the class, with its page as its docstring, and nothing else.

    Attributes:
        id: Its name in kebab case, which is the file's name; the configuration key is the same in camel case.
        switch: The setting that turns it off; empty where nothing does.
        first: Whether it is asked before it is looked up whether the call is blocked already (SPEC 6, rules 1 to 3).
        counts_calls: Whether its warnings count calls, whatever their outcomes. They give way to those of other
            detectors, and outcomes that change do not make them be said anew.
        gives_way: Whether its warnings give way to those of all detectors that have it not.
        ends_run: Whether a count that has reached `globalCircuitBreakerThreshold` ends the run, although calls that are
            free came in between.
        lasts: Whether what it blocks stays blocked for as long as the veto is in the history; else each call is judged
            anew, and is free as soon as something new has happened.
        of_failure: Whether what makes its pattern is not a call but a way of failing.
        of_run: Whether all that it finds in a run is one pattern, which is warned about once.
        of_tool: Whether all that it finds of one tool is one pattern.
        until_news: Whether it warns anew once something new has happened.
        on_news: Whether it is asked about a call that nothing in the history concerns (`History.is_news`), too.
    """

    __slots__ = ()

    id = ""
    switch = ""
    first = False
    counts_calls = False
    gives_way = False
    ends_run = False
    lasts = True
    of_failure = False
    of_run = False
    of_tool = False
    until_news = False
    on_news = True

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """
        Say what there is to say about the call at hand.

        Args:
            call: The call at hand, which is not yet in the history.
            history: The steps of the same run before it.
            settings: What holds for the agent.

        Returns:
            One finding, the worst, or `None`.
        """
        raise NotImplementedError

    def limits(self, call: Step, settings: Settings) -> Limits:
        """Give the warning and the critical threshold that hold for a call: its tool may have its own (SPEC 6.3)."""
        limits = settings.limits_of(self.switch)
        return limits if call.limits is None else own_limits(limits, call.limits)

    def graded(
        self, count: int, limits: Limits, *signatures: bytes, nature: str = "", is_free: bool = False
    ) -> Finding | None:
        """
        Make a critical finding, a warning or none of a count without progress.

        Args:
            count: How often it was seen.
            limits: The warning and the critical threshold.
            signatures: The calls that make the pattern.
            nature: What their outcomes say of themselves.
            is_free: Whether it is not to be blocked now, whatever the count.
        """
        warning, critical = limits
        if count >= critical and not is_free:
            return self.found(Level.CRITICAL, count, critical, *signatures, nature=nature)
        return self.found(Level.WARNING, count, warning, *signatures, nature=nature) if count >= warning else None

    def found(
        self, level: Level, count: int, threshold: int, *signatures: bytes, no_progress: bool = True, nature: str = ""
    ) -> Finding:
        """Make a finding of this detector."""
        return Finding(self.id, level, count, threshold, signatures, no_progress=no_progress, nature=nature)
