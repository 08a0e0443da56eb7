"""A short notation for sequences of calls and outcomes, used in test cases, documentation and bug reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wheelspin.core.detectors.base import Detector
from wheelspin.core.events import Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.settings import Settings
from wheelspin.errors import NotationError

__all__ = ["NOTATION", "Played", "play"]

NOTATION = """\
A trajectory is a sequence of moves. Spaces between moves are optional.

Calls: a capital letter is one tool with one set of arguments, followed by the outcome.
  A1          call A returns result 1; equal numbers are equal results
  A+          call A returns a result that it has never returned before
  A!  A!2     call A fails; it fails in another way (equal numbers are equal failures)
  A-          call A is refused, by the user or by a policy
  A%          call A fails because a service is down
  A.          call A reports that its work is still running
  A           call A, whose outcome stays unknown
  a1  a!      a call of A's tool with arguments that it was never called with before

Kinds of tools: a sign before the letter.
  ~A1         A is a polling tool, which is meant to be called repeatedly
  ?A          there is no tool A
  ?a          there is no such tool; the model makes up a new name each time

Groups and repetition:
  A1*20       the same call 20 times
  (A1 B1)*10  the same sequence 10 times
  [A1 B1]     parallel calls: one message of the model makes both

Between calls:
  |           the context is compacted
  |!          a compaction fails
  /           a new run starts

Examples:
  A1*12           the same call with the same result, 12 times in a row
  (A1 B1)*6       two calls that alternate without progress
  (A! b1)*10      a call that keeps failing in the same way, with various other calls in between
  A1*12 | A1*3    a loop that continues after a compaction
"""

_TOKEN = re.compile(
    r"\s*(?:(?P<call>(?P<mark>[?~]?)(?P<name>[A-Za-z])(?P<outcome>\+|-|%|\.|![0-9]*|[0-9]+)?)"
    r"|(?P<compaction>\|!?)|(?P<run>/)|(?P<open>[(\[])|(?P<close>[)\]]))(?:\*(?P<times>[0-9]+))?"
)
_MAX_MOVES = 100_000
_PAIRS = {"(": ")", "[": "]"}


class _Call(NamedTuple):
    token: str
    name: str
    outcome: str
    mark: str


class _Batch(NamedTuple):
    calls: list[_Call]


class _Sign(NamedTuple):
    token: str


_Move = _Call | _Batch | _Sign


class Played(NamedTuple):
    """One move of a trajectory, and the guard's verdicts on it."""

    token: str
    """The move as it is written in the trajectory."""
    call: int | None
    """Number of the call, from 1 over the whole trajectory; `None` for a compaction or a new run."""
    verdict: Verdict | None
    """The verdict on the call before it ran."""
    after: Verdict | None
    """The verdict on its outcome; `None` if it did not run."""


def play(
    trajectory: str, settings: Settings | None = None, *, detectors: Iterable[Detector] | None = None
) -> list[Played]:
    """
    Play a trajectory through a guard.

    Args:
        trajectory: The moves, in the notation that `NOTATION` describes.
        settings: The settings of the guard; by default the detectors are on, with the documented thresholds.
        detectors: The detectors, in the order in which they are asked.

    Returns:
        The moves, each with the guard's verdicts.

    Raises:
        NotationError: The trajectory cannot be parsed; the message says where.

    Example:
        >>> [move.verdict.action.value for move in play("A1*21") if move.verdict.finding]
        ['warn', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'block']
    """
    moves = list(_read(trajectory))
    polls = {call.name.upper() for move in moves for call in _calls(move) if call.mark == "~"}
    return list(_Player(Guard(settings, tools=TOOLS.extended(polls=polls), detectors=detectors)).play(moves))


def _calls(move: _Move) -> list[_Call]:
    match move:
        case _Batch():
            return move.calls
        case _Call():
            return [move]
        case _Sign():
            return []


