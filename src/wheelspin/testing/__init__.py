"""For tests, with any test runner: the trajectory notation, a guard whose crashes are raised, checks of own parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wheelspin.core.guard import Guard
from wheelspin.testing.adapters import AdapterRun, Script, ScriptedCall, check_adapter
from wheelspin.trajectory import Played, play

__all__ = ["AdapterRun", "Played", "Script", "ScriptedCall", "check_adapter", "play", "strict"]


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
