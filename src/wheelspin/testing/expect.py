"""The assertion that checks use; it also works with `python -O`."""

from __future__ import annotations

__all__ = ["expect"]


def expect(holds: bool, message: str) -> None:
    """
    Fail a check unless a condition holds.

    Args:
        holds: The condition.
        message: What was found, where, and what was expected.

    Raises:
        AssertionError: The condition does not hold.
    """
    if not holds:
        raise AssertionError(message)