def _read(text: str) -> Iterator[_Move]:
    """Yield the moves of a trajectory, with groups and repetitions written out."""
    groups: list[tuple[str, int, list[_Move]]] = [("", 0, [])]
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            raise NotationError(text, at, f"{text[at]!r} has no meaning")
        moves = groups[-1][2]
        times = _times(match["times"])
        if match["open"]:
            if match["times"]:
                raise NotationError(text, match.start("times"), "a repetition belongs after the closing bracket")
            groups.append((match["open"], match.start("open"), []))
        elif match["close"]:
            _close(groups, match["close"], times, text, match.start("close"))
        elif match["call"]:
            moves += [_Call(match["call"], match["name"], match["outcome"] or "", match["mark"])] * times
        else:
            moves += [_Sign(match["compaction"] or "/")] * times
        if len(groups[-1][2]) > _MAX_MOVES:
            raise NotationError(text, position, f"more than {_MAX_MOVES} moves")
        position = match.end()
    if len(groups) > 1:
        raise NotationError(text, groups[-1][1], f"{groups[-1][0]!r} is never closed")
    if not groups[0][2]:
        raise NotationError(text, 0, "expected a move")
    yield from groups[0][2]


def _times(digits: str | None) -> int:
    """Return the number of repetitions; a number with too many digits becomes one that is just too large."""
    if digits is None:
        return 1
    return int(digits) if len(digits) <= len(str(_MAX_MOVES)) else _MAX_MOVES + 1


def _close(groups: list[tuple[str, int, list[_Move]]], bracket: str, times: int, text: str, position: int) -> None:
    opened, _, inside = groups.pop() if len(groups) > 1 else ("", 0, [])
    if _PAIRS.get(opened) != bracket:
        raise NotationError(text, position, f"{bracket!r} has no opening bracket")
    if opened == "[":
        inside = [_Batch([call for move in inside for call in _calls(move)])]
    if len(inside) * times > _MAX_MOVES:
        raise NotationError(text, position, f"more than {_MAX_MOVES} moves")
    groups[-1][2].extend(inside * times)


class _Player:
    """Feeds the moves of a trajectory to a guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._calls = 0
        self._messages = 0
        self._new_results = 0

    def play(self, moves: list[_Move]) -> Iterator[Played]:
        for move in moves:
            match move:
                case _Sign(token="/"):
                    self._guard.user_message()
                    yield Played("/", None, None, None)
                case _Sign():
                    self._guard.compacted(ok=move.token == "|")
                    yield Played(move.token, None, None, None)
                case _:
                    yield from self._message(_calls(move))

    def _message(self, calls: list[_Call]) -> list[Played]:
        self._messages += 1
        played = [self._call(call) for call in calls]
        return [self._return(move, call, tool_call) for (move, tool_call), call in zip(played, calls, strict=True)]

    def _call(self, call: _Call) -> tuple[Played, ToolCall]:
        self._calls += 1
        tool, arguments = call.name.upper(), {"call": call.name.upper()}
        if call.name.islower():
            if call.mark == "?":
                tool = f"{tool}{self._calls}"
            arguments["page"] = str(self._calls)
        tool_call = ToolCall(tool, arguments, id=f"c{self._calls}", turn_id=f"m{self._messages}")
        return Played(call.token, self._calls, self._guard.before(tool_call), None), tool_call

    def _return(self, played: Played, call: _Call, tool_call: ToolCall) -> Played:
        if played.verdict is None or played.verdict.stops:
            return played
        return played._replace(after=self._guard.after(tool_call, self._outcome(call)))

    def _outcome(self, call: _Call) -> Outcome:
        if call.mark == "?":
            return Outcome.unknown_tool("unknown tool")
        match call.outcome[:1]:
            case "":
                return Outcome.missing()
            case "!":
                return Outcome.error(f"failure {call.outcome[1:]}")
            case "-":
                return Outcome.denied("refused")
            case "%":
                return Outcome.error("503 service unavailable")
            case ".":
                return Outcome.result("status: running")
            case "+":
                self._new_results += 1
                return Outcome.result(f"this is new result {self._new_results}")
            case _:
                return Outcome.result(f"this is result {call.outcome}")
