"""Pairs of a warning and a critical threshold, in the right order."""

from __future__ import annotations

__all__ = ["Thresholds", "overridden"]

Thresholds = tuple[int, int]
"""A warning and a critical threshold; the critical one is higher."""


def overridden(shared: Thresholds, own: tuple[int | None, int | None]) -> Thresholds:
    """
    Override thresholds that hold for all with those that hold for one thing alone.

    Args:
        shared: The warning and the critical threshold for all.
        own: The warning and the critical threshold for the one, each or `None`.

    Returns:
        The thresholds that hold, the critical one above the warning one.

    Example:
        >>> overridden((10, 20), (None, 5)), overridden((10, 20), (25, None))
        ((4, 5), (25, 26))
    """
    warning = shared[0] if own[0] is None else own[0]
    critical = shared[1] if own[1] is None else own[1]
    if critical <= warning and own[0] is None and critical > 1:
        warning = critical - 1
    return warning, max(critical, warning + 1)
