"""
Helpers for tests, with any test runner or none.

`play` plays a trajectory in the trajectory notation. `strict` raises crashes that a guard would otherwise swallow.
`check_detector`, `check_store`, `check_reader` and `check_adapter` check your own extensions, and raise an
`AssertionError` if one breaks its contract.
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
