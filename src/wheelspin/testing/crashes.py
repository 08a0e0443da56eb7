"""Make crashes of the guard visible in tests; outside of tests the guard lets the call through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wheelspin.core.guard import Guard

__all__ = ["strict"]


@contextmanager
def strict() -> Iterator[None]:
    """
    Raise any crash of a guard in this block, instead of letting the call through.

    Example:
        >>> from wheelspin.testing import play, strict
        >>> with strict():
        ...     len(play("A1*3"))
        3
    """
    before, Guard.strict = Guard.strict, True
    try:
        yield
    finally:
        Guard.strict = before
