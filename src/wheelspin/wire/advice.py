"""
The guard's own advice in results that a host has recorded.

Advice is one line that begins with `OPENING` and forms a paragraph of its own. Hosts and adapters put it before or
after the text of a result, into a text block or list item of its own, or under the key `KEY` of a mapping. Everything
that reads recorded results uses this module, so that advice is never part of an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from wheelspin.core.advice import NOT_RUN, OPENING
from wheelspin.core.events import Outcome, ToolCall

__all__ = ["KEY", "OPENING", "is_blocked_result", "is_refusal", "outcome_without_advice", "without_advice"]

_Result = TypeVar("_Result")

KEY = "wheelspin"
"""Key of the advice in a result that is a mapping."""
_MARK = OPENING.rstrip()
"""The opening without its last blank, which is faster to search for, since blanks are frequent."""
_NOT_RUN = f" {NOT_RUN}"
_PARAGRAPH = re.compile(rf"(?:\A|\n\n)({OPENING}[^\n]*+(?:\n{OPENING}[^\n]*+)*+)(?=\n\n|\Z)")
_STRING = rf"""(?P<quote>["'])(?P<text>{OPENING}(?:\\.|(?!(?P=quote))[^\\\n])*+)(?P=quote)"""
_PAIR = rf"""(?P<mark>["']){KEY}(?P=mark):\s*{_STRING}"""
_IN_OBJECT = (
    re.compile(rf"(?:\A|(?<=\n))(?P<before>\{{)\s*{_PAIR}\s*(?=\}}\Z)"),
    re.compile(rf"(?:\A|(?<=\n))(?P<before>\{{\s*){_PAIR},\s*"),
    re.compile(rf"(?P<before>),\s*{_PAIR}(?=\s*\}}\Z)"),
)
"""A JSON or Python text of a mapping whose only, first or last key is that of advice."""
_IN_LIST = (
    re.compile(rf"\A(?P<before>\[)\s*{_STRING}\s*(?=\]\Z)"),
    re.compile(rf"(?P<before>),\s*{_STRING}(?=\s*\]\Z)"),
)
"""A JSON or Python text of a list whose only or last item is advice."""
_FEWEST_SENTENCES = 3
_DEEPEST = 8
"""Number of levels of a result that are searched; deeper ones contain only what the tool returned."""
_TEXT_KEYS = ("content", "output", "error", "result", "response", "functionResponse", "message", "text")


def without_advice(result: _Result) -> _Result:
    r"""
    Return a result without the advice in it.

    Args:
        result: A text, a block or a record of a result, or a list of them. It is not changed.

    Returns:
        The result without every paragraph, block, item and key that is advice; the same object if there is none. A
        text that was nothing but advice is empty.

    Example:
        >>> advice = "Loop detected: `read` was called 10 times. You will get the same result. Use it."
        >>> without_advice(f"hi\n\n{advice}"), without_advice(f"{advice}\n\nhi")
        ('hi', 'hi')
        >>> without_advice({"a": 1, "wheelspin": advice})
        {'a': 1}
        >>> without_advice("a log:\nLoop detected: in the graph")
        'a log:\nLoop detected: in the graph'
    """
    bare: _Result = _without(result, 0)
    return bare


def is_refusal(text: str) -> bool:
    """
    Return whether a text contains the advice that answers a blocked call, whatever the host wrote around it.

    Example:
        >>> is_refusal("Denied by a hook: Loop detected: `read` was called 20 times. This call was not run.")
        True
    """
    return OPENING in text and any(
        _NOT_RUN in paragraph[paragraph.find(OPENING) :] for paragraph in text.split("\n\n") if OPENING in paragraph
    )


def is_blocked_result(result: object) -> bool:
    r"""
    Return whether a result is nothing but the advice that answers a blocked call: the tool did not run.

    Args:
        result: A text, a block or a record of a result, or a list of them.

    Example:
        >>> advice = "Loop detected: `read` was called 20 times. This call was not run. Use the result that you have."
        >>> is_blocked_result([{"type": "text", "text": advice}]), is_blocked_result(f"hi\n\n{advice}")
        (True, False)
    """
    if isinstance(result, str):
        return result.startswith(OPENING) and is_refusal(result) and not without_advice(result)
    if isinstance(result, list):
        return bool(result) and all(map(is_blocked_result, result))
    return isinstance(result, dict) and any(is_blocked_result(result.get(key)) for key in _TEXT_KEYS)


def outcome_without_advice(
    call: ToolCall, result: _Result, outcome_of: Callable[[ToolCall, _Result], Outcome]
) -> Outcome:
    """
    Return the outcome of a call as it was before any advice was added to its result.

    Args:
        call: The call.
        result: The result as the host wrote it down.
        outcome_of: Reads the outcome from the call and from the result without advice.

    Returns:
        The outcome; `Outcome.missing()` for a call that was blocked, since its tool did not run.
    """
    bare = _without(result, 0)
    if bare is not result and is_blocked_result(result):
        return Outcome.missing()
    return outcome_of(call, bare)


def _without(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        bare = _text_without(value) if _MARK in value else value
        return value if bare == value else bare
    if depth > _DEEPEST:
        return value
    if kind is dict:
        changed = None
        for key, item in value.items():
            if type(item) is str and _MARK not in item:
                continue
            bare = _without(item, depth + 1)
            if bare is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = bare
        if changed is not None and changed.get(KEY) == "" != value[KEY]:
            del changed[KEY]
        return value if changed is None else changed
    if kind is list:
        kept = [(item, _without(item, depth + 1)) for item in value]
        if all(item is bare for item, bare in kept):
            return value
        return [bare for item, bare in kept if item is bare or not _is_emptied(bare)]
    return value


def _is_emptied(bare: object) -> bool:
    """Return whether nothing is left of an item or a text block after its advice was removed."""
    return bare == "" or (isinstance(bare, dict) and bare.get("text") == "")


def _text_without(text: str) -> str:
    bare = _PARAGRAPH.sub(lambda match: "" if _is_advice(match[1]) else match[0], text)
    if bare != text:
        first = _PARAGRAPH.match(text)
        was_first = first is not None and first.start(1) == 0 and _is_advice(first[1])
        return bare.removeprefix("\n\n") if was_first else bare
    for pattern in _IN_OBJECT if text.endswith("}") else _IN_LIST if text.endswith("]") else ():
        text = pattern.sub(lambda match: match["before"] if _is_advice(match["text"]) else match[0], text)
    return text


def _is_advice(paragraph: str) -> bool:
    """Return whether a paragraph that begins like advice has the sentences of one, on each of its lines."""
    return all(_NOT_RUN in line or line.count(". ") >= _FEWEST_SENTENCES - 1 for line in paragraph.split("\n"))
