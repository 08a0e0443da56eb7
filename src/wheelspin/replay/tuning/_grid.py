"""The candidates: the two presets, and small variations of them that a user would try by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from wheelspin.config import Config, config_from
from wheelspin.core.presets import NUMBERS
from wheelspin.core.settings import Settings

__all__ = ["STANDARD", "Candidate", "grid"]

STANDARD = "standard"
"""Name of the candidate that the others are compared with."""
_SHARED = ("warning_threshold", "critical_threshold", "global_circuit_breaker_threshold")
_EARLY = "early"
_REPEAT = "immediate_repeat"
_STAGNATION = "stagnation"
_ONE_LINE = 4
"""Nesting depth of the blocks of detectors, each of which is written on one line."""


class Candidate(NamedTuple):
    """A setting to try."""

    name: str
    block: dict[str, Any]
    """Contents of `tools.loopDetection` in a configuration file."""

    def config(self) -> Config:
        """Return the configuration."""
        return config_from(self._document(), self.name)

    def text(self, comments: Iterable[str]) -> str:
        """
        Return the text of a configuration file.

        Args:
            comments: The comment lines at the top.
        """
        return "".join(f"// {line}\n" for line in comments) + _json5(self._document()) + "\n"

    def _document(self) -> dict[str, Any]:
        return {"tools": {"loopDetection": {"enabled": True, **self.block}}}


def grid(plugins: Iterable[str] = ()) -> tuple[Candidate, ...]:
    """
    Return the candidates, the most lenient first.

    Args:
        plugins: Modules with detectors that are asked in each of them, beside the built-in ones.

    Example:
        >>> [candidate.name for candidate in grid()][:3]
        ['standard-15/30', 'standard', 'standard-5/10']
    """
    stricter = [_early(*steps) for steps in ((-1, 0), (0, -1), (-1, -1))]
    more_lenient = [_early(*steps) for steps in ((1, 1), (1, 0), (0, 1))]
    early = [*more_lenient, _early(0, 0), *stricter]
    candidates = (_standard(3), Candidate(STANDARD, {"preset": STANDARD}), _standard(1), *early)
    named = {"plugins": list(plugins)} if plugins else {}
    return tuple(Candidate(found.name, {**found.block, **named}) for found in candidates if found is not None)


def _standard(halves: int) -> Candidate:
    """Return `standard` with its thresholds multiplied by halves; the history grows with larger thresholds."""
    numbers = NUMBERS[STANDARD]
    names = _SHARED if halves == 1 else ("history_size", *_SHARED)
    block = {to_camel(name): numbers[name] * halves // 2 for name in names}
    pair = f"{block['warningThreshold']}/{block['criticalThreshold']}"
    return Candidate(f"{STANDARD}-{pair}", {"preset": STANDARD, **block})


def _early(repeat: int, stagnation: int) -> Candidate | None:
    """Return `early` with the thresholds of two detectors raised by steps; `None` if one would fall below 1."""
    steps = {name: step for name, step in ((_REPEAT, repeat), (_STAGNATION, stagnation)) if step}
    block: dict[str, Any] = {"preset": _EARLY}
    name = _EARLY
    for detector, step in steps.items():
        warning, critical = (threshold + step for threshold in Settings(preset=_EARLY).thresholds[detector])
        if warning < 1:
            return None
        own = {"warningThreshold": warning, "criticalThreshold": critical}
        block.setdefault("detectors", {})[to_camel(detector)] = own
        name = f"{_EARLY}-{detector.rpartition('_')[2]}-{warning}/{critical}"
    if len(steps) > 1:
        name = f"{_EARLY}-{'lax' if repeat > 0 else 'strict'}"
    return Candidate(name, block)


def _json5(value: Any, depth: int = 0) -> str:
    """Return a value as people write JSON5: keys without quotes, and each detector on one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    fields = [f"{key}: {_json5(field, depth + 1)}" for key, field in value.items()]
    if depth >= _ONE_LINE:
        return f"{{ {', '.join(fields)} }}"
    indent = "  " * depth
    return "{\n" + "".join(f"{indent}  {field},\n" for field in fields) + f"{indent}}}"
