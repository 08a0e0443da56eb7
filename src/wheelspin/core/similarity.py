"""What a call shares with calls of other arguments: their similarity, which is what is left without the numbers."""

from __future__ import annotations

from wheelspin.core.events import SHELL
from wheelspin.core.fingerprint import digest
from wheelspin.core.identifiers import change_texts
from wheelspin.core.tools import ResultRule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.events import Outcome
    from wheelspin.core.tools import Tool

__all__ = ["is_informative", "similarity_key_of"]

_LONGEST = 16_384
_COMPARED_BY_TEXT = (ResultRule.RESULT, ResultRule.SHELL)
_INFORMATIVE_LENGTH = 16
"""Characters from which on a text says more than that something was done."""


def similarity_key_of(tool: Tool, arguments: object) -> bytes:
    """
    Return the digest of a call without its numbers.

    Args:
        tool: The tool.
        arguments: Its arguments.
    """
    return digest("shape=" + tool.prefix, change_texts(_without_numbers(arguments), _without_digits))[0]


def is_informative(tool: Tool, outcome: Outcome) -> bool:
    """
    Return whether a success says something. That two are equal means little if both are "ok", `true` or an empty list.

    Args:
        tool: The tool. What was sent or written into a plan is never informative.
        outcome: A success of it.
    """
    value = outcome.value
    if outcome.kind is SHELL and isinstance(value, dict):
        value = value.get("aggregated")
    return tool.rule in _COMPARED_BY_TEXT and _says_something(value)


def _says_something(value: object) -> bool:
    if isinstance(value, str):
        return len(value) >= _INFORMATIVE_LENGTH
    if isinstance(value, dict):
        return any(item is False or _says_something(item) for item in value.values())
    return isinstance(value, list | tuple) and len(value) > 0


def _without_digits(text: str) -> str:
    return text.translate(_DIGITS) if len(text) <= _LONGEST else text


_DIGITS = str.maketrans(dict.fromkeys("0123456789", ""))


def _without_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_numbers(item) for item in value]
    return None if isinstance(value, int | float) and not isinstance(value, bool) else value
