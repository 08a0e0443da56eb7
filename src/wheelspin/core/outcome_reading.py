"""
Reading outcomes: what is compared of what a tool returned (SPEC 4.2).

Two rules hold here:

1. Two outcomes are equal if their digests are; a digest begins with the rule that it was made by.
2. What cannot be compared has no digest, and so never equals anything.
"""

from __future__ import annotations

from wheelspin.core.events import ERROR, RESULT, SHELL
from wheelspin.core.fingerprint import digest
from wheelspin.core.identifiers import change_texts, normalised_key, read_json, without_identifiers
from wheelspin.core.outcome_status import MUTATION, SUCCESS, SUCCESSFUL
from wheelspin.core.status_reading import status_of
from wheelspin.core.tools import ResultRule, statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from wheelspin.core.events import Outcome
    from wheelspin.core.outcome_status import OutcomeStatus
    from wheelspin.core.tools import Tool

__all__ = ["Reading", "comparable", "may_be_equal", "read_outcome", "rough_view"]

_SHELL_KEYS = frozenset({"durationms", "duration", "pid", "sessionid", "cwd", "workdir", "startedat", "starttime"})
"""Keys of a shell result that are ignored, as `normalised_key` writes them."""
_APPROVAL_KEYS = ("reason", "host", "command", "warningText")
_PROCESS_KEYS = {
    ResultRule.POLL: ("status", "exitCode", "exitSignal", "aggregated"),
    ResultRule.LOG: ("status", "exitCode", "exitSignal", "totalLines", "totalChars", "truncated"),
}

Reading = tuple["bytes | None", "OutcomeStatus", "bytes | None"]
"""
What is kept of an outcome.

Its digest, or `None` if it equals no other: a part of it cannot be inspected, or the tool is declared to change
something. Its status. And unless it is a success, the way it failed: the digest of its text without the arguments.
"""


def read_outcome(tool: Tool, outcome: Outcome, arguments: object) -> Reading:
    """
    Read an outcome by the first rule of SPEC 4.2 that fits.

    Args:
        tool: The tool that was called.
        outcome: Any outcome but a block by the guard and a missing one.
        arguments: The arguments of the call, which are taken out of the text of a failure.
    """
    status = status_of(tool, outcome)
    if status is SUCCESS and tool.has_default_rules and outcome.kind is RESULT:
        value = outcome.value
        fingerprint, is_whole = digest("result=", _unwrapped(value) if type(value) is str else value)
        return (fingerprint if is_whole else None), status, None
    if status is MUTATION:
        return None, status, None
    prefix, value = comparable(tool, outcome, status)
    fingerprint, is_whole = digest(prefix, value)
    way = None
    if status not in SUCCESSFUL and is_whole:
        from wheelspin.core.masks import without_words

        text = value[1] if prefix == "error=" and isinstance(value, list) else value
        way = digest("way=", change_texts(text, without_words(_words(arguments))))[0]
    return (fingerprint if is_whole else None), status, way


def comparable(tool: Tool, outcome: Outcome, status: OutcomeStatus) -> tuple[str, object]:
    """Return what is compared of an outcome, after the rule that it was read by, as the prefix of its digest."""
    kind, value = outcome.kind, outcome.value
    if tool.volatile or tool.patterns:
        value = _without_volatile(tool, value)
    if kind is RESULT:
        prefix, value = f"{tool.rule}=", _of_result(tool.rule, value, status)
    elif kind is SHELL:
        prefix, value = "shell=", _shell({"details": value})
    elif kind is ERROR:
        prefix, value = "error=", [outcome.error_kind, value]
    else:
        prefix = f"{kind}="
    if status not in SUCCESSFUL:
        from wheelspin.core.masks import mask_failure

        value = change_texts(value, mask_failure)
    return prefix, value


def _of_result(rule: ResultRule, value: object, status: OutcomeStatus) -> object:
    if rule is _RESULT_RULE:
        return _unwrapped(value) if type(value) is str else value
    match rule:
        case ResultRule.SHELL:
            return _unwrapped(value) if type(value) is str else _shell(value)
        case ResultRule.MESSAGE:
            return without_identifiers(value)
        case ResultRule.PLAN:
            return _planned(value, status)
        case ResultRule.POLL | ResultRule.LOG:
            return _process(rule, value)


_RESULT_RULE: Final = ResultRule.RESULT
_ANYTHING = object()
"""Stands for an outcome that may equal any other."""


def rough_view(tool: Tool, outcome: Outcome, status: OutcomeStatus) -> object:
    """
    Return a value that takes no time to make, by which `may_be_equal` compares outcomes of one tool.

    Args:
        tool: The tool that was called.
        outcome: Any outcome but a block by the guard and a missing one.
        status: Its status.
    """
    value = outcome.value
    if status not in SUCCESSFUL:
        return status
    if outcome.kind is SHELL and isinstance(value, dict):
        value = value.get("aggregated")
    elif tool.rule is ResultRule.SHELL and not isinstance(value, str):
        return _ANYTHING
    if not (tool.has_default_rules or tool.rule is ResultRule.SHELL) or tool.volatile or tool.patterns:
        return _ANYTHING
    return _ANYTHING if isinstance(value, str) and _may_be_stub(value) else value


