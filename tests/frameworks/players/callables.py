"""Play a script in a hand-written loop."""

from __future__ import annotations

from collections.abc import Callable

from wheelspin import Guard
from wheelspin.adapters.callables import Run
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedCall

__all__ = ["does", "loop", "play"]


def does(call: ScriptedCall, ran: list[str]) -> str:
    """Run a scripted call."""
    if not call.exists:
        return f"unknown tool: {call.tool}"
    ran.append(call.path)
    if call.fails:
        raise RuntimeError(call.result)
    return call.result


def loop(script: Script, make: Callable[[ScriptedCall, list[str]], str]) -> AdapterRun:
    """Play a script in a hand-written loop that shows a tool's exception to the model, including its notes."""
    ran: list[str] = []
    shown: dict[str, list[str]] = {}
    for call in (call for message in script for call in message):
        try:
            text = make(call, ran)
        except ToolLoopError as ended:
            return AdapterRun(ran, shown, ended.code)
        except RuntimeError as error:
            text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        shown.setdefault(call.id, []).append(text)
    return AdapterRun(ran, shown, None)


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in a `Run`."""
    if guard is None:
        return loop(script, does)
    task = Run(guard)

    def make(call: ScriptedCall, ran: list[str]) -> str:
        if not call.exists:
            return task.missing(call.tool, {"path": call.path}, id=call.id)
        text: str = task.call(call.tool, {"path": call.path}, lambda path: does(call, ran), id=call.id)
        return text

    return loop(script, make)
