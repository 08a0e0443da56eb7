"""
For tests, with any test runner or none: play trajectories, raise crashes of the guard, check parts of one's own.

`play` plays the trajectory notation. `strict` raises what a guard would swallow. `check_detector`, `check_store`,
`check_reader` and `check_adapter` raise an `AssertionError` where a part does not keep its contract.
"""

from __future__ import annotations

from wheelspin.notation import Played, play
from wheelspin.testing.adapters import AdapterRun, Script, ScriptedCall, ScriptedTool, check_adapter
from wheelspin.testing.crashes import strict
from wheelspin.testing.detectors import Case, check_detector
from wheelspin.testing.readers import check_reader
from wheelspin.testing.stores import check_store

__all__ = [
    "AdapterRun",
    "Case",
    "Played",
    "Script",
    "ScriptedCall",
    "ScriptedTool",
    "check_adapter",
    "check_detector",
    "check_reader",
    "check_store",
    "play",
    "strict",
]