def may_be_equal(left: object, right: object) -> bool:
    """
    Return whether two outcomes of one tool, as `rough_view` shows them, may have equal digests.

    It is `True` for all that have, and for some that have not.
    """
    try:
        return left is _ANYTHING or right is _ANYTHING or bool(left == right)
    except Exception:
        return True


_LONGEST_STUB = 600
_STUB_SIGNS = ("sha", "digest", "md5", "hash")
_STUB = (
    r"\W*(?:the )?(?:tool )?(?:output|result|response|content)\b[^\n]{0,60}"
    r"\b(?:too (?:large|long|big)|truncated|omitted|exceed\w*|persisted|offloaded|saved|stored)\b.{0,400}?"
    r"\b(?:sha-?256|sha-?1|sha|digest|md5|hash)\b\W{1,4}(?P<digest>[0-9A-Fa-f]{6,128})\b"
)


def _may_be_stub(text: str) -> bool:
    """Return quickly whether a text may stand for a larger result."""
    return len(text) <= _LONGEST_STUB and any(sign in text for sign in _STUB_SIGNS)


def _unwrapped(text: str) -> object:
    """Return what a stub stands for: a host that saves a large result names a new file each time, and a digest."""
    if not _may_be_stub(text):
        return text
    import re

    stub = re.match(_STUB, text, re.IGNORECASE | re.DOTALL)
    return ["stub", stub["digest"].lower()] if stub else text


def _planned(value: object, status: OutcomeStatus) -> object:
    """Return the statuses in the answer to a plan. If it has none, a success is compared by nothing."""
    read = read_json(value)
    return "" if isinstance(read, str) and status in SUCCESSFUL else statuses(read)


def _without_volatile(tool: Tool, value: object) -> object:
    """Remove what was declared to be volatile (SPEC 6.3)."""
    if tool.volatile:
        from wheelspin.core.value_paths import without

        value = read_json(value)
        for path in tool.volatile:
            value = without(value, path)
    return change_texts(value, lambda text: _cut(text, tool.patterns)) if tool.patterns else value


def _cut(text: str, patterns: tuple[str, ...]) -> str:
    import re

    for pattern in patterns:
        text = re.sub(pattern, "<volatile>", text)
    return text


_SHORTEST_WORD = 3
_LONGEST_WORD = 400
_MOST_WORDS = 64
_IN_NAMES = frozenset("/._-0123456789")


def _words(arguments: object) -> set[str]:
    """Return what an answer may repeat of the arguments: short texts as a whole, and what looks like a name in them."""
    words: set[str] = set()
    open_values: list[object] = [arguments]
    for value in open_values:
        if len(open_values) > _MOST_WORDS or len(words) > _MOST_WORDS:
            break
        if isinstance(value, dict):
            open_values.extend(value.values())
        elif isinstance(value, list | tuple):
            open_values.extend(value)
        elif isinstance(value, str) and _SHORTEST_WORD <= len(value) <= _LONGEST_WORD:
            words.add(str.__str__(value))
            parts = value.translate(_BREAKS).split()
            words.update(part for part in parts if len(part) >= _SHORTEST_WORD and not _IN_NAMES.isdisjoint(part))
        elif type(value) is int and abs(value) >= _SMALLEST_NUMBER:
            words.add(str(value))
    return words


_BREAKS = str.maketrans(dict.fromkeys("'\"`()[]{}<>,;:=|&$", " "))
_SMALLEST_NUMBER = 100


def _shell(result: Any) -> object:
    """Return what is compared of a shell command's result (SPEC 4.2, rule 3)."""
    if not isinstance(result, dict):
        return result
    details = result.get("details")
    source = details if isinstance(details, dict) else result
    status = _word(source.get("status"))
    if status.startswith("approval"):
        return [status, *(source.get(key) for key in _APPROVAL_KEYS)]
    if source is result:
        return _without(result, _SHELL_KEYS)
    if status == "running":
        return [status, source.get("tail", source.get("aggregated"))]
    if status in {"completed", "failed"}:
        output = source.get("aggregated")
        output = _texts(result) if output is None else output
        return [status, source.get("exitCode"), source.get("timedOut") is True, output]
    return {**_without(result, _SHELL_KEYS), "details": _without(source, _SHELL_KEYS)}


def _process(rule: ResultRule, result: Any) -> object:
    """Return what is compared of the state of a background process (SPEC 4.2, rule 4)."""
    if not isinstance(result, dict):
        return result
    details = result.get("details")
    if not isinstance(details, dict):
        return _without(result, _SHELL_KEYS)
    return [*(details.get(key) for key in _PROCESS_KEYS[rule]), _texts(result)]


def _texts(result: dict[Any, Any]) -> object:
    """Return the content of a result: the texts of its text blocks, and other blocks whole."""
    content = result.get("content")
    if not isinstance(content, list):
        return content
    is_text = [isinstance(block, dict) and _word(block.get("type")) == "text" for block in content]
    return [block.get("text") if text else block for block, text in zip(content, is_text, strict=True)]


def _word(value: object) -> str:
    """Return a text, or an empty one for anything else. Arbitrary objects may fail when they are compared."""
    return str.__str__(value) if isinstance(value, str) else ""


def _without(value: dict[Any, Any], keys: frozenset[str]) -> dict[Any, Any]:
    return {key: item for key, item in value.items() if normalised_key(key) not in keys}
