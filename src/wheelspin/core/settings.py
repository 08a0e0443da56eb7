"""
The settings of one agent, resolved: plain values that the engine reads (SPEC 2.1).

Two rules hold here:

1. What a configuration file says has the same shape from the file to here: the blocks of the file, with their names in
   snake case (`settings_from`). Only what is shown to people is flat.
2. Whatever is wrong is an error, never a silent default; whatever is raised or out of reach is a notice.
"""

from __future__ import annotations

from enum import StrEnum

from wheelspin.core.detector_settings import DetectorSettings, default_thresholds
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.events import Value
from wheelspin.core.hints import NEVER, ToolHint
from wheelspin.core.presets import NUMBERS, OUTAGES
from wheelspin.core.thresholds import Thresholds, overridden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from wheelspin.core.detectors.base import Detector

__all__ = ["OUTAGE_BLOCK", "OWN_THRESHOLDS", "Mode", "Notice", "Settings", "settings_from"]

OUTAGE_BLOCK = "infrastructure_failures"
"""The block with the thresholds for equal outages of a service."""
OWN_THRESHOLDS = ("warning_threshold", "critical_threshold")
"""The thresholds that a single detector can have."""
_NUMBERS = tuple(NUMBERS["standard"])
_SMALLEST_WINDOW = 2


class Mode(StrEnum):
    """What is done with verdicts."""

    ENFORCE = "enforce"
    """The model is warned, calls are blocked, runs are ended."""
    OBSERVE = "observe"
    """Everything is recorded and reported as it would have been, and nothing is changed."""


class Notice(Value):
    """Something about the settings that the user should know, although it is not a fault."""

    __slots__ = ("raised", "setting", "text")

    setting: str
    """Name of the setting, in snake case; of a detector or a block, its name."""
    text: str
    """What it is and what was done about it."""
    raised: bool
    """Whether the setting was raised."""

    def __init__(self, setting: str, text: str, *, raised: bool = False) -> None:
        self._fill(setting=setting, text=text, raised=raised)


