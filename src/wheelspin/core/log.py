"""
Loop events as lines of the standard `logging` (SPEC 8).

It is silent unless the application configures logging. `logging` is imported with the first event, so that a hook
process without events starts quickly.
"""

from __future__ import annotations

from wheelspin.core.loop_events import EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.loop_events import LoopEvent

__all__ = ["log"]

_LEVELS = {
    EventKind.WARNING: "WARNING",
    EventKind.BLOCK: "ERROR",
    EventKind.ABORT: "ERROR",
    EventKind.ARMED: "INFO",
    EventKind.CRASH: "ERROR",
}


def log(event: LoopEvent) -> None:
    """Write an event to `wheelspin.loop_detection` or `wheelspin.post_compaction_guard`."""
    import logging

    root = logging.getLogger("wheelspin")
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    of_compaction = event.kind is EventKind.ARMED or event.code == "compaction_loop_persisted"
    logger = root.getChild("post_compaction_guard" if of_compaction else "loop_detection")
    level = logging.getLevelNamesMapping()[_LEVELS[event.kind]]
    if logger.isEnabledFor(level):
        ids = {"run": event.run_id, "session": event.session_id, "agent": event.agent_id, "call": event.call_id}
        where = " ".join(f"{name}={value}" for name, value in ids.items() if value is not None)
        code = f"{event.code}: " if event.code else ""
        logger.log(level, "%s%s%s", code, event.reason, f" [{where}]" if where else "")
