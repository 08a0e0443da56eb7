"""
The settings of one agent, resolved: plain values that the engine reads (SPEC 2.1).

A configuration file becomes these in `wheelspin.config`; in code they are made directly.
"""

from __future__ import annotations

from wheelspin.core.events import Value
from wheelspin.core.hints import ToolHint
from wheelspin.core.presets import PRESETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "DETECTORS",
    "DOCUMENTED",
    "HINT",
    "MODES",
    "NUMBERS",
    "OUTAGE",
    "Limits",
    "Notice",
    "Settings",
    "own_limits",
    "settings_from",
]

NUMBERS = PRESETS["standard"][0]
"""Every setting that is a number, with its default (SPEC 2.1)."""

DOCUMENTED = ("generic_repeat", "known_poll_no_progress", "ping_pong")
"""The detectors of the documented detection: the shared thresholds are theirs before those of a preset."""

DETECTORS = (
    *DOCUMENTED,
    "immediate_repeat",
    "stagnation",
    "unchanged_failure",
    "same_failure",
    "near_repeat",
)
"""The detectors that can be switched off, all on by default."""

OUTAGE = "infrastructure_failures"
"""What has thresholds of its own beside the detectors: failures of what stands behind a tool."""

HINT = "tool_hints."
"""What the names of hints begin with where settings have flat names."""

MODES = ("enforce", "observe")

_LIMITED = (*DETECTORS, OUTAGE)
_PLACES = {name: place for place, name in enumerate(_LIMITED)}
_OWN = ("warning_threshold", "critical_threshold")
_SMALLEST_WINDOW = 2

Limits = tuple[int, int]
"""A warning and a critical threshold."""


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
        preset: What holds where nothing is given: `standard` has the documented numbers, `early` finds loops after a
            few repeats.
        mode: `enforce`, or `observe`: everything is recorded and told as it would have been, and nothing is changed.
        detectors: Single detectors, by their names in snake case: a switch, or a mapping with any of `enabled`,
            `warning_threshold` and `critical_threshold`. What is not named is on, with the thresholds below;
            `immediate_repeat` goes with `generic_repeat`.
        infrastructure_failures: Thresholds, in a mapping as above, for equal failures of what stands behind a tool
            (429, 5xx, timeouts, refused connections), which pass by themselves.
        tool_hints: Names or patterns of tools, and what is declared of those (SPEC 6.3).
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

    __slots__ = (*NUMBERS, *DETECTORS, "enabled", "limits", "mode", "notices", "preset", "tool_hints")

    enabled: bool | None
    preset: str
    mode: str
    history_size: int
    warning_threshold: int
    critical_threshold: int
    unknown_tool_threshold: int
    global_circuit_breaker_threshold: int
    window_size: int
    generic_repeat: bool
    known_poll_no_progress: bool
    ping_pong: bool
    immediate_repeat: bool
    stagnation: bool
    unchanged_failure: bool
    same_failure: bool
    near_repeat: bool
    limits: tuple[Limits, ...]
    """The thresholds of each detector and of infrastructure failures; see `limits_of`."""
    tool_hints: tuple[tuple[str, ToolHint], ...]
    notices: tuple[Notice, ...]

    def __init__(
        self,
        enabled: bool | None = None,
        *,
        preset: str = "standard",
        mode: str = "enforce",
        detectors: Mapping[str, bool | Mapping[str, Any]] | None = None,
        infrastructure_failures: Mapping[str, int] | None = None,
        tool_hints: Mapping[str, ToolHint] | None = None,
        history_size: int | None = None,
        warning_threshold: int | None = None,
        critical_threshold: int | None = None,
        unknown_tool_threshold: int | None = None,
        global_circuit_breaker_threshold: int | None = None,
        window_size: int | None = None,
    ) -> None:
        defaults, limits = PRESETS[_one_of("preset", preset, tuple(PRESETS))]
        given = {
            "history_size": history_size,
            "warning_threshold": warning_threshold,
            "critical_threshold": critical_threshold,
            "unknown_tool_threshold": unknown_tool_threshold,
            "global_circuit_breaker_threshold": global_circuit_breaker_threshold,
            "window_size": window_size,
        }
        numbers = defaults | {name: _whole(name, value) for name, value in given.items() if value is not None}
        blocks = {_known(name): _block(name, value) for name, value in (detectors or {}).items()}
        switches = dict.fromkeys(DETECTORS, True) | {
            name: block["enabled"] for name, block in blocks.items() if "enabled" in block
        }
        if "enabled" not in blocks.get("immediate_repeat", {}):
            switches["immediate_repeat"] = switches["generic_repeat"]
        notices = [*_raise(numbers), *_out_of_reach(numbers)]
        if infrastructure_failures is not None:
            blocks[OUTAGE] = _block(OUTAGE, infrastructure_failures)
        shared = numbers["warning_threshold"], numbers["critical_threshold"]
        asked = tuple(numbers[name] if given[name] is not None else None for name in _OWN)
        found = []
        for name in _LIMITED:
            base = limits.get(name, shared)
            if name in DOCUMENTED:
                base = own_limits(base, (asked[0], asked[1]))
            own, notice = _own_limits(name, blocks.get(name, {}), base)
            found.append(own)
            notices += notice
        self._fill(
            **numbers,
            **switches,
            enabled=enabled if enabled is None else _switch("enabled", enabled),
            preset=preset,
            mode=_one_of("mode", mode, MODES),
            limits=tuple(found),
            tool_hints=tuple((tool_hints or {}).items()),
            notices=tuple(notices),
        )

    def limits_of(self, name: str) -> Limits:
        """Give the warning and the critical threshold of a detector, or of `infrastructure_failures`."""
        return self.limits[_PLACES[name]]

    def observing(self) -> Settings:
        """
        Give the same settings in the mode `observe`.

        Example:
            >>> Settings(enabled=True, warning_threshold=4).observing().mode
            'observe'
        """
        settings = object.__new__(Settings)
        settings._fill(**{name: getattr(self, name) for name in self.__slots__} | {"mode": "observe"})
        return settings


