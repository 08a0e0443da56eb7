"""
The texts: the reason is for people and logs, the advice is for the model (SPEC 6.1).

Advice says what was seen, that repeating it will not change it, and one other thing to do. It names the tool and the
count, never the arguments: a model that reads them once more is drawn to repeat them.
"""

from __future__ import annotations

from wheelspin.core.events import Action

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
    "post-compaction-guard": "after a compaction `{tool}` was called {count} times with the same arguments",
}
_NO_NEWS = {
    "global-circuit-breaker": " and gave the same outcome each time",
    "generic-repeat": " and gave the same outcome each time",
    "post-compaction-guard": " and gave the same outcome each time",
    "ping-pong": " and neither brought anything new",
}
_DONE = {
    Action.ALLOW: "",
    Action.WARN: "",
    Action.BLOCK: "; this call is blocked",
    Action.ABORT: "; the run is ended",
}
_NOT_AGAIN = {
    Action.ALLOW: "Calling it once more will not change that.",
    Action.WARN: "Calling it once more will not change that.",
    Action.BLOCK: "This call was not run, and will not be run again in this task.",
    Action.ABORT: "This call was not run, and this run ends here.",
}
_INSTEAD = {
    "unknown-tool-repeat": "Use one of the tools that you were given.",
    "global-circuit-breaker": "Say what you have found so far and what keeps you from going on.",
    "known-poll-no-progress": "Do something else that does not depend on it, or report that it is still not done.",
    "generic-repeat": "Work with the result that you already have, and take the next step from it.",
    "ping-pong": "Step back and take a different way to the goal than these two calls.",
    "post-compaction-guard": "Say what you have found so far and what keeps you from going on.",
}
_IN_A_ROW = "one blocked call followed another until the count was {count}, the newest of them of `{tool}`"
"""A finding without a signature is of a row of vetoes, whatever calls they were of."""
_UNNAMED = "`{tool}` repeats without progress ({count} times)"
_ELSE = "Try something else."


def shown(tool: object) -> str:
    """Give a tool's name as the model wrote it, on one line and no longer than a name should be."""
    if not isinstance(tool, str):
        return "tool"
    signs = [sign if sign.isprintable() else "?" for sign in str.__str__(tool)[:_LONGEST_NAME]]
    return "".join(signs).replace("`", "'").strip() or "tool"


def reason_for(finding: Finding, action: Action, tool: object) -> str:
    """
    Give the sentence for people.

    Args:
        finding: What was seen.
        action: What follows from it.
        tool: Name of the tool as the model wrote it.
    """
    return f"{_seen(finding, tool)} (limit {finding.threshold}){_DONE[action]}."


def advice_on(finding: Finding, action: Action, tool: object) -> str:
    """Give the text for the model; the arguments are those of `reason_for`."""
    return f"Loop detected: {_seen(finding, tool)}. {_NOT_AGAIN[action]} {_INSTEAD.get(finding.detector, _ELSE)}"


def _seen(finding: Finding, tool: object) -> str:
    template = _SEEN.get(finding.detector, _UNNAMED) if finding.signatures else _IN_A_ROW
    no_news = _NO_NEWS.get(finding.detector, "") if finding.no_progress else ""
    return template.format(tool=shown(tool), count=finding.count) + no_news
