"""
Reading the status of an outcome: a success, a failure, an outage, a refusal, or something still pending.

Two rules hold here:

1. The status decides which detectors look at an outcome, never whether two outcomes are equal.
2. A text counts as something other than a success only if it says so at its beginning, or says nothing else.
"""

from __future__ import annotations

from wheelspin.core.events import DENIED, ERROR, RESULT, SHELL, UNKNOWN_TOOL
from wheelspin.core.outcome_status import FAILURE, MUTATION, OUTAGE, REFUSAL, SUCCESS, WAIT, OutcomeStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

    from wheelspin.core.events import Outcome
    from wheelspin.core.tools import Tool

__all__ = ["status_of"]

_SHORT = 300
"""Characters up to which a text can be nothing but a remark about an outage or a pending job."""
_LONG = 2000
"""Characters up to which an error is searched for an outage. A longer one is a report, which may mention anything."""
_FAILED_WORDS = ("error", "[error", "<error", "traceback (most recent", "fatal:", "exception:", "failed:", "failure:")
_STATES = frozenset(
    {"pending", "running", "queued", "waiting", "processing", "starting", "scheduled", "in_progress", "inprogress"}
)
_OUTAGE = (
    r"\brate[ -]?limit|\btoo many requests\b|\bservice (?:is )?(?:temporarily )?unavailable\b|\bbad gateway\b"
    r"|\bgateway time-?out\b|\b(?:request|connection|read|connect|operation|upstream|server)s? (?:has )?timed[ -]?out\b"
    r"|\bETIMEDOUT\b|\bECONNREFUSED\b|\bECONNRESET\b|\bconnection (?:was )?(?:refused|reset)\b"
    r"|\btemporarily (?:unavailable|overloaded)\b|\b(?:server|model|engine|service) (?:is )?(?:currently )?overloaded\b"
    r"|\boverloaded_error\b|^\W*(?:error\W+)?(?:429|50[0234])\W*"
    r"(?:$|too\b|rate\b|bad\b|gateway\b|service\b|server\b|internal\b|upstream\b|unavailable\b|error\b|temporar|overload)"
    r"|\b(?:http|status|code|error)(?:[ /][\d.]+)?\W{0,3}(?:code\W{0,3})?(?:429|50[0234])\b"
)
_WAIT = (
    r"^\W*(?:[\w ./-]{1,40}[:=]\s*|(?:[\w./-]+ ){0,4}(?:is|are|was) )?(?:still )?"
    r"(?:pending|running|queued|waiting|processing|starting|scheduled|in[ _-]progress"
    r"|not (?:yet )?(?:ready|finished|done|complete|completed)(?: yet)?)"
    r"(?:\W*$|\s*[(\[,;:.][^\n]{0,60}$|\s(?:for|since|on|at|with|until|after)\b[^\n]{0,60}$)"
)
_REFUSED = (
    r"\b(?:declined|denied|rejected|refused|cancell?ed|aborted)\b(?: this)?(?: by)?(?: the)? (?:user|human|operator)\b"
    r"|\b(?:user|human|operator) (?:has )?(?:declined|denied|rejected|refused|cancell?ed|said no|doesn't want)\b"
)


def status_of(tool: Tool, outcome: Outcome) -> OutcomeStatus:
    """
    Return the status of an outcome.

    Args:
        tool: The tool that was called.
        outcome: Any outcome.
    """
    kind, value = outcome.kind, outcome.value
    if kind is RESULT:
        if type(value) is str:
            status = _of_text(value)
        elif isinstance(value, dict):
            status = _of_object(value)
        else:
            status = SUCCESS
    elif kind is SHELL and isinstance(value, dict):
        status = _of_object(value)
    elif kind is DENIED:
        return REFUSAL
    elif kind is ERROR or kind is UNKNOWN_TOOL:
        return _of_failure(value)
    else:
        return SUCCESS
    return MUTATION if status is SUCCESS and tool.mutates else status


