"""The settings of an agent as a detector sees them."""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar, Protocol

    from wheelspin.core.thresholds import Thresholds

    class _Detector(Protocol):
        name: ClassVar[str]
        default_thresholds: ClassVar[Mapping[str, Thresholds]]


__all__ = ["DetectorSettings", "default_thresholds"]


class DetectorSettings(Value):
    """What a detector may ask of the settings: thresholds, and how many calls are kept."""

    __slots__ = ()

    preset: str
    history_size: int
    """Calls kept per run."""
    warning_threshold: int
    critical_threshold: int
    unknown_tool_threshold: int
    global_circuit_breaker_threshold: int
    outage_thresholds: Thresholds
    """The thresholds for equal outages of a service."""
    lowest_hint: int
    """The lowest warning threshold that a tool has of its own."""
    thresholds: dict[str, Thresholds]
    """The thresholds of each detector, by name."""

    @property
    def wait_thresholds(self) -> Thresholds:
        """The thresholds for an outcome that is still pending: those of the detector of polls."""
        return self.thresholds["known_poll_no_progress"]

    def thresholds_of(self, detector: _Detector) -> Thresholds:
        """Return the warning and the critical threshold of a detector, also of one that the settings do not know."""
        found = self.thresholds.get(detector.name)
        return found or default_thresholds(detector, self.preset, (self.warning_threshold, self.critical_threshold))


def default_thresholds(detector: _Detector, preset: str, shared: Thresholds) -> Thresholds:
    """Return the thresholds of a detector that is given none: those of its class for the preset, or the shared ones."""
    defaults = detector.default_thresholds
    return defaults.get(preset) or defaults.get("standard") or shared
