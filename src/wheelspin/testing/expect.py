"""How a check says that something does not hold."""

from __future__ import annotations

__all__ = ["expect"]


def expect(holds: bool, message: str) -> None:
    """
    Fail a check where something does not hold.

    Raises:
        AssertionError: It does not; the message says what was found, where, and what was expected.
    """
    if not holds:
        raise AssertionError(message)
