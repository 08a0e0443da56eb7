"""Call after call brings nothing new, in whatever order they come."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Finding
from wheelspin.core.outcome_status import OUTAGE, WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.history import History
    from wheelspin.core.settings import Settings


_SEEN = 2
"""Looking at something once more is rereading; who has seen it twice and asks again goes in a circle."""


class Stagnation(Detector):
    """
    Call after call brings nothing new, in whatever order they come.

    What it detects:
        Messages of the model in a row whose calls were all made before, within the history, and all gave an outcome
        that they had given before: ping-pong and cycles of any length, also of many calls in each message. One single
        call that follows itself is left to the detectors of repeats. It warns at `warningThreshold`. It
        blocks at `criticalThreshold` a call that was made twice or more and has had one single outcome in the history.

    Why it is a loop:
        An agent learns from outcomes. Where none of them is new, the next step rests on what led to this one.

    Example:
        `(A1 B1 C1)*9` warns at 14 and blocks at 24, 25, 26 and 27. `[A1 B1 C1 D1]*22` warns from 45 and blocks from 85.
        `(A1 B1 C+)*9` stays quiet.

    Options:
        `detectors.stagnation`, a switch or an object with `warningThreshold` and `criticalThreshold`; `historySize` is
        how far back an outcome is known.

    Not to be confused with:
        `ping-pong`, which needs two calls in strict turn; `unchanged-failure`, which sees a failure that stays although
        the calls in between bring news.

    False positives:
        Reading the same few things once more, after a pause say: it ends with the first call that brings something
        new. A new run, a turn of the user and a success of a tool that is declared to change something (`toolHints`,
        `mutates`) begin anew; polling calls and outages are the business of other detectors.
    """

    __slots__ = ()

    id = "stagnation"
    switch = "stagnation"
    gives_way = True
    lasts = False
    of_run = True
    until_news = True
    on_news = False

    def check(self, call: Step, history: History, settings: Settings) -> Finding | None:
        """Warn by the count; block a call that has always had the same outcome."""
        count = history.stagnation
        if not count or call.polls or not history.repeats(call.signature):
            return None
        if history.nature(call.signature) in {OUTAGE, WAITING} or history.is_one_row(call.signature):
            return None
        is_free = history.outcomes(call.signature) != 1 or history.streak(call.signature) < _SEEN
        return self.graded(count, self.limits(call, settings), call.signature, is_free=is_free)