def settings_from(given: Mapping[str, Any]) -> Settings:
    """
    Make settings of what a configuration sets, by the names of the settings.

    Args:
        given: Numbers, `enabled`, `preset` and `mode` by their names; what is set of a detector as its name, or as
            `<name>.warning_threshold`; hints as `tool_hints.<tool>`.
    """
    detectors: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        detector, _, field = name.partition(".")
        if detector in DETECTORS:
            detectors.setdefault(detector, {})[field or "enabled"] = value
    outage = {name.partition(".")[2]: value for name, value in given.items() if name.startswith(f"{OUTAGE}.")}
    hints = {name.partition(".")[2]: ToolHint(**value) for name, value in given.items() if name.startswith(HINT)}
    plain = {name: given[name] for name in ("preset", "mode", *NUMBERS) if name in given}
    enabled = given.get("enabled")
    return Settings(enabled, detectors=detectors, infrastructure_failures=outage or None, tool_hints=hints, **plain)


def own_limits(shared: Limits, own: tuple[int | None, int | None]) -> Limits:
    """
    Lay thresholds that hold for one thing alone over those that hold for all, in the right order.

    Args:
        shared: Warning and critical threshold that hold for all.
        own: Those that hold for the one, each or `None`.

    Example:
        >>> own_limits((10, 20), (None, 5)), own_limits((10, 20), (25, None))
        ((4, 5), (25, 26))
    """
    warning = shared[0] if own[0] is None else own[0]
    critical = shared[1] if own[1] is None else own[1]
    if critical <= warning and own[0] is None and critical > 1:
        warning = critical - 1
    return warning, max(critical, warning + 1)


def _own_limits(name: str, block: dict[str, Any], shared: Limits) -> tuple[Limits, list[Notice]]:
    own = block.get("warning_threshold"), block.get("critical_threshold")
    limits = own_limits(shared, own)
    if own[1] in {None, limits[1]}:
        return limits, []
    text = (
        f"critical threshold raised from {own[1]} to {limits[1]}: it must be above the warning threshold, {limits[0]}"
    )
    return limits, [Notice(name, text)]


def _block(name: str, given: object) -> dict[str, Any]:
    """Give what is set of one detector: a switch alone, or a mapping."""
    if isinstance(given, bool):
        return {"enabled": given}
    if not hasattr(given, "items"):
        raise TypeError(f"`{name}` must be True, False or a mapping, not {given!r}")
    block: dict[str, Any] = {}
    for key, value in given.items():
        if key in _OWN:
            block[key] = _whole(f"{name}.{key}", value)
        elif key == "enabled" and name != OUTAGE:
            block[key] = _switch(f"{name}.{key}", value)
        else:
            raise ValueError(f"`{name}` has no {key!r}; it has {', '.join(_OWN)}")
    return block


def _one_of(name: str, value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"`{name}` must be one of {', '.join(known)}, not {value!r}")
    return value


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
