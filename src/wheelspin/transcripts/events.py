"""Wheelspin's own event log: JSONL with one event per line, for tests and for hosts that write their own log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.transcripts.base import (
    Compacted,
    ConfigChanged,
    Event,
    Reader,
    RunStarted,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import outcome_without_advice

_MOST_OPEN = 10_000
_TYPES = ("config", "call", "result", "compaction", "user_message", "run_start")


class Events(Reader):
    """
    Read Wheelspin's own event logs.

    ```
    {"type":"config","tools":{"loopDetection":{…}},"agents":{…}}      the configuration; optional, first line
    {"type":"call","tool":"read","args":{…},"id":"c1","turn":"t1","run":"r1","agent":"main","session":"s1"}
    {"type":"result","id":"c1","run":"r1","result":…}                 or "error":"…" with "error_kind":"…"
    {"type":"compaction","ok":true,"agent":"main","session":"s1"}
    {"type":"user_message"}
    {"type":"run_start","run":"r2"}
    ```

    Every key except `type` and `tool` is optional; the agent defaults to `main`. A result belongs to the newest open
    call with its id, or to the newest open call if it has no id. A result without `result` and `error` is an outcome
    that the host never learned. The error kinds `unknown_tool` and `denied` are outcomes of their own.
    """

    name = "events"
    title = "events"

    def matches(self, head: Head) -> bool:
        """Return whether the first line has the type of an event."""
        return head.first is not None and head.first.get("type") in _TYPES

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events line by line."""
        open_calls = _OpenCalls()
        for line, entry in file.lines():
            session, agent = _text(entry.get("session")), _text(entry.get("agent")) or "main"
            match entry.get("type"):
                case "call":
                    call = _call(entry, session, agent)
                    open_calls.add(call)
                    yield ToolCalled(line, call)
                case "result":
                    returned = open_calls.pop(_text(entry.get("id")), _text(entry.get("run")))
                    if returned is None:
                        file.note(line, "a result without a call")
                    else:
                        yield ToolReturned(line, returned, outcome_without_advice(returned, entry, _outcome))
                case "compaction":
                    yield Compacted(line, session, agent, entry.get("ok") is not False)
                case "user_message":
                    yield UserMessage(line, session, agent)
                case "run_start":
                    yield RunStarted(line, _text(entry.get("run")) or "", session, agent)
                case "config":
                    yield ConfigChanged(line, {key: value for key, value in entry.items() if key != "type"})
                case other:
                    file.note(line, f"unknown event type {other!r}")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) or value is None else str(value)


def _call(entry: dict[str, Any], session: str | None, agent: str) -> ToolCall:
    return ToolCall(
        entry.get("tool", ""),
        entry.get("args"),
        id=_text(entry.get("id")),
        turn_id=_text(entry.get("turn")),
        run_id=_text(entry.get("run")),
        session_id=session,
        agent_id=agent,
    )


class _OpenCalls:
    """The calls without a result, oldest first; a call that is announced again becomes the newest."""

    def __init__(self) -> None:
        self._calls: dict[object, ToolCall] = {}

    def add(self, call: ToolCall) -> None:
        key = (call.id, call.run_id) if call.id is not None else object()
        self._calls.pop(key, None)
        self._calls[key] = call
        if len(self._calls) > _MOST_OPEN:
            del self._calls[next(iter(self._calls))]

    def pop(self, call_id: str | None, run_id: str | None) -> ToolCall | None:
        """Remove and return the newest call that matches the ids."""
        for key in reversed(self._calls):
            call = self._calls[key]
            if call_id in {None, call.id} and run_id in {None, call.run_id}:
                return self._calls.pop(key)
        return None


def _outcome(_call: ToolCall, entry: dict[str, Any]) -> Outcome:
    if "error" in entry:
        kind = _text(entry.get("error_kind")) or ""
        if kind == "unknown_tool":
            return Outcome.unknown_tool(entry["error"])
        return Outcome.denied(entry["error"]) if kind == "denied" else Outcome.error(entry["error"], kind)
    return Outcome.result(entry["result"]) if "result" in entry else Outcome.missing()
