"""
Wheelspin: traction control for tool-calling agents.

It watches every tool call of an LLM agent, warns the model when it repeats itself without progress, blocks the call if
that continues, ends the run if nothing else helps, and catches the loop that survives a context compaction.

Names are imported when they are first used, so importing the package itself is cheap.
"""

# A launcher that 0.1 installed imports `wheelspin.hook_process`, and is not rewritten until the next install.
__path__.append(f"{__path__[0]}/hooks/launchers_0_1")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin import errors
    from wheelspin.config import Config, load_config
    from wheelspin.core.detectors.base import Detector
    from wheelspin.core.events import Action, Finding, Level, Outcome, OutcomeKind, ToolCall, Verdict
    from wheelspin.core.guard import Guard
    from wheelspin.core.hints import ToolHint
    from wheelspin.core.known_tools import TOOLS
    from wheelspin.core.loop_events import EventKind, LoopEvent
    from wheelspin.core.outcome_status import OutcomeStatus
    from wheelspin.core.record import RunRecord
    from wheelspin.core.settings import Settings
    from wheelspin.core.tools import ToolTable
    from wheelspin.replay import Replay

    __version__: str

__all__ = [
    "TOOLS",
    "Action",
    "Config",
    "Detector",
    "EventKind",
    "Finding",
    "Guard",
    "Level",
    "LoopEvent",
    "Outcome",
    "OutcomeKind",
    "OutcomeStatus",
    "Replay",
    "RunRecord",
    "Settings",
    "ToolCall",
    "ToolHint",
    "ToolTable",
    "Verdict",
    "__version__",
    "errors",
    "load_config",
]

_HOMES = {
    "Action": "wheelspin.core.events",
    "Config": "wheelspin.config",
    "Detector": "wheelspin.core.detectors.base",
    "EventKind": "wheelspin.core.loop_events",
    "Finding": "wheelspin.core.events",
    "Guard": "wheelspin.core.guard",
    "Level": "wheelspin.core.events",
    "LoopEvent": "wheelspin.core.loop_events",
    "Outcome": "wheelspin.core.events",
    "OutcomeKind": "wheelspin.core.events",
    "OutcomeStatus": "wheelspin.core.outcome_status",
    "Replay": "wheelspin.replay",
    "RunRecord": "wheelspin.core.record",
    "Settings": "wheelspin.core.settings",
    "TOOLS": "wheelspin.core.known_tools",
    "ToolCall": "wheelspin.core.events",
    "ToolHint": "wheelspin.core.hints",
    "ToolTable": "wheelspin.core.tools",
    "Verdict": "wheelspin.core.events",
    "load_config": "wheelspin.config",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        found: object = version("wheelspin")
    elif name in _HOMES:
        # Loading `importlib` takes longer than loading a module, and every hook process would pay for it.
        found = getattr(__import__(_HOMES[name], fromlist=[name]), name)
    elif name == "errors":
        found = __import__("wheelspin.errors", fromlist=["WheelspinError"])
    else:
        raise AttributeError(f"module 'wheelspin' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
