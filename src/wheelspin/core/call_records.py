"""From a call to a step: under what name and signature it is compared, what it belongs to, what it resembles."""

from __future__ import annotations

from wheelspin.core.fingerprint import digest
from wheelspin.core.guard_state import plain_id
from wheelspin.core.known_tools import read_outcome
from wheelspin.core.outcome_status import SUCCESS
from wheelspin.core.similarity import is_telling, shape_of
from wheelspin.core.unknown_tool import says_unknown_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step
    from wheelspin.core.events import Outcome, ToolCall
    from wheelspin.core.state import Run
    from wheelspin.core.tools import Tool, ToolTable

__all__ = ["bond_of", "note_shape", "rewrite", "settle", "sign"]


def sign(call: ToolCall, tools: ToolTable) -> tuple[Tool, bytes]:
    """Give a call's tool and its signature; worked out once per call."""
    signed = call.signed
    if signed is None or signed[0] is not tools:
        arguments = {} if call.arguments is None else call.arguments
        tool = tools.look_up(call.tool, arguments)
        signature = digest(tool.prefix, tool.identify(arguments) if tool.picks else arguments)[0]
        signed = call.signed = tools, (tool, signature)
    return signed[1]


def note_shape(step: Step, call: ToolCall, tool: Tool, newest: Step) -> None:
    """Give a call its shape, where the one before it has one to compare it with."""
    if newest.nature == SUCCESS and newest.tool == tool.name:
        step.kin = shape_of(tool, call.arguments)


def bond_of(call: ToolCall, run: Run) -> int:
    """Tell how a call belongs to the one before it (`History.append`), and remember its message."""
    turn = call.turn_id if call.turn_id is None else plain_id(call.turn_id)
    before, run.turn = run.turn, turn
    if turn is not None:
        return 2 if turn == before else 0
    newest = run.history.newest
    return 1 if newest is not None and newest.kind == "open" else 0


def settle(step: Step, call: ToolCall, outcome: Outcome, tool: Tool, run: Run) -> bool:
    """Give a step of the run's history its outcome; `True` where an earlier outcome of the call was another one."""
    kind = outcome.kind
    if kind == "error" and says_unknown_tool((call.tool, tool.name), outcome.value):
        kind = "unknown_tool"
    print_, nature, kin = read_outcome(tool, outcome, call.arguments)
    if nature == SUCCESS:
        before = run.history.before(step)
        if before is not None and before.outcome == print_ and _resembles(before, step) and is_telling(tool, outcome):
            kin = shape_of(tool, call.arguments)
    return run.history.resolve(step, kind, print_, nature, kin)


def _resembles(before: Step, step: Step) -> bool:
    return before.outcome is not None and before.tool == step.tool and before.signature != step.signature


def rewrite(step: Step, signature: bytes, run: Run) -> None:
    """Take in that the host ran a call with other arguments (SPEC 3), and expect the same the next time."""
    asked = [asked for asked, ran in run.rewritten.items() if ran == step.signature] or [step.signature]
    run.rewritten.pop(signature, None)
    run.rewritten.update({before: signature for before in asked if before != signature})
    if len(run.rewritten) > run.history.size:
        del run.rewritten[next(iter(run.rewritten))]
    run.history.sign(step, signature)
