"""For tests: the trajectory notation, and a guard whose crashes are raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wheelspin.core.guard import Guard
from wheelspin.trajectory import Played, play

__all__ = ["Played", "play", "strict"]


@contextmanager
def strict() -> Iterator[None]:
    """
    Raise a crash of the guard in this block, instead of letting the call pass.

    Example:
        >>> with strict():
        ...     len(play("A1*3"))
        3
    """
    before, Guard.strict = Guard.strict, True
    try:
        yield
    finally:
        Guard.strict = before