class Settings(DetectorSettings):
    """
    The settings of one agent (SPEC 2).

    Thresholds in the wrong order are raised, as in the documented detection: `critical_threshold` above
    `warning_threshold`, then `global_circuit_breaker_threshold` above `critical_threshold`. A `window_size` of 1, which
    cannot show a repeat, is raised to 2. Each raise, and each threshold that `history_size` keeps out of reach, is a
    notice.

    Args:
        enabled: Master switch of the detectors. `None` (not set) leaves them off and the post-compaction guard on;
            `False` turns that off too.
        preset: The values that apply if nothing else is set: `standard` has the documented numbers, `early` finds loops
            after a few repeats.
        mode: `enforce`, or `observe`: everything is recorded and reported as it would have been, and nothing is
            changed.
        detectors: Single detectors, by name in snake case: a switch, or a mapping with any of `enabled`,
            `warning_threshold` and `critical_threshold`. Detectors that are not named are on, with the thresholds
            below; `immediate_repeat` goes with `generic_repeat`.
        infrastructure_failures: Thresholds, in a mapping as above, for equal outages of the service behind a tool (429,
            5xx, timeouts, refused connections), which pass by themselves.
        tool_hints: Names or patterns of tools, each with what is declared about them (SPEC 6.3).
        plugins: Detectors beside the built-in ones: names of modules that define some, or detectors themselves.
        history_size: Calls kept per run.
        warning_threshold: Repeats before a pattern is warned about.
        critical_threshold: Repeats before a pattern without progress is blocked.
        unknown_tool_threshold: Misses before a missing tool is blocked.
        global_circuit_breaker_threshold: Repeats without progress that end the run.
        window_size: Calls for which the post-compaction guard stays armed, all of which must be equal.

    Raises:
        TypeError: A number is not whole, or a switch is not a boolean.
        ValueError: A number is zero or negative, or a detector is not known.
        PluginError: A plugin cannot be imported, or defines no detector; it is a `ValueError`.

    Example:
        >>> settings = Settings(enabled=True, warning_threshold=12, critical_threshold=5)
        >>> settings.critical_threshold, settings.notices[0].setting
        (13, 'critical_threshold')
    """

    __slots__ = (
        *_NUMBERS,
        "detectors",
        "enabled",
        "lowest_hint",
        "mode",
        "notices",
        "outage_thresholds",
        "preset",
        "switched_off",
        "thresholds",
        "tool_hints",
    )

    enabled: bool | None
    mode: Mode
    window_size: int
    """Calls for which the post-compaction guard stays armed."""
    detectors: tuple[Detector, ...]
    """All detectors that there are, on or off, in the order in which they are asked."""
    switched_off: frozenset[str]
    """Names of the detectors that are switched off."""
    tool_hints: tuple[tuple[str, ToolHint], ...]
    notices: tuple[Notice, ...]

    def __init__(
        self,
        enabled: bool | None = None,
        *,
        preset: str = "standard",
        mode: str = Mode.ENFORCE,
        detectors: Mapping[str, bool | Mapping[str, Any]] | None = None,
        infrastructure_failures: Mapping[str, int] | None = None,
        tool_hints: Mapping[str, ToolHint] | None = None,
        plugins: Iterable[str | type[Detector] | Detector] = (),
        history_size: int | None = None,
        warning_threshold: int | None = None,
        critical_threshold: int | None = None,
        unknown_tool_threshold: int | None = None,
        global_circuit_breaker_threshold: int | None = None,
        window_size: int | None = None,
    ) -> None:
        given = {
            "history_size": history_size,
            "warning_threshold": warning_threshold,
            "critical_threshold": critical_threshold,
            "unknown_tool_threshold": unknown_tool_threshold,
            "global_circuit_breaker_threshold": global_circuit_breaker_threshold,
            "window_size": window_size,
        }
        numbers = NUMBERS[_one_of("preset", preset, tuple(NUMBERS))] | {
            name: _whole(name, value) for name, value in given.items() if value is not None
        }
        notices = [*_raise(numbers), *_out_of_reach(numbers)]
        there_are = (*DETECTORS, *_loaded(plugins))
        blocks = _blocks(detectors or {}, there_are)
        thresholds: dict[str, Thresholds] = {}
        shared = numbers["warning_threshold"], numbers["critical_threshold"]
        asked = [numbers[name] if given[name] is not None else None for name in OWN_THRESHOLDS]
        for detector in there_are:
            base = default_thresholds(detector, preset, shared)
            if detector.is_documented:
                base = overridden(base, (asked[0], asked[1]))
            thresholds[detector.name], raised = _own_thresholds(detector.name, blocks.get(detector.name, {}), base)
            notices += raised
        outages = _block(OUTAGE_BLOCK, infrastructure_failures or {}, has_switch=False)
        outage_thresholds, raised = _own_thresholds(OUTAGE_BLOCK, outages, OUTAGES[preset])
        hints = tuple((tool_hints or {}).items())
        self._fill(
            **numbers,
            enabled=enabled if enabled is None else _switch("enabled", enabled),
            preset=preset,
            mode=Mode(_one_of("mode", mode, tuple(Mode))),
            detectors=there_are,
            switched_off=frozenset(_switched_off(blocks, there_are)),
            thresholds=thresholds,
            outage_thresholds=outage_thresholds,
            lowest_hint=min(_warnings_of(hints), default=NEVER),
            tool_hints=hints,
            notices=(*notices, *raised),
        )

    def __hash__(self) -> int:
        return hash((self.enabled, self.preset, self.mode, self.switched_off, self.tool_hints))

    def is_on(self, detector: Detector) -> bool:
        """Return whether a detector is asked: all are on, and this one is not switched off."""
        return bool(self.enabled) and detector.name not in self.switched_off

    def observing(self) -> Settings:
        """
        Return the same settings in `observe` mode.

        Example:
            >>> str(Settings(enabled=True, warning_threshold=4).observing().mode)
            'observe'
        """
        settings = object.__new__(Settings)
        settings._fill(**{name: getattr(self, name) for name in self.__slots__} | {"mode": Mode.OBSERVE})
        return settings


def settings_from(given: Mapping[str, Any]) -> Settings:
    """
    Return the settings that a configuration sets.

    Args:
        given: The block `tools.loopDetection` with all names in snake case: `detectors`, `infrastructure_failures`,
            `post_compaction_guard` and `tool_hints` are mappings, as in the file.

    Raises:
        TypeError, ValueError: As `Settings` does.
    """
    given = dict(given)
    window = given.pop("post_compaction_guard", {})
    hints = {tool: ToolHint(**hint) for tool, hint in given.pop("tool_hints", {}).items()}
    return Settings(**given, **window, tool_hints=hints)


