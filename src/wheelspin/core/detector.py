"""
The contract of a detector: a pure question about the history of one run.

A detector keeps no state. It is asked before a call runs, sees the call at hand and the steps before it, and says
what it found. How often it is said and what follows from it is the guard's business.
"""

from __future__ import annotations

from wheelspin.core.events import Finding, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings
    from wheelspin.core.step import Step

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
        on_news: Whether it is asked about a call that nothing in the history concerns (`History.is_news`), too.
    """

    __slots__ = ()

    id = ""
    switch = ""
    first = False
    counts_calls = False
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

    def found(self, level: Level, count: int, threshold: int, *signatures: bytes, no_progress: bool = True) -> Finding:
        """Make a finding of this detector."""
        return Finding(self.id, level, count, threshold, signatures, no_progress=no_progress)
