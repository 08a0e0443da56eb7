"""
The presets: the values that apply if the user sets nothing. Each detector has its thresholds by preset in its class.

`standard` has the documented numbers. `early` is for small models, and for hosts that stop a run by themselves after a
few repeats: it was tuned on recorded runs, and `docs/evaluation.md` reports what it finds and what it spares.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.thresholds import Thresholds

__all__ = ["NUMBERS", "OUTAGES"]

_STANDARD: dict[str, int] = {
    "history_size": 30,
    "warning_threshold": 10,
    "critical_threshold": 20,
    "unknown_tool_threshold": 10,
    "global_circuit_breaker_threshold": 30,
    "window_size": 3,
}
_EARLY = {
    "critical_threshold": 18,
    "unknown_tool_threshold": 4,
    "global_circuit_breaker_threshold": 24,
}

NUMBERS: dict[str, dict[str, int]] = {"standard": _STANDARD, "early": _STANDARD | _EARLY}
"""Every setting that is a number, by preset (SPEC 2.1)."""

OUTAGES: dict[str, Thresholds] = {"standard": (10, 30), "early": (6, 15)}
"""The thresholds for equal outages of a service, by preset."""
