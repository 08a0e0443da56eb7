"""
The calls of MCP sessions under a guard, and what stands between a client and a server of MCP.

MCP has sessions and no runs. A session may last as long as the client's program, over many tasks: what follows a long
quiet time is a new run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

import orjson

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import Watch
from wheelspin.wire.mcp import advised, outcome_of, refusal, widened

__all__ = ["QUIET", "Calls", "Relay", "advice_of"]

QUIET = 600.0
"""Seconds without a call after which a session is in a new run."""
_MOST = 2000


class Calls:
    """
    The calls of sessions under a guard.

    Args:
        guard: The guard.
        clock: Gives the time in seconds, from any beginning.
    """

    def __init__(self, guard: Guard, clock: Callable[[], float] = time.monotonic) -> None:
        self.guard = guard
        self._clock = clock
        self._heard: dict[str, float] = {}
        self._lock = Lock()

    @property
    def speaks(self) -> bool:
        """Whether an advice may be given: the guard is on, and does more than observe."""
        return self.guard.settings.enabled is not False and self.guard.settings.mode != "observe"

    def ask(self, call: ToolCall, *, again: bool = False) -> Watch:
        """
        Ask about a call.

        Args:
            call: The call, with its session.
            again: Whether it is the same call once more, with the input that the server asked for: it counts once.
        """
        session = str(call.session_id)
        now = self._clock()
        if now - self._note(session, now) > QUIET:
            self.guard.user_message(call.session_id)
        if not again:
            return Watch(self.guard, call)
        asked = ToolCall(call.tool, call.arguments, session_id=call.session_id)
        return _Again(self.guard, asked) if self.guard.asked(asked) is not None else Watch(self.guard, call)

    def heard(self, session_id: str) -> None:
        """Take note that a session is not quiet: an outcome came."""
        self._note(session_id, self._clock())

    def _note(self, session: str, now: float) -> float:
        with self._lock:
            before = self._heard.pop(session, now)
            self._heard[session] = now
            if len(self._heard) > _MOST:
                del self._heard[next(iter(self._heard))]
        return before


class _Again(Watch):
    """A call that was asked about before, and is still open."""

    __slots__ = ()

    def __init__(self, guard: Guard, call: ToolCall) -> None:
        self._guard = guard
        self._call = call
        ended = guard.ending(None, call.session_id)
        self.verdict = ended or guard.asked(call) or guard.before(call)


def advice_of(watch: Watch, outcome: Callable[[], Outcome]) -> str:
    """Tell what came back, and give the advice for the model: also of a run's end, since MCP cannot end one."""
    try:
        return watch.record_outcome(outcome)
    except ToolLoopError as ended:
        return ended.verdict.advice


class Relay:
    """
    One session between a client and a server: lines pass as they are, but for calls of tools that the guard stops.

    A line is one message as JSON. Nothing here raises: what is not understood passes.

    Args:
        calls: The calls under a guard.
        session_id: The session.

    Example:
        >>> relay = Relay(Calls(Guard()), "s1")
        >>> relay.asked(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}') is None
        True
        >>> relay.answered(b'{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}')
        b'{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}'
    """

    def __init__(self, calls: Calls, session_id: str) -> None:
        self._calls = calls
        self._session = session_id
        self._open: dict[tuple[type, Any] | None, Watch | None] = {}
        """The calls that wait for an answer, by their ids; `None` for a question for the tools."""

    def asked(self, line: bytes) -> bytes | None:
        """
        Take in what the client sends.

        Returns:
            What the client is answered in place of the server; `None` where the server is to get the line.
        """
        if b"tools" not in line and b"cancelled" not in line:
            return None
        message = _read(line)
        try:
            return None if message is None else self._asked(message)
        except Exception as crash:
            self._calls.guard.crashed("the relay", crash)
            return None

    def answered(self, line: bytes) -> bytes:
        """Take in what the server sends; give what the client gets."""
        if not self._open:
            return line
        message = _read(line)
        try:
            changed = self._answered(message) if message is not None and "method" not in message else None
            return line if changed is None else orjson.dumps(changed)
        except Exception as crash:
            self._calls.guard.crashed("the relay", crash)
            return line

    def _asked(self, message: dict[str, Any]) -> bytes | None:
        method, given = message.get("method"), message.get("params")
        params: dict[str, Any] = given if isinstance(given, dict) else {}
        if method == "notifications/cancelled":
            self._open.pop(_key(params.get("requestId")), None)
            return None
        if _key(message.get("id")) is None or method not in ("tools/call", "tools/list"):
            return None
        if method == "tools/list":
            if self._calls.speaks:
                self._wait(message["id"], None)
            return None
        again = "inputResponses" in params or "requestState" in params
        name, arguments, number = str(params.get("name")), params.get("arguments") or {}, str(message["id"])
        watch = self._calls.ask(ToolCall(name, arguments, id=number, session_id=self._session), again=again)
        if watch.verdict.stops:
            result = refusal(watch.verdict.advice, params)
            return orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self._wait(message["id"], watch)
        return None

    def _wait(self, number: Any, watch: Watch | None) -> None:
        self._open[_key(number)] = watch
        if len(self._open) > _MOST:
            del self._open[next(iter(self._open))]

    def _answered(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Give a message in place of the server's; `None` where it stays as it is."""
        key = _key(message.get("id"))
        if key not in self._open:
            return None
        watch = self._open.pop(key)
        result, error = message.get("result"), message.get("error")
        if watch is None:
            return _with_room(message, result) if isinstance(result, dict) else None
        self._calls.heard(self._session)
        if isinstance(error, dict):
            advice = advice_of(watch, lambda: Outcome.error(error.get("message"), str(error.get("code"))))
            said = f"{error.get('message')}\n\n{advice}"
            return {**message, "error": {**error, "message": said}} if advice else None
        outcome = outcome_of(result) if isinstance(result, dict) else None
        if outcome is None or not isinstance(result, dict):
            return None
        advice = advice_of(watch, lambda: outcome)
        return {**message, "result": advised(result, advice)} if advice else None


def _read(line: bytes) -> dict[str, Any] | None:
    """Give a message; `None` for a line that is none."""
    try:
        message = orjson.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def _key(number: Any) -> tuple[type, Any] | None:
    """Give a request's id as it is told from others: 1 is not "1"; `None` for what is no id."""
    return (type(number), number) if isinstance(number, str | int | float) else None


def _with_room(message: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
    """Give a list of tools whose schemas have room for an advice."""
    tools = result.get("tools")
    if not isinstance(tools, list) or not any(isinstance(tool, dict) and "outputSchema" in tool for tool in tools):
        return None
    return {**message, "result": {**result, "tools": [_room_in(tool) for tool in tools]}}


def _room_in(tool: Any) -> Any:
    schema = tool.get("outputSchema") if isinstance(tool, dict) else None
    if not isinstance(schema, dict):
        return tool
    wide = widened(schema)
    if wide is not None:
        return {**tool, "outputSchema": wide}
    return {key: value for key, value in tool.items() if key != "outputSchema"}
