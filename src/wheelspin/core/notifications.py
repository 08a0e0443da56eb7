"""
What is told: a finding becomes a verdict, in words; listeners hear of it, and of a crash.

Events hold ids, counts and fingerprints, never arguments or results (SPEC 8 and 9).
"""

from __future__ import annotations

from wheelspin.core.advice import advice_on, reason_for, shown
from wheelspin.core.events import Action, Verdict
from wheelspin.core.guard_state import plain_id
from wheelspin.core.record import LoopEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wheelspin.core.events import Finding, ToolCall

__all__ = ["crash_of", "event_of", "tell", "verdict_of"]

_KINDS = {Action.WARN: "warning", Action.BLOCK: "block", Action.ABORT: "abort"}


def verdict_of(action: Action, finding: Finding, tool: str, given: int, *, observes: bool) -> Verdict:
    """
    Make a verdict.

    Args:
        action: What follows from the finding.
        finding: What was seen.
        tool: The name of the tool that was called.
        given: How many pieces of advice the run has had, so that the next one is another.
        observes: Whether the action is only noted.
    """
    if observes and action is not Action.ALLOW:
        return Verdict(Action.ALLOW, finding, reason=reason_for(finding, action, tool, observed=True), observed=action)
    advice = "" if action is Action.ALLOW else advice_on(finding, action, tool, given)
    return Verdict(action, finding, reason=reason_for(finding, action, tool), advice=advice)


def event_of(verdict: Verdict, call: ToolCall, run_id: str | None) -> LoopEvent | None:
    """Give the event that goes with a verdict; `None` where it says nothing."""
    finding = verdict.finding
    due = verdict.due
    if finding is None or due is Action.ALLOW:
        return None
    return LoopEvent(
        _KINDS[due],
        run_id=run_id,
        session_id=plain_id(call.session_id),
        agent_id=plain_id(call.agent_id),
        call_id=plain_id(call.id),
        tool=shown(call.tool),
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


def crash_of(part: str, crash: Exception) -> LoopEvent:
    """Say that a part of the guard crashed: the exception's type and place, never its text (SPEC 9)."""
    place = crash.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place else ""
    cause = f"{type(crash).__name__}{where}"
    return LoopEvent("crash", code=part, reason=f"{part} crashed with {cause}; the call passed", cause=cause)


def tell(
    events: list[LoopEvent],
    listeners: Iterable[Callable[[LoopEvent], object]],
    crashed: Callable[[str, Exception], None],
) -> None:
    """
    Hand events to listeners, and take them off the list, which other threads may do at the same time.

    Args:
        events: What waits to be told.
        listeners: Those who hear of it.
        crashed: Told of a listener that crashes, but not for ever: not of one that crashes on hearing of a crash.
    """
    while True:
        try:
            event = events.pop(0)
        except IndexError:
            return
        for listener in listeners:
            try:
                listener(event)
            except Exception as crash:
                if event.kind != "crash":
                    crashed("a listener", crash)