def _of_text(text: str) -> OutcomeStatus:
    head = text[:32].lstrip().lower()
    if head.startswith(_FAILED_WORDS):
        return _of_failure(text)
    if len(text) > _SHORT or len(text) < len("429"):
        return SUCCESS
    plain = text.lower()
    if _may_be_outage(plain) and _search("outage", _OUTAGE, text):
        return OUTAGE
    # Every word for waiting contains one of these, and looking for them is quicker than the expression.
    is_possible = "ing" in plain or "ed" in plain or "progress" in plain or "not " in plain
    return WAIT if is_possible and _search("wait", _WAIT, text) else SUCCESS


def _of_failure(value: object) -> OutcomeStatus:
    """Return whether a failure is an outage, a refusal by a person, or any other failure."""
    text = value if type(value) is str else ""
    if 0 < len(text) <= _LONG:
        plain = text.lower()
        if ("user" in plain or "human" in plain or "operator" in plain) and _search("refused", _REFUSED, text):
            return REFUSAL
        if _may_be_outage(plain) and _search("outage", _OUTAGE, text):
            return OUTAGE
    return FAILURE


def _may_be_outage(plain: str) -> bool:
    """Return quickly whether a lower-case text can match the expression for outages."""
    return (
        "time" in plain
        or "429" in plain
        or "50" in plain
        or "connection" in plain
        or "unavailable" in plain
        or "limit" in plain
        or "too many" in plain
        or "overloaded" in plain
        or "gateway" in plain
        or "econn" in plain
    )


_FLAGS = frozenset(
    {
        *("status", "state", "details", "exitCode", "exit_code", "returncode", "timedOut"),
        *("isError", "is_error", "success", "ok"),
    }
)
"""Keys in which a result says how it ended."""
_FAILED_STATUSES = frozenset({"failed", "error", "failure"})
_TEXTS = ("aggregated", "output", "message", "error")


def _of_object(value: dict[Any, Any]) -> OutcomeStatus:
    """Return the status of a result that says how it ended in fields of its own, or in its text."""
    if _FLAGS.isdisjoint(value):
        text = _text_of(value)
        return _of_text(text) if text else SUCCESS
    details = value.get("details")
    source = details if isinstance(details, dict) else value
    status = _word(source.get("status", source.get("state"))).strip().lower()
    if _has_failed(source, status) or value.get("isError") is True:
        return _of_failure(_text_of(source) or _text_of(value))
    if status and status.replace("-", "_").replace(" ", "_") in _STATES:
        return WAIT
    text = _text_of(source) or _text_of(value)
    return _of_text(text) if text else SUCCESS


def _has_failed(source: dict[Any, Any], status: str) -> bool:
    """Return whether the fields of a result say that something failed."""
    if status in _FAILED_STATUSES or source.get("success") is False or source.get("ok") is False:
        return True
    code = source.get("exitCode", source.get("exit_code", source.get("returncode")))
    if (type(code) is int and code != 0) or source.get("timedOut") is True:
        return True
    return source.get("isError") is True or source.get("is_error") is True


def _text_of(value: dict[Any, Any]) -> str:
    """Return the text of a result, if it is one."""
    content = value.get("content")
    if content is None:
        for key in _TEXTS:
            text = value.get(key)
            if isinstance(text, str):
                return str.__str__(text)
        return ""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return _word(content)


def _word(value: object) -> str:
    return str.__str__(value) if isinstance(value, str) else ""


_patterns: dict[str, re.Pattern[str]] = {}


def _search(name: str, looks: str, text: str) -> bool:
    """Search a text. Expressions are compiled when first needed, because a hook process has to start quickly."""
    pattern = _patterns.get(name)
    if pattern is None:
        import re

        pattern = _patterns[name] = re.compile(looks, re.IGNORECASE)
    return pattern.search(text) is not None
