"""
Notifications: listeners are called with loop events (SPEC 8).

Listeners are called outside of the guard's lock. One that crashes does not keep the others from being called.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wheelspin.core.events import Verdict
    from wheelspin.core.loop_events import LoopEvent

__all__ = ["Notifier"]


class Notifier:
    """
    The events that listeners have yet to be notified of.

    Args:
        listeners: Called with each event.
        crashed: Called with "a listener" and the exception if a listener crashes, unless it was notified of a crash:
            otherwise that would never end.
        logs: Whether each event is also written to the standard log, before the listeners are called.
    """

    __slots__ = ("_crashed", "_listeners", "_logs", "pending")

    def __init__(
        self,
        listeners: Iterable[Callable[[LoopEvent], object]],
        crashed: Callable[[str, Exception], None],
        *,
        logs: bool,
    ) -> None:
        self._listeners = tuple(listeners)
        self._crashed = crashed
        self._logs = logs
        self.pending: list[LoopEvent] = []

    def add_verdict(self, verdict: Verdict, tool: object, **ids: str | None) -> None:
        """Add the event of a verdict, if there is anything to report."""
        from wheelspin.core.loop_events import verdict_event

        event = verdict_event(verdict, tool, **ids)
        if event is not None:
            self.pending.append(event)

    def add_armed(self, size: int, session_id: str | None, agent_id: str | None) -> None:
        """Add the event of a post-compaction guard that was armed for a number of calls."""
        from wheelspin.core.loop_events import armed_event

        self.pending.append(armed_event(size, session_id, agent_id))

    def add_crash(self, part: str, crash: Exception) -> None:
        """Add the event of a crash of a part of the guard."""
        from wheelspin.core.loop_events import crash_event

        self.pending.append(crash_event(part, crash))

    def notify(self) -> None:
        """Notify the listeners of all pending events. Other threads may do so at the same time."""
        while True:
            try:
                event = self.pending.pop(0)
            except IndexError:
                return
            self._call_all(event)

    def _call_all(self, event: LoopEvent) -> None:
        from wheelspin.core.log import log
        from wheelspin.core.loop_events import EventKind

        for listener in (log, *self._listeners) if self._logs else self._listeners:
            try:
                listener(event)
            except Exception as crash:
                if event.kind is not EventKind.CRASH:
                    self._crashed("a listener", crash)