def _loaded(plugins: Iterable[str | type[Detector] | Detector]) -> tuple[Detector, ...]:
    if not plugins:
        return ()
    from wheelspin.core.plugins import load_plugins

    return load_plugins(plugins)


def _own_thresholds(name: str, block: dict[str, Any], shared: Thresholds) -> tuple[Thresholds, list[Notice]]:
    own = block.get("warning_threshold"), block.get("critical_threshold")
    warning, critical = overridden(shared, own)
    if own[1] in {None, critical}:
        return (warning, critical), []
    text = f"critical threshold raised from {own[1]} to {critical}: it must be above the warning threshold, {warning}"
    return (warning, critical), [Notice(name, text, raised=True)]


def _blocks(
    given: Mapping[str, bool | Mapping[str, Any]], there_are: tuple[Detector, ...]
) -> dict[str, dict[str, Any]]:
    """Return what is set for each detector that is named."""
    known = [detector.name for detector in there_are if detector.can_switch]
    for name in given:
        if name not in known:
            raise ValueError(f"there is no detector {name!r} to configure; there are {', '.join(known)}")
    return {name: _block(name, value, has_switch=True) for name, value in given.items()}


def _block(name: str, given: object, *, has_switch: bool) -> dict[str, Any]:
    """Return what is set in a block: a switch alone, or a mapping."""
    if isinstance(given, bool) and has_switch:
        return {"enabled": given}
    if not hasattr(given, "items"):
        raise TypeError(f"`{name}` must be True, False or a mapping, not {given!r}")
    block: dict[str, Any] = {}
    for key, value in given.items():
        if key in OWN_THRESHOLDS:
            block[key] = _whole(f"{name}.{key}", value)
        elif key == "enabled" and has_switch:
            block[key] = _switch(f"{name}.{key}", value)
        else:
            raise ValueError(f"`{name}` has no {key!r}; it has {', '.join(OWN_THRESHOLDS)}")
    return block


def _switched_off(blocks: dict[str, dict[str, Any]], there_are: tuple[Detector, ...]) -> Iterator[str]:
    """Yield the names of the detectors that are off, or that follow one that is off."""
    names = {detector.id: detector.name for detector in there_are}
    for detector in there_are:
        followed = names.get(detector.follows, "")
        switch = blocks.get(detector.name, {}).get("enabled", blocks.get(followed, {}).get("enabled", True))
        if not switch:
            yield detector.name


def _warnings_of(hints: tuple[tuple[str, ToolHint], ...]) -> Iterator[int]:
    """Yield the warning thresholds that tools have of their own, or that follow from their critical ones."""
    for _, hint in hints:
        if hint.warning_threshold is not None:
            yield hint.warning_threshold
        if hint.critical_threshold is not None:
            yield hint.critical_threshold - 1


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


def _raise(numbers: dict[str, int]) -> list[Notice]:
    """Raise what is in the wrong order, and say so (SPEC 2.2)."""
    notices = []
    for upper, lower, word in (
        ("critical_threshold", "warning_threshold", "warning"),
        ("global_circuit_breaker_threshold", "critical_threshold", "critical"),
    ):
        if numbers[upper] <= numbers[lower]:
            given, numbers[upper] = numbers[upper], numbers[lower] + 1
            text = f"raised from {given} to {numbers[upper]}: it must be above the {word} threshold, {numbers[lower]}"
            notices.append(Notice(upper, text, raised=True))
    if numbers["window_size"] < _SMALLEST_WINDOW:
        numbers["window_size"] = _SMALLEST_WINDOW
        notices.append(Notice("window_size", "raised from 1 to 2: one call cannot show a repeat", raised=True))
    return notices


_RULES = {
    "warning_threshold": "no pattern can be warned about",
    "critical_threshold": "no repeated call can be blocked",
    "unknown_tool_threshold": "no missing tool can be blocked",
    "global_circuit_breaker_threshold": "only a row of blocked calls can end a run",
}


def _out_of_reach(numbers: dict[str, int]) -> list[Notice]:
    """Name the thresholds that the history is too short for (SPEC 2.2)."""
    size = numbers["history_size"]
    return [
        Notice(name, f"{numbers[name]} can never be reached with {size} calls kept (history size): {rule}")
        for name, rule in _RULES.items()
        if numbers[name] > size
    ]
