"""A check that an adapter says in its framework what the bare guard says: live equals replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from wheelspin.core.events import Action, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.testing.expect import expect

__all__ = ["SCRIPTS", "AdapterRun", "Script", "ScriptedCall", "ScriptedTool", "check_adapter"]


class ScriptedCall(NamedTuple):
    """One call that the scripted model of a framework asks for."""

    id: str
    tool: str
    """`read` or `list`; both take one text, `path`. `missing` is a tool that is not there."""
    path: str
    result: str
    """What the tool gives; of a tool that fails, the message of the `RuntimeError` that it raises."""
    fails: bool = False

    @property
    def exists(self) -> bool:
        """Whether there is such a tool."""
        return self.tool != "missing"


Script = list[list[ScriptedCall]]
"""What the model says: the calls of each of its messages, and after the last of them a final answer."""


class ScriptedTool:
    """
    What `read` and `list` do in a script, whichever is called.

    Args:
        script: The script.
        ran: Takes the `path` of each call that runs.

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
        Give the result of a call.

        Raises:
            RuntimeError: The script says that it fails.
        """
        call = self._calls[path]
        self._ran.append(path)
        if call.fails:
            raise RuntimeError(call.result)
        return call.result


class AdapterRun(NamedTuple):
    """What a framework did with a script."""

    ran: list[str]
    """The `path` of each call whose tool ran, in any order within a message."""
    shown: dict[str, list[str]]
    """By the id of a call, the texts of its results that the model was shown, those of warnings included."""
    ended: str | None
    """The code with which the run was ended; `None` where the model gave its final answer."""


_ADVICE = "Loop detected"


class _Expected(NamedTuple):
    ran: list[str]
    verdicts: dict[str, Verdict]
    ended: str | None


def _repeated(times: int, *calls: tuple[str, str], together: bool = False, **more: bool) -> Script:
    made = [
        ScriptedCall(f"call_{number}_{place}", tool, path, f"text of {path}", **more)
        for number in range(times)
        for place, (tool, path) in enumerate(calls)
    ]
    size = len(calls) if together else 1
    return [made[start : start + size] for start in range(0, len(made), size)]


SCRIPTS: dict[str, Script] = {
    "work": [[ScriptedCall(f"c{number}", "read", f"/{number}", f"text {number}")] for number in range(25)],
    "a warned loop": _repeated(12, ("read", "/a")),
    "a blocked loop": _repeated(23, ("read", "/a")),
    "a loop that is ended": _repeated(40, ("read", "/a")),
    "a blocked loop, and another way": [*_repeated(22, ("read", "/a")), [ScriptedCall("other", "list", "/b", "found")]],
    "two calls in turn": _repeated(12, ("read", "/a"), ("list", "/b")),
    "two calls in one message": _repeated(12, ("read", "/a"), ("list", "/b"), together=True),
    "a tool that is not there": _repeated(12, ("missing", "/a")),
    "a tool that fails": _repeated(12, ("read", "/a"), fails=True),
}
"""The scripts that every adapter is checked with, by what they are."""


def check_adapter(
    run: Callable[[Script, Guard], AdapterRun], *, without: Iterable[str] = (), guard: Callable[[], Guard] = Guard
) -> None:
    """
    Check an adapter: each script gives in the framework what it gives under the bare guard.

    What must run runs, once; what must not does not; each call of the script gets one result, with the advice in it
    where the guard gives one, and unchanged where it gives none; the run ends where and as the guard says.

    Args:
        run: Runs an agent of the framework with a scripted model under a guard.
        without: The scripts, by their keys in `SCRIPTS`, that the framework cannot play: say why where you name them.
        guard: Makes the guard of a run.

    Raises:
        AssertionError: The framework did something else; the message says what, where, and what was expected.
    """
    left_out = set(without)
    unknown = left_out - SCRIPTS.keys()
    if unknown:
        raise ValueError(f"there is no script {min(unknown)!r}: it is one of {', '.join(SCRIPTS)}")
    for name, script in SCRIPTS.items():
        if name not in left_out:
            compare = _compare_any_order if any(len(message) > 1 for message in script) else _compare
            compare(name, script, run(script, guard()), guard)


def _expected(script: Script, guard: Guard, *, together: bool = False) -> _Expected:
    """Play a script under the bare guard; the calls of one message one after the other, or all before any outcome."""
    ran: list[str] = []
    verdicts: dict[str, Verdict] = {}
    for number, message in enumerate(script):
        turn = [
            (call, ToolCall(call.tool, {"path": call.path}, id=call.id, turn_id=f"m{number}", run_id="run"))
            for call in message
        ]
        for part in [turn] if together else [[pair] for pair in turn]:
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
        return Outcome.unknown_tool(f"there is no tool {call.tool}")
    return Outcome.error(call.result) if call.fails else Outcome.result(call.result)


def _compare(name: str, script: Script, done: AdapterRun, guard: Callable[[], Guard]) -> None:
    """Compare a run whose calls came one by one: everything must be as the bare guard says."""
    expected = _expected(script, guard())
    expect(done.ended == expected.ended, f"{name}: the run ended with {done.ended}, expected {expected.ended}")
    expect(
        sorted(done.ran) == sorted(expected.ran),
        f"{name}: {len(done.ran)} calls ran, expected {len(expected.ran)}: {done.ran} instead of {expected.ran}",
    )
    for call in (call for message in script for call in message):
        verdict = expected.verdicts.get(call.id)
        if verdict is None or (verdict.action is Action.ABORT and not done.shown.get(call.id)):
            continue
        where = f"{name}, call {call.id}"
        text = _only(done, call, where)
        if verdict.advice:
            expect(verdict.advice in text, f"{where}: {verdict.advice!r} is not in its result {text!r}")
        else:
            expect(_ADVICE not in text, f"{where}: an advice is in its result {text!r}, expected none")
        if call.exists and not verdict.stops:
            expect(call.result in text, f"{where}: {call.result!r} is not in its result {text!r}")


def _compare_any_order(name: str, script: Script, done: AdapterRun, guard: Callable[[], Guard]) -> None:
    """
    Compare a run with several calls in a message, which a framework may run in any order, or at once.

    How many are run before the first is blocked depends on it, by one or two. What must hold in any order: each call
    has one result, which is the tool's where it ran and the advice where it did not, and the model is told of the loop.
    """
    orders = [len(_expected(script, guard(), together=together).ran) for together in (False, True)]
    fewest, most = min(orders), max(orders)
    expect(done.ended is None, f"{name}: the run ended with {done.ended}, expected None")
    expect(
        fewest <= len(done.ran) <= most, f"{name}: {len(done.ran)} calls ran, expected {fewest} to {most}: {done.ran}"
    )
    answered: list[str] = []
    told = 0
    for call in (call for message in script for call in message):
        where = f"{name}, call {call.id}"
        text = _only(done, call, where)
        told += _ADVICE in text
        if call.result in text:
            answered.append(call.path)
        else:
            expect(_ADVICE in text, f"{where}: neither {call.result!r} nor an advice is in its result {text!r}")
    expect(sorted(answered) == sorted(done.ran), f"{name}: {done.ran} ran, but the results are those of {answered}")
    expect(told > 0, f"{name}: the model is never told of the loop")


def _only(done: AdapterRun, call: ScriptedCall, where: str) -> str:
    texts = done.shown.get(call.id, [])
    expect(len(texts) == 1, f"{where}: it has {len(texts)} results, expected one")
    return texts[0]
