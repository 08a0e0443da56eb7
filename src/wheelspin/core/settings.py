"""
The settings of one agent, resolved: plain values that the engine reads (SPEC 2.1).

A configuration file becomes these in `wheelspin.config`; in code they are made directly.
"""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DETECTORS", "NUMBERS", "Notice", "Settings"]

NUMBERS = {
    "history_size": 30,
    "warning_threshold": 10,
    "critical_threshold": 20,
    "unknown_tool_threshold": 10,
    "global_circuit_breaker_threshold": 30,
    "window_size": 3,
}
"""Every setting that is a number, with its default (SPEC 2.1)."""

DETECTORS = ("generic_repeat", "known_poll_no_progress", "ping_pong")
"""The detectors that can be switched off, all on by default (SPEC 2.1)."""

_SMALLEST_WINDOW = 2


class Notice(Value):
    """Something about the settings that the user should know although it is no fault."""

    __slots__ = ("setting", "text")

    setting: str
    """Name of the setting, in snake case."""
    text: str
    """What is the matter and what was done about it."""

    def __init__(self, setting: str, text: str) -> None:
        self._fill(setting=setting, text=text)


class Settings(Value):
    """
    What holds for one agent (SPEC 2).

    Thresholds in the wrong order are raised, as the documented detection does it: `critical_threshold` above
    `warning_threshold`, then `global_circuit_breaker_threshold` above `critical_threshold`, and a `window_size` of 1,
    which cannot show a repeat, to 2. Each raise, and each threshold that `history_size` keeps out of reach, is a
    notice.

    Args:
        enabled: Master switch of the rolling detectors. `None` (not set) leaves them off and the post-compaction
            guard on; `False` turns that off too.
        detectors: Switches of single detectors, by their names in snake case; what is not named is on.
        history_size: Steps kept per run.
        warning_threshold: Repeats before a pattern is reported.
        critical_threshold: Repeats before a pattern without progress is blocked.
        unknown_tool_threshold: Misses after which an unavailable tool is blocked.
        global_circuit_breaker_threshold: Repeats without progress that end the run.
        window_size: Calls for which the post-compaction guard stays armed, all of which must be equal.

    Raises:
        TypeError: A number is not whole, a switch is no boolean.
        ValueError: A number is zero or negative, a detector is not known.

    Example:
        >>> settings = Settings(enabled=True, warning_threshold=12, critical_threshold=5)
        >>> settings.critical_threshold, settings.notices[0].setting
        (13, 'critical_threshold')
    """

    __slots__ = (*NUMBERS, *DETECTORS, "enabled", "notices")

    enabled: bool | None
    history_size: int
    warning_threshold: int
    critical_threshold: int
    unknown_tool_threshold: int
    global_circuit_breaker_threshold: int
    window_size: int
    generic_repeat: bool
    known_poll_no_progress: bool
    ping_pong: bool
    notices: tuple[Notice, ...]

    def __init__(
        self,
        enabled: bool | None = None,
        *,
        detectors: Mapping[str, bool] | None = None,
        history_size: int = NUMBERS["history_size"],
        warning_threshold: int = NUMBERS["warning_threshold"],
        critical_threshold: int = NUMBERS["critical_threshold"],
        unknown_tool_threshold: int = NUMBERS["unknown_tool_threshold"],
        global_circuit_breaker_threshold: int = NUMBERS["global_circuit_breaker_threshold"],
        window_size: int = NUMBERS["window_size"],
    ) -> None:
        given = {
            "history_size": history_size,
            "warning_threshold": warning_threshold,
            "critical_threshold": critical_threshold,
            "unknown_tool_threshold": unknown_tool_threshold,
            "global_circuit_breaker_threshold": global_circuit_breaker_threshold,
            "window_size": window_size,
        }
        numbers = {name: _whole(name, value) for name, value in given.items()}
        switches = dict.fromkeys(DETECTORS, True) | {
            _known(name): _switch(name, value) for name, value in (detectors or {}).items()
        }
        notices = [*_raise(numbers), *_out_of_reach(numbers)]
        enabled = enabled if enabled is None else _switch("enabled", enabled)
        self._fill(**numbers, **switches, enabled=enabled, notices=tuple(notices))


def _whole(name: str, value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"`{name}` must be 1 or more, not {value!r}")
    return value


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` must be True or False, not {value!r}")
    return value


def _known(name: str) -> str:
    if name not in DETECTORS:
        raise ValueError(f"there is no detector {name!r} to switch; there are {', '.join(DETECTORS)}")
    return name


def _raise(numbers: dict[str, int]) -> list[Notice]:
    """Raise what stands in the wrong order, and say so (SPEC 2.2)."""
    notices = []
    for upper, lower, word in (
        ("critical_threshold", "warning_threshold", "warning"),
        ("global_circuit_breaker_threshold", "critical_threshold", "critical"),
    ):
        if numbers[upper] <= numbers[lower]:
            given, numbers[upper] = numbers[upper], numbers[lower] + 1
            text = f"raised from {given} to {numbers[upper]}: it must be above the {word} threshold, {numbers[lower]}"
            notices.append(Notice(upper, text))
    if numbers["window_size"] < _SMALLEST_WINDOW:
        numbers["window_size"] = _SMALLEST_WINDOW
        notices.append(Notice("window_size", "raised from 1 to 2: one call cannot show a repeat"))
    return notices


_RULES = {
    "warning_threshold": "no pattern can be warned about",
    "critical_threshold": "no repeated call can be blocked",
    "unknown_tool_threshold": "no unavailable tool can be blocked",
    "global_circuit_breaker_threshold": "only a row of blocked calls can end a run",
}


def _out_of_reach(numbers: dict[str, int]) -> list[Notice]:
    """Name the thresholds that the history is too short for (SPEC 2.2)."""
    size = numbers["history_size"]
    return [
        Notice(name, f"{numbers[name]} can never be reached with {size} steps kept (history size): {rule}")
        for name, rule in _RULES.items()
        if numbers[name] > size
    ]
