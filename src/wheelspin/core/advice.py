"""
The texts: the reason is for people and logs, the advice is for the model (SPEC 6.1).

Advice says what was seen, that repeating it will not change it, and one other thing to do. It names the tool and the
count, never the arguments: a model that reads them once more is drawn to repeat them.
"""

from __future__ import annotations

from wheelspin.core.events import Action
from wheelspin.core.outcome_status import OUTAGE, REFUSAL, WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.events import Finding

__all__ = ["advice_on", "reason_for", "shown"]

_LONGEST_NAME = 80

_SEEN = {
    "unknown-tool-repeat": "`{tool}` was called {count} times although there is no such tool",
    "global-circuit-breaker": "`{tool}` was called {count} times with the same arguments",
    "known-poll-no-progress": "`{tool}` was polled {count} times and its state did not change",
    "generic-repeat": "`{tool}` was called {count} times with the same arguments",
    "ping-pong": "`{tool}` and another call have alternated {count} times",
    "immediate-repeat": "`{tool}` was called {count} times in a row with the same arguments",
    "stagnation": "the last {count} steps, `{tool}` among them, were all taken before",
    "unchanged-failure": "`{tool}` has failed {count} times with the same arguments and in the same way",
    "same-failure": "`{tool}` has failed {count} times in the same way, whatever the arguments were",
    "near-repeat": "`{tool}` was called {count} times in a row with arguments that differ in numbers only",
    "post-compaction-guard": "after a compaction `{tool}` was called {count} times with the same arguments",
}
_NO_NEWS = {
    "global-circuit-breaker": " and gave the same outcome each time",
    "generic-repeat": " and gave the same outcome each time",
    "post-compaction-guard": " and gave the same outcome each time",
    "ping-pong": " and neither brought anything new",
    "immediate-repeat": " and gave the same outcome each time",
    "stagnation": " and bring nothing new",
    "near-repeat": " and gave the same answer each time",
}
_DONE = {
    Action.ALLOW: "",
    Action.WARN: "",
    Action.BLOCK: "; this call is blocked",
    Action.ABORT: "; the run is ended",
}
_WOULD_BE = {
    Action.ALLOW: "",
    Action.WARN: "; a warning would be told",
    Action.BLOCK: "; this call would be blocked",
    Action.ABORT: "; the run would be ended",
}
_NOT_AGAIN = {
    Action.ALLOW: "Calling it once more will not change that.",
    Action.WARN: "Calling it once more will not change that.",
    Action.BLOCK: "This call was not run.",
    Action.ABORT: "This call was not run, and this run ends here.",
}
_LASTING = {"generic-repeat", "known-poll-no-progress", "ping-pong"}
_NOT_AGAIN_SOON = "This call was not run, and will not be run again in this task."
_REPORT = (
    "Say what you have found so far and what keeps you from going on.",
    "End here: sum up what is done, what is not, and what you would need.",
)
_INSTEAD = {
    "unknown-tool-repeat": (
        "Use one of the tools that you were given.",
        "Look at the list of your tools, and name the one among them that comes nearest to what you want.",
    ),
    "global-circuit-breaker": _REPORT,
    "known-poll-no-progress": (
        "Do something else that does not depend on it, or report that it is still not done.",
        "Wait considerably longer before you look again, or find out whether what you wait for is still alive.",
    ),
    "generic-repeat": (
        "Work with the result that you already have, and take the next step from it.",
        "Write down what you still need to know, and get it in another way.",
    ),
    "ping-pong": (
        "Step back and take a different way to the goal than these two calls.",
        "Take the results of both as they are, decide between them, and go on from there.",
    ),
    "immediate-repeat": (
        "Use the answer that you have: it will stay the same until you change something.",
        "Make a different call: one that changes something, or one that asks a narrower question.",
    ),
    "stagnation": (
        "Take a step that you have not taken yet: read something else, change something, or ask the user.",
        "State what you believe is wrong, then test that belief with one call that you have not made before.",
    ),
    "unchanged-failure": (
        "Read the failure again and question what you take for granted: what you change does not reach its cause.",
        "Make the failure smaller: take away parts until it goes, and see which one it was.",
    ),
    "same-failure": (
        "Remove the cause first, or do it without this tool.",
        "Find out why it fails with one simple call that you know should work.",
    ),
    "near-repeat": (
        "The answer does not depend on that number: ask for something else, or use the answer that you have.",
        "Change more than the number in your call, or go on without it.",
    ),
    "post-compaction-guard": _REPORT,
}
_BY_NATURE = {
    OUTAGE: (
        "This is an outage of a service, not a mistake of yours: leave it alone for some minutes and do other work.",
        "The service is still down: report that, and what is left to do once it is back.",
    ),
    REFUSAL: (
        "It was refused on purpose: ask what would be acceptable instead of asking again.",
        "Do without it, or end here and say what you would need permission for.",
    ),
    WAITING: (
        "It is not done yet: wait considerably longer before you look again, or do something else meanwhile.",
        "Find out whether what you wait for is still alive, or report that it is not done.",
    ),
}
"""What to do instead, by the detector or by what the outcomes say of themselves; a second time another one."""
_IN_A_ROW = "one blocked call followed another until the count was {count}, the newest of them of `{tool}`"
"""A finding without a signature is of a row of vetoes, whatever calls they were of."""
_UNNAMED = "`{tool}` repeats without progress ({count} times)"
_ELSE = ("Try something else.", "Say what you have found so far, and take another way.")


def shown(tool: object) -> str:
    """Give a tool's name as the model wrote it, on one line and no longer than a name should be."""
    if not isinstance(tool, str):
        return "tool"
    signs = [sign if sign.isprintable() else "?" for sign in str.__str__(tool)[:_LONGEST_NAME]]
    return "".join(signs).replace("`", "'").strip() or "tool"


def reason_for(finding: Finding, action: Action, tool: object, *, observed: bool = False) -> str:
    """
    Give the sentence for people.

    Args:
        finding: What was seen.
        action: What follows from it.
        tool: Name of the tool as the model wrote it.
        observed: Whether it only would follow: nothing is done.
    """
    done = (_WOULD_BE if observed else _DONE)[action]
    return f"{_seen(finding, tool)} (limit {finding.threshold}){done}."


def advice_on(finding: Finding, action: Action, tool: object, given: int = 0) -> str:
    """
    Give the text for the model; it says what repeats, and one other thing to do.

    Args:
        finding: What was seen.
        action: What follows from it.
        tool: Name of the tool as the model wrote it.
        given: How many pieces of advice the run has had: a second one differs from the first.
    """
    texts = _INSTEAD.get(finding.detector, _ELSE)
    if action is not Action.ABORT:
        texts = _BY_NATURE.get(finding.nature, texts)
    lasts = action is Action.BLOCK and finding.detector in _LASTING
    not_again = _NOT_AGAIN_SOON if lasts else _NOT_AGAIN[action]
    return f"Loop detected: {_seen(finding, tool)}. {not_again} {texts[given % len(texts)]}"


def _seen(finding: Finding, tool: object) -> str:
    detector = finding.cause or finding.detector
    template = _SEEN.get(detector, _UNNAMED) if finding.signatures else _IN_A_ROW
    no_news = _NO_NEWS.get(detector, "") if finding.no_progress and finding.signatures else ""
    return template.format(tool=shown(tool), count=finding.count) + no_news
