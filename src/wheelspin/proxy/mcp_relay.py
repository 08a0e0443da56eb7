"""
A guard for MCP sessions, and the relay between an MCP client and an MCP server.

MCP has sessions but no runs. A session may last as long as the client's process, over many tasks, so a call that
follows a long idle time starts a new run.
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

__all__ = ["RUN_IDLE_TIMEOUT", "GuardedSessions", "Relay", "advice_for"]

RUN_IDLE_TIMEOUT = 600.0
"""Seconds that a session must be idle for its next call to start a new run."""
_MAX_KEPT = 2000
"""Number of sessions, and of unanswered calls per session, that are kept."""


class GuardedSessions:
    """
    The calls of MCP sessions under one guard.

    Args:
        guard: The guard.
        clock: Returns the time in seconds since any fixed point.
    """

    def __init__(self, guard: Guard, clock: Callable[[], float] = time.monotonic) -> None:
        self.guard = guard
        self._clock = clock
        self._last_active: dict[str, float] = {}
        self._lock = Lock()

    @property
    def can_advise(self) -> bool:
        """Whether the guard may add advice: it is enabled and does not only observe."""
        return self.guard.settings.enabled is not False and self.guard.settings.mode != "observe"

    def watch(self, call: ToolCall, *, is_retry: bool = False) -> Watch:
        """
        Watch a call.

        Args:
            call: The call, with its session.
            is_retry: Whether the client repeats the call with the input that the server asked for. Such a call counts
                once.
        """
        session = str(call.session_id)
        now = self._clock()
        if now - self._touch(session, now) > RUN_IDLE_TIMEOUT:
            self.guard.user_message(call.session_id)
        if not is_retry:
            return Watch(self.guard, call)
        without_id = ToolCall(call.tool, call.arguments, session_id=call.session_id)
        is_open = self.guard.asked(without_id) is not None
        return _RetriedCall(self.guard, without_id) if is_open else Watch(self.guard, call)

    def mark_active(self, session_id: str) -> None:
        """Note that a session is not idle: the outcome of a call has arrived."""
        self._touch(session_id, self._clock())

    def _touch(self, session: str, now: float) -> float:
        with self._lock:
            before = self._last_active.pop(session, now)
            self._last_active[session] = now
            if len(self._last_active) > _MAX_KEPT:
                del self._last_active[next(iter(self._last_active))]
        return before


class _RetriedCall(Watch):
    """A call that was checked before and is still open."""

    __slots__ = ()

    def __init__(self, guard: Guard, call: ToolCall) -> None:
        self._guard = guard
        self._call = call
        ended = guard.ending(None, call.session_id)
        self.verdict = ended or guard.asked(call) or guard.before(call)


def advice_for(watch: Watch, outcome: Callable[[], Outcome]) -> str:
    """
    Record the outcome of a call and return the advice for the model.

    If the run has ended, the advice says so: MCP itself cannot end a run.
    """
    try:
        return watch.record_outcome(outcome)
    except ToolLoopError as ended:
        return ended.verdict.advice


class Relay:
    """
    One session between a client and a server.

    Each message is one line of JSON. Lines are forwarded unchanged, except that calls stopped by the guard are answered
    here and advice is added to answers. The methods do not raise; a line that is not understood is forwarded.

    Args:
        sessions: The guarded sessions that this one belongs to.
        session_id: Id of the session.

    Example:
        >>> relay = Relay(GuardedSessions(Guard()), "s1")
        >>> relay.from_client(
        ...     b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}'
        ... ) is None
        True
        >>> relay.from_server(b'{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}')
        b'{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}'
    """

    def __init__(self, sessions: GuardedSessions, session_id: str) -> None:
        self._sessions = sessions
        self._session_id = session_id
        self._open: dict[tuple[type, Any] | None, Watch | None] = {}
        """The watches of unanswered calls, by request id; `None` for an unanswered `tools/list`."""

    def from_client(self, line: bytes) -> bytes | None:
        """
        Handle a line from the client.

        Returns:
            The answer for the client, or `None` if the line must be forwarded to the server.
        """
        if b"tools" not in line and b"cancelled" not in line:
            return None
        message = _parse(line)
        try:
            return None if message is None else self._handle_request(message)
        except Exception as crash:
            self._sessions.guard.crashed("the relay", crash)
            return None

    def from_server(self, line: bytes) -> bytes:
        """Handle a line from the server, and return the line for the client."""
        if not self._open:
            return line
        message = _parse(line)
        try:
            changed = self._handle_answer(message) if message is not None and "method" not in message else None
            return line if changed is None else orjson.dumps(changed)
        except Exception as crash:
            self._sessions.guard.crashed("the relay", crash)
            return line

    def _handle_request(self, message: dict[str, Any]) -> bytes | None:
        method, given = message.get("method"), message.get("params")
        params: dict[str, Any] = given if isinstance(given, dict) else {}
        if method == "notifications/cancelled":
            self._open.pop(_key(params.get("requestId")), None)
            return None
        if _key(message.get("id")) is None or method not in ("tools/call", "tools/list"):
            return None
        if method == "tools/list":
            if self._sessions.can_advise:
                self._add_open(message["id"], None)
            return None
        is_retry = "inputResponses" in params or "requestState" in params
        name, arguments, request_id = str(params.get("name")), params.get("arguments") or {}, str(message["id"])
        call = ToolCall(name, arguments, id=request_id, session_id=self._session_id)
        watch = self._sessions.watch(call, is_retry=is_retry)
        if watch.verdict.stops:
            result = refusal(watch.verdict.advice, params)
            return orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self._add_open(message["id"], watch)
        return None

    def _add_open(self, request_id: Any, watch: Watch | None) -> None:
        self._open[_key(request_id)] = watch
        if len(self._open) > _MAX_KEPT:
            del self._open[next(iter(self._open))]

    def _handle_answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the message that replaces the server's, or `None` if it is forwarded unchanged."""
        key = _key(message.get("id"))
        if key not in self._open:
            return None
        watch = self._open.pop(key)
        result, error = message.get("result"), message.get("error")
        if watch is None:
            return _with_advice_property(message, result) if isinstance(result, dict) else None
        self._sessions.mark_active(self._session_id)
        if isinstance(error, dict):
            advice = advice_for(watch, lambda: Outcome.error(error.get("message"), str(error.get("code"))))
            text = f"{error.get('message')}\n\n{advice}"
            return {**message, "error": {**error, "message": text}} if advice else None
        outcome = outcome_of(result) if isinstance(result, dict) else None
        if outcome is None or not isinstance(result, dict):
            return None
        advice = advice_for(watch, lambda: outcome)
        return {**message, "result": advised(result, advice)} if advice else None


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the message in a line, or `None` if it holds none."""
    try:
        message = orjson.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def _key(request_id: Any) -> tuple[type, Any] | None:
    """Return the key of a request id, which keeps 1 and "1" apart; `None` if it is not a valid id."""
    return (type(request_id), request_id) if isinstance(request_id, str | int | float) else None


def _with_advice_property(message: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
    """Return a list of tools whose output schemas allow for advice, or `None` if nothing changes."""
    tools = result.get("tools")
    if not isinstance(tools, list) or not any(isinstance(tool, dict) and "outputSchema" in tool for tool in tools):
        return None
    return {**message, "result": {**result, "tools": [_tool_with_advice_property(tool) for tool in tools]}}


def _tool_with_advice_property(tool: Any) -> Any:
    schema = tool.get("outputSchema") if isinstance(tool, dict) else None
    if not isinstance(schema, dict):
        return tool
    wide = widened(schema)
    if wide is not None:
        return {**tool, "outputSchema": wide}
    return {key: value for key, value in tool.items() if key != "outputSchema"}
