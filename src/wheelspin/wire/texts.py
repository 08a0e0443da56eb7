"""Texts in values of any shape, as hosts and formats write them."""

from __future__ import annotations

__all__ = ["lone_text", "text_in"]

_OF_A_TEXT = {"type", "text", "cache_control"}


def text_in(value: object) -> str:
    """Give a text as it is; of a value that is none, nothing."""
    return value if isinstance(value, str) else ""


def lone_text(content: object) -> object:
    """
    Give a list that is one block of text as its text, everything else as it is.

    Example:
        >>> lone_text([{"type": "text", "text": "pong"}])
        'pong'
    """
    only = content[0] if isinstance(content, list) and len(content) == 1 else None
    if isinstance(only, dict) and only.get("type") == "text" and set(only) <= _OF_A_TEXT:
        return only.get("text")
    return content
