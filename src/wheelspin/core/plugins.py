"""Detectors of the user's own: loaded from the modules that a configuration names."""

from __future__ import annotations

from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Detector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

__all__ = ["PluginError", "load_plugins"]


class PluginError(ValueError):
    """
    A plugin cannot be used.

    Attributes:
        plugin: Name of the module or of the detector.
        problem: What is wrong with it.
    """

    def __init__(self, plugin: str, problem: str) -> None:
        self.plugin = plugin
        self.problem = problem
        super().__init__(f"plugin {plugin!r}: {problem}")


def load_plugins(plugins: Iterable[str | type[Detector] | Detector]) -> tuple[Detector, ...]:
    """
    Return the detectors that plugins define, each once, in their order.

    Args:
        plugins: Names of modules, whose `DETECTORS` counts, or else every `Detector` class that the module defines; or
            detectors themselves, as classes or objects.

    Raises:
        PluginError: A module cannot be imported, defines no detector, or two detectors have the same id.

    Example:
        >>> load_plugins([])
        ()
    """
    found: dict[str, Detector] = {}
    for plugin in plugins:
        for detector in _detectors_of(plugin):
            known = found.setdefault(detector.id, detector)
            if known != detector or any(detector.id == built_in.id for built_in in DETECTORS):
                raise PluginError(_name_of(plugin), f"there is another detector with the id {detector.id!r}")
    return tuple(found.values())


def _detectors_of(plugin: object) -> list[Detector]:
    if isinstance(plugin, str):
        return _detectors_in(plugin)
    made = plugin() if isinstance(plugin, type) and issubclass(plugin, Detector) else plugin
    if not isinstance(made, Detector):
        raise PluginError(_name_of(plugin), "it is not a detector, nor the name of a module")
    return [made]


def _detectors_in(name: str) -> list[Detector]:
    from importlib import import_module

    try:
        module = import_module(name)
    except Exception as problem:
        why = f"it cannot be imported ({type(problem).__name__}: {problem})"
        raise PluginError(name, why) from problem
    detectors = [detector for part in _listed(module) for detector in _detectors_of(part)]
    if not detectors:
        raise PluginError(name, "it defines no detector")
    return detectors


def _listed(module: ModuleType) -> list[object]:
    """Return what a module offers: what it lists, or else the classes that it defines."""
    listed = getattr(module, "DETECTORS", None)
    if listed is not None:
        return list(listed)
    return [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Detector) and kind.__module__ == module.__name__
    ]


def _name_of(plugin: object) -> str:
    return plugin if isinstance(plugin, str) else getattr(plugin, "__qualname__", type(plugin).__qualname__)
