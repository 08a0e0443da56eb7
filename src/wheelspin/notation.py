"""The trajectory notation: calls and outcomes in a few signs, for cases, documentation and bug reports."""

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
A trajectory is written in a few signs, with or without blanks between them:

  A1              call A gives result 1; calls are capital letters
  A+              call A gives a result that it never gave before
  A!  A!2         call A fails; it fails in another way
  A-              somebody refuses call A
  A%              call A fails since a service is down
  A.              call A says that it is still running
  A               call A; what came back is never told
  a1  a!          the tool of call A, with arguments that it never had before
  ?A  ?a          call A, and there is no such tool; a tool of a new name, and there is none
  ~A1             A is a polling call
  [A1 B1]         one message asks for these calls together, then their outcomes come
  A1*20           the same twenty times over
  (A1 B1)*10      the same two ten times over
  |   |!          a compaction; one that fails
  /               a new run
"""

_TOKEN = re.compile(
    r"\s*(?:(?P<call>(?P<mark>[?~]?)(?P<name>[A-Za-z])(?P<outcome>\+|-|%|\.|![0-9]*|[0-9]+)?)"
    r"|(?P<compaction>\|!?)|(?P<run>/)|(?P<open>[(\[])|(?P<close>[)\]]))(?:\*(?P<times>[0-9]+))?"
)
_MOST_MOVES = 100_000
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
    """One move of a trajectory, and what the guard said to it."""

    token: str
    """The move as it is written."""
    call: int | None
    """Number of the call, counted from 1 over the whole trajectory; `None` for a compaction or a new run."""
    verdict: Verdict | None
    """The verdict on the call before it ran."""
    after: Verdict | None
    """The verdict on its outcome, where it ran."""


def play(
    trajectory: str, settings: Settings | None = None, *, detectors: Iterable[Detector] | None = None
) -> list[Played]:
    """
    Play a trajectory through a guard.

    Args:
        trajectory: The moves, in the notation of `NOTATION`.
        settings: What holds; without them the detectors are on, with the documented thresholds.
        detectors: What is asked, in this order.

    Returns:
        Each move, with the guard's verdicts.

    Raises:
        NotationError: The trajectory cannot be read; it says where.

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
    """Read the notation into moves, with groups and repetitions written out."""
    groups: list[tuple[str, int, list[_Move]]] = [("", 0, [])]
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            at = place + len(text[place:]) - len(text[place:].lstrip())
            raise NotationError(text, at, f"{text[at]!r} means nothing")
        moves = groups[-1][2]
        times = _times(match["times"])
        if match["open"]:
            if match["times"]:
                raise NotationError(text, match.start("times"), "a repetition stands behind the bracket that closes")
            groups.append((match["open"], match.start("open"), []))
        elif match["close"]:
            _close(groups, match["close"], times, text, match.start("close"))
        elif match["call"]:
            moves += [_Call(match["call"], match["name"], match["outcome"] or "", match["mark"])] * times
        else:
            moves += [_Sign(match["compaction"] or "/")] * times
        if len(groups[-1][2]) > _MOST_MOVES:
            raise NotationError(text, place, f"these are more than {_MOST_MOVES} moves")
        place = match.end()
    if len(groups) > 1:
        raise NotationError(text, groups[-1][1], f"{groups[-1][0]!r} is never closed")
    if not groups[0][2]:
        raise NotationError(text, 0, "there is no move")
    yield from groups[0][2]


def _times(digits: str | None) -> int:
    """Read how often a move comes; a number that is beyond all bounds is cut to one that is just too large."""
    if digits is None:
        return 1
    return int(digits) if len(digits) <= len(str(_MOST_MOVES)) else _MOST_MOVES + 1


def _close(groups: list[tuple[str, int, list[_Move]]], bracket: str, times: int, text: str, place: int) -> None:
    opened, _, inside = groups.pop() if len(groups) > 1 else ("", 0, [])
    if _PAIRS.get(opened) != bracket:
        raise NotationError(text, place, f"{bracket!r} closes nothing")
    if opened == "[":
        inside = [_Batch([call for move in inside for call in _calls(move)])]
    if len(inside) * times > _MOST_MOVES:
        raise NotationError(text, place, f"these are more than {_MOST_MOVES} moves")
    groups[-1][2].extend(inside * times)


class _Player:
    """Feeds moves to a guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._asked = 0
        self._messages = 0
        self._new = 0

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
                    yield from self._together(_calls(move))

    def _together(self, calls: list[_Call]) -> list[Played]:
        self._messages += 1
        asked = [self._ask(call) for call in calls]
        return [self._answer(played, call, tool_call) for (played, tool_call), call in zip(asked, calls, strict=True)]

    def _ask(self, call: _Call) -> tuple[Played, ToolCall]:
        self._asked += 1
        tool, arguments = call.name.upper(), {"call": call.name.upper()}
        if call.name.islower():
            if call.mark == "?":
                tool = f"{tool}{self._asked}"
            arguments["page"] = str(self._asked)
        tool_call = ToolCall(tool, arguments, id=f"c{self._asked}", turn_id=f"m{self._messages}")
        return Played(call.token, self._asked, self._guard.before(tool_call), None), tool_call

    def _answer(self, played: Played, call: _Call, tool_call: ToolCall) -> Played:
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
                self._new += 1
                return Outcome.result(f"this is new result {self._new}")
            case _:
                return Outcome.result(f"this is result {call.outcome}")
