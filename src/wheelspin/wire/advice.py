"""Our own advice, where a host writes it down as part of what a tool said."""

from __future__ import annotations

__all__ = ["OPENING", "is_refusal"]

OPENING = "Loop detected: "
"""What every advice begins with."""
_NOT_RUN = " This call was not run"


def is_refusal(text: str) -> bool:
    """
    Tell whether a text is, or ends with, the advice that answers a call that the guard kept from running.

    Example:
        >>> is_refusal("Loop detected: `read` was called 20 times. This call was not run.")
        True
    """
    return _NOT_RUN in text[text.rfind(OPENING) :] if OPENING in text else False
