"""Recognise error texts that say that the called tool does not exist (SPEC 4.3)."""

from __future__ import annotations

__all__ = ["says_unknown_tool"]

_NAME = r"['\"`]?(?P<{0}>[\w.:/-]+)['\"`]?"
_THING = r"(?:tool|function)"
_BAD = r"(?:unknown|no such|unavailable|nonexistent|invalid)"
_MISSING = r"(?:not found|is not available|is unavailable|is not a valid|does not exist|is unknown|not available)"
_SAYINGS = "|".join(
    (
        rf"\b{_BAD} {_THING}(?: name| available| found)?:? {_NAME.format('a')}",
        rf"\b{_THING} {_NAME.format('b')} {_MISSING}\b",
        rf"\b{_THING} (?:not found|not available|does not exist): {_NAME.format('c')}",
        rf"^(?:error: )?{_NAME.format('d')} is not a valid {_THING}\b",
        rf"\bno {_THING} (?:named|called) {_NAME.format('e')}",
    )
)
_LOOKED_AT = 400
"""Characters of the text that are read: a host says it at once, while the output of a command comes later."""


def says_unknown_tool(names: tuple[str, ...], text: object) -> bool:
    """
    Return whether a text says that one of these tools does not exist.

    Args:
        names: The called tool's name, as the model wrote it and as it is compared. Other names in the text are ignored:
            the error "tool cmake not found" of a command does not mean an unknown tool.
        text: The text of an error.

    Example:
        >>> says_unknown_tool(("frobnicate",), "Tool 'frobnicate' not found")
        True
    """
    if not isinstance(text, str):
        return False
    text = text[:_LOOKED_AT].lower()
    if "tool" not in text and "function" not in text:
        return False
    import re

    called = {name.strip().lower() for name in names}
    found = re.finditer(_SAYINGS, " ".join(text.split()))
    return any(name.rstrip(".:") in called for match in found for name in match.groups() if name)
