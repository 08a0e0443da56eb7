"""Check that an agent of a framework behaves under an adapter as the guard alone decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from wheelspin.core.events import Action, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.testing.expect import expect

__all__ = ["SCRIPTS", "AdapterRun", "Script", "ScriptedCall", "ScriptedTool", "check_adapter"]


class ScriptedCall(NamedTuple):
    """One call that a scripted model asks for."""

    id: str
    tool: str
    """`read` or `list`, which both take one string, `path`; or `missing`, a tool that does not exist."""
    path: str
    result: str
    """The tool's result, or if it fails, the message of the `RuntimeError` that it raises."""
    fails: bool = False

    @property
    def exists(self) -> bool:
        """Whether the tool exists."""
        return self.tool != "missing"


Script = list[list[ScriptedCall]]
"""The calls of each message of the model. After the last message the model gives a final answer."""


class ScriptedTool:
    """
    The implementation of both `read` and `list` in a script.

    Args:
        script: The script.
        ran: Receives the `path` of each call that runs.

    Example:
        >>> tool = ScriptedTool([[ScriptedCall("c1", "read", "/a", "text of /a")]], ran := [])
        >>> tool("/a"), ran
        ('text of /a', ['/a'])
    """

    def __init__(self, script: Script, ran: list[str]) -> None:
        self._calls = {call.path: call for message in script for call in message}
        self._ran = ran

    def __call__(self, path: str) -> str:
        """
        Return the result of a call.

        Raises:
            RuntimeError: The call fails in the script.
        """
        call = self._calls[path]
        self._ran.append(path)
        if call.fails:
            raise RuntimeError(call.result)
        return call.result


class AdapterRun(NamedTuple):
    """How an agent of a framework played a script."""

    ran: list[str]
    """The `path` of each call that ran, in any order within a message."""
    shown: dict[str, list[str]]
    """By call id, the texts of the call's results as the model received them, including advice."""
    ended: str | None
    """The code of the verdict that ended the run, or `None` if the model gave its final answer."""


_ADVICE = "Loop detected"


class _Expected(NamedTuple):
    ran: list[str]
    verdicts: dict[str, Verdict]
    ended: str | None


def _repeated(times: int, *calls: tuple[str, str], parallel: bool = False, **more: bool) -> Script:
    scripted = [
        ScriptedCall(f"call_{number}_{place}", tool, path, f"text of {path}", **more)
        for number in range(times)
        for place, (tool, path) in enumerate(calls)
    ]
    size = len(calls) if parallel else 1
    return [scripted[start : start + size] for start in range(0, len(scripted), size)]


SCRIPTS: dict[str, Script] = {
    "no loop": [[ScriptedCall(f"c{number}", "read", f"/{number}", f"text {number}")] for number in range(25)],
    "a warned loop": _repeated(12, ("read", "/a")),
    "a blocked loop": _repeated(23, ("read", "/a")),
    "an aborted loop": _repeated(40, ("read", "/a")),
    "a blocked loop, then another call": [
        *_repeated(22, ("read", "/a")),
        [ScriptedCall("other", "list", "/b", "found")],
    ],
    "two alternating calls": _repeated(12, ("read", "/a"), ("list", "/b")),
    "two parallel calls": _repeated(12, ("read", "/a"), ("list", "/b"), parallel=True),
    "an unknown tool": _repeated(12, ("missing", "/a")),
    "a failing tool": _repeated(12, ("read", "/a"), fails=True),
}
"""The scripts that every adapter is checked with, by name."""


def check_adapter(
    run: Callable[[Script, Guard], AdapterRun], *, without: Iterable[str] = (), guard: Callable[[], Guard] = Guard
) -> None:
    """
    Check that an agent of a framework plays each script as the guard alone decides.

    Each call that the guard allows runs once, and no other call runs. Each call gets one result, which contains the
    guard's advice if there is any and is unchanged otherwise. The run ends at the call and with the code that the guard
    decides.

    Args:
        run: Runs an agent of the framework with a scripted model under a guard.
        without: Names of the `SCRIPTS` that the framework cannot play. State the reason next to them.
        guard: Creates the guard of a run.

    Raises:
        AssertionError: The agent did something else. The message says what, where, and what was expected.
        ValueError: `without` names a script that does not exist.
    """
    left_out = set(without)
    unknown = left_out - SCRIPTS.keys()
    if unknown:
        raise ValueError(f"unknown script {min(unknown)!r} in `without`; the scripts are {', '.join(SCRIPTS)}")
    for name, script in SCRIPTS.items():
        if name not in left_out:
            compare = _compare_parallel if any(len(message) > 1 for message in script) else _compare
            compare(name, script, run(script, guard()), guard)


