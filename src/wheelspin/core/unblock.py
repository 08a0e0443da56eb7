"""What is blocked in a history, and the history without it: the user lets it go on."""

from __future__ import annotations

from wheelspin.core.history import History
from wheelspin.core.outcome_status import SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step

__all__ = ["blocked_in", "without"]


def blocked_in(history: History) -> list[bytes]:
    """Give the signatures that are blocked: those of the patterns, and of a pattern of a tool those that were tried."""
    found: dict[bytes, None] = {}
    for step in history:
        if step.pattern is not None:
            found |= dict.fromkeys(step.pattern.signatures or (step.signature,))
    return list(found)


def without(history: History, signature: bytes) -> History:
    """
    Give a history that has never seen a call, nor the patterns that it is blocked for.

    A pattern of a tool, which has no signatures, takes the failures and misses of that tool with it.
    """
    steps = list(history)
    blocked = [(step, step.pattern) for step in steps if step.pattern is not None]
    concerned = [(step, pattern) for step, pattern in blocked if signature in (step.signature, *pattern.signatures)]
    patterns = {pattern for _, pattern in concerned}
    tools = {step.tool for step, pattern in concerned if not pattern.signatures}
    signatures = {signature}.union(*(pattern.signatures for pattern in patterns))

    def goes(step: Step) -> bool:
        of_tool = step.tool in tools and step.nature != SUCCESS
        return step.signature in signatures or step.pattern in patterns or of_tool

    # Of what has left the history nobody knows which calls it was made of: it is counted anew, too.
    fresh, _, failures = history.memory()
    gone = {step.signature for step in steps if goes(step)}
    memory = sum(not goes(step) for step in steps[:fresh]), 0, [kept for kept in failures if kept[0] not in gone]
    return History(history.size, [step for step in steps if not goes(step)], memory)
