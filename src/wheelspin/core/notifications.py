"""
Notifications: the events that listeners are notified of (SPEC 8).

Two rules hold here:

1. An event holds ids, counts and fingerprints, never arguments, results or their text; of a crash, the type of the
   exception and the place.
2. Listeners are called outside of the guard's lock. One that crashes does not keep the others from being called.
"""

from __future__ import annotations

from wheelspin.core.advice import printable_name
from wheelspin.core.events import Action
from wheelspin.core.record import EventKind, LoopEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wheelspin.core.events import Verdict

__all__ = ["Notifier", "crash_event", "verdict_event"]

_KINDS = {Action.WARN: EventKind.WARNING, Action.BLOCK: EventKind.BLOCK, Action.ABORT: EventKind.ABORT}


class Notifier:
    """
    The events that listeners have yet to be notified of.

    Args:
        listeners: Called with each event.
        crashed: Called with "a listener" and the exception if a listener crashes, unless it was notified of a crash:
            otherwise that would never end.
    """

    __slots__ = ("_crashed", "_listeners", "pending")

    def __init__(
        self, listeners: Iterable[Callable[[LoopEvent], object]], crashed: Callable[[str, Exception], None]
    ) -> None:
        self._listeners = tuple(listeners)
        self._crashed = crashed
        self.pending: list[LoopEvent] = []

    def notify(self) -> None:
        """Notify the listeners of all pending events. Other threads may do so at the same time."""
        while True:
            try:
                event = self.pending.pop(0)
            except IndexError:
                return
            for listener in self._listeners:
                try:
                    listener(event)
                except Exception as crash:
                    if event.kind is not EventKind.CRASH:
                        self._crashed("a listener", crash)


def verdict_event(verdict: Verdict, tool: object, **ids: str | None) -> LoopEvent | None:
    """
    Return the event of a verdict, or `None` if there is nothing to report.

    Args:
        verdict: The verdict.
        tool: Name of the tool, as the model wrote it.
        ids: `run_id`, `session_id`, `agent_id` and `call_id`, normalised.
    """
    finding = verdict.finding
    due = verdict.due
    if finding is None or due is Action.ALLOW:
        return None
    return LoopEvent(
        _KINDS[due],
        **ids,
        tool=printable_name(tool),
        detector=finding.detector,
        code=finding.code,
        level=finding.level,
        action=due,
        observed=verdict.observed is not None,
        count=finding.count,
        threshold=finding.threshold,
        fingerprints=tuple(signature.hex() for signature in finding.signatures),
        reason=verdict.reason,
    )


def crash_event(part: str, crash: Exception) -> LoopEvent:
    """
    Return the event of a crash of a part of the guard (SPEC 9).

    Args:
        part: What crashed, such as a detector's id.
        crash: The exception.
    """
    place = crash.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place else ""
    cause = f"{type(crash).__name__}{where}"
    return LoopEvent(EventKind.CRASH, code=part, reason=f"{part} crashed with {cause}; the call passed", cause=cause)