def _expected(script: Script, guard: Guard, *, parallel: bool = False) -> _Expected:
    """Play a script under the guard alone: the calls of a message one by one, or all of them before any outcome."""
    ran: list[str] = []
    verdicts: dict[str, Verdict] = {}
    for number, message in enumerate(script):
        turn = [
            (call, ToolCall(call.tool, {"path": call.path}, id=call.id, turn_id=f"m{number}", run_id="run"))
            for call in message
        ]
        for part in [turn] if parallel else [[pair] for pair in turn]:
            for call, tool_call in part:
                verdict = verdicts[call.id] = guard.before(tool_call)
                if call.exists and not verdict.stops:
                    ran.append(call.path)
            for call, tool_call in part:
                if not verdicts[call.id].stops:
                    after = guard.after(tool_call, _outcome(call))
                    if after.stops:
                        verdicts[call.id] = after
        ending = next((verdicts[call.id] for call in message if verdicts[call.id].action is Action.ABORT), None)
        if ending is not None:
            return _Expected(ran, verdicts, ending.code)
    return _Expected(ran, verdicts, None)


def _outcome(call: ScriptedCall) -> Outcome:
    if not call.exists:
        return Outcome.unknown_tool(f"unknown tool {call.tool}")
    return Outcome.error(call.result) if call.fails else Outcome.result(call.result)


def _compare(name: str, script: Script, actual: AdapterRun, guard: Callable[[], Guard]) -> None:
    """Compare a run whose calls came one by one: it must match the guard's decisions exactly."""
    expected = _expected(script, guard())
    expect(actual.ended == expected.ended, f"{name}: the run ended with {actual.ended}, expected {expected.ended}")
    expect(
        sorted(actual.ran) == sorted(expected.ran),
        f"{name}: {len(actual.ran)} calls ran, expected {len(expected.ran)}: {actual.ran} instead of {expected.ran}",
    )
    for call in (call for message in script for call in message):
        verdict = expected.verdicts.get(call.id)
        if verdict is None or (verdict.action is Action.ABORT and not actual.shown.get(call.id)):
            continue
        where = f"{name}, call {call.id}"
        text = _only_result(actual, call, where)
        if verdict.advice:
            expect(
                verdict.advice in text, f"{where}: the result {text!r} does not contain the advice {verdict.advice!r}"
            )
        else:
            expect(_ADVICE not in text, f"{where}: the result {text!r} contains advice, expected none")
        if call.exists and not verdict.stops:
            expect(call.result in text, f"{where}: the result {text!r} does not contain {call.result!r}")


def _compare_parallel(name: str, script: Script, actual: AdapterRun, guard: Callable[[], Guard]) -> None:
    """
    Compare a run with several calls in a message, which a framework may run in any order or in parallel.

    The order changes by one or two how many calls run before the first is blocked. In any order, each call has one
    result, which is the tool's if it ran and advice if it did not, and the model is warned of the loop.
    """
    orders = [len(_expected(script, guard(), parallel=parallel).ran) for parallel in (False, True)]
    fewest, most = min(orders), max(orders)
    expect(actual.ended is None, f"{name}: the run ended with {actual.ended}, expected None")
    expect(
        fewest <= len(actual.ran) <= most,
        f"{name}: {len(actual.ran)} calls ran, expected {fewest} to {most}: {actual.ran}",
    )
    answered: list[str] = []
    warned = 0
    for call in (call for message in script for call in message):
        where = f"{name}, call {call.id}"
        text = _only_result(actual, call, where)
        warned += _ADVICE in text
        if call.result in text:
            answered.append(call.path)
        else:
            expect(_ADVICE in text, f"{where}: the result {text!r} contains neither {call.result!r} nor advice")
    expect(sorted(answered) == sorted(actual.ran), f"{name}: {actual.ran} ran, but the results are those of {answered}")
    expect(warned > 0, f"{name}: the model is never warned of the loop, expected at least one result with advice")


def _only_result(actual: AdapterRun, call: ScriptedCall, where: str) -> str:
    texts = actual.shown.get(call.id, [])
    expect(len(texts) == 1, f"{where}: the call has {len(texts)} results, expected one")
    return texts[0]
