"""Texts in JSON values of any type."""

from __future__ import annotations

__all__ = ["lone_text", "text_in"]

_TEXT_BLOCK_KEYS = {"type", "text", "cache_control"}


def text_in(value: object) -> str:
    """Return a value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def lone_text(content: object) -> object:
    """
    Return a list of a single text block as its text, everything else unchanged.

    Example:
        >>> lone_text([{"type": "text", "text": "pong"}])
        'pong'
    """
    only = content[0] if isinstance(content, list) and len(content) == 1 else None
    if isinstance(only, dict) and only.get("type") == "text" and set(only) <= _TEXT_BLOCK_KEYS:
        return only.get("text")
    return content
