"""
The presets: what holds where the user says nothing.

`standard` has the numbers of the documented detection. `early` is for small models, and for hosts that stop a run by
themselves after a few repeats: it was tuned on recorded runs, and `docs/evaluation.md` says what it finds and spares.
"""

from __future__ import annotations

__all__ = ["PRESETS"]

_DOCUMENTED: dict[str, int] = {
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

PRESETS: dict[str, tuple[dict[str, int], dict[str, tuple[int, int]]]] = {
    "standard": (_DOCUMENTED, {"infrastructure_failures": (10, 30)}),
    "early": (
        _DOCUMENTED | _EARLY,
        {
            "generic_repeat": (16, 18),
            "known_poll_no_progress": (8, 12),
            "ping_pong": (5, 7),
            "immediate_repeat": (2, 3),
            "stagnation": (4, 5),
            "unchanged_failure": (5, 7),
            "same_failure": (4, 6),
            "near_repeat": (8, 10),
            "infrastructure_failures": (6, 15),
        },
    ),
}
"""Each preset: its numbers, and the warning and critical thresholds of what has its own."""
