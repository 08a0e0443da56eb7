"""The shape of a call: what is left of its arguments when the numbers are taken out."""

from __future__ import annotations

from wheelspin.core.fingerprint import digest
from wheelspin.core.identifiers import change_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.events import Outcome
    from wheelspin.core.tools import Tool

__all__ = ["is_telling", "shape_of"]

_LONGEST = 16_384
_SAYING = frozenset({"result", "shell"})
_TELLING = 16
"""Characters from which on a text says more than that something was done."""


def shape_of(tool: Tool, arguments: object) -> bytes:
    """
    Give the digest of a call without its numbers.

    Args:
        tool: The tool.
        arguments: What it is called with.
    """
    return digest("shape=" + tool.prefix, change_texts(_without_numbers(arguments), _without_digits))[0]


def is_telling(tool: Tool, outcome: Outcome) -> bool:
    """
    Tell whether a success says something: that two are equal is no wonder where both are "ok", `true` or an empty list.

    Args:
        tool: The tool. What was sent or written into a plan is never telling.
        outcome: A success of it.
    """
    value = outcome.value
    if outcome.kind == "shell" and isinstance(value, dict):
        value = value.get("aggregated")
    return tool.rule in _SAYING and _tells(value)


def _tells(value: object) -> bool:
    if isinstance(value, str):
        return len(value) >= _TELLING
    if isinstance(value, dict):
        return any(item is False or _tells(item) for item in value.values())
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
