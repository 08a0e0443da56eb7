"""Our own advice, where a host writes it down as part of what a tool said."""

from __future__ import annotations

__all__ = ["OPENING", "is_refusal", "without_advice"]

OPENING = "Loop detected: "
"""What every advice begins with."""
_NOT_RUN = " This call was not run"
_NOT_AGAIN = " Calling it again will not change that."


def is_refusal(text: str) -> bool:
    """
    Tell whether a text is, or ends with, the advice that answers a call that the guard kept from running.

    Example:
        >>> is_refusal("Loop detected: `read` was called 20 times. This call was not run.")
        True
    """
    return _NOT_RUN in text[text.rfind(OPENING) :] if OPENING in text else False


def without_advice(text: str) -> str:
    r"""
    Give what a tool said, without the advice that stands after it, an empty line between them.

    Example:
        >>> without_advice("hi\n\n\nLoop detected: `read` was called twice. Calling it again will not change that.")
        'hi\n'
    """
    said, found, advice = text.rpartition(f"\n\n{OPENING}")
    return said if found and "\n" not in advice and (_NOT_RUN in advice or _NOT_AGAIN in advice) else text
