"""OpenClaw and pi: session JSONL, as in `~/.openclaw/agents/<id>/sessions/` and `~/.pi/agent/sessions/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.source import Head, Source
from wheelspin.transcript import Answered, Asked, Compacted, Event, OpenCalls, Reader, Spent, UserSpoke
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome

_USAGE = ("input", "output", "cacheRead", "cacheWrite")


class OpenClaw(Reader):
    """
    Read sessions of OpenClaw and pi.

    The file is a tree: a user who goes back begins a branch. All branches are read, in the order in which they were
    written, since the calls of a branch that was left were made all the same.
    """

    name = "openclaw"
    title = "OpenClaw and pi sessions"

    def matches(self, head: Head) -> bool:
        """Tell it by its header line, or by messages with roles of its own."""
        if head.lines and head.lines[0].get("type") == "session":
            return True
        roles = {_message(line).get("role") for line in head.lines if line.get("type") == "message"}
        return "toolResult" in roles or ("assistant" in roles and "user" in roles)

    def read(self, source: Source) -> Iterator[Event]:
        """Give the events, line by line."""
        calls = OpenCalls()
        for line, entry in source.lines():
            match entry.get("type"):
                case "message":
                    yield from _events(line, _message(entry), calls)
                case "compaction":
                    yield Compacted(line)
                case "reset":
                    yield UserSpoke(line)
                case _:
                    pass


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    message = entry.get("message")
    return message if isinstance(message, dict) else {}


def _events(line: int, message: dict[str, Any], calls: OpenCalls) -> Iterator[Event]:
    match message.get("role"):
        case "user":
            yield UserSpoke(line)
        case "assistant":
            yield from _asked(line, message, calls)
            tokens = _tokens(message.get("usage"))
            if tokens:
                yield Spent(line, tokens)
        case "toolResult":
            answered = calls.answered(message.get("toolCallId"))
            if answered is not None:
                yield Answered(line, answered, _outcome(answered, message))
        case _:
            pass


def _asked(line: int, message: dict[str, Any], calls: OpenCalls) -> Iterator[Asked]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "toolCall":
            call_id = block.get("id")
            call = ToolCall(
                str(block.get("name") or ""),
                block.get("arguments"),
                id=call_id if isinstance(call_id, str) else None,
            )
            yield from calls.ask(line, call)


def _outcome(call: ToolCall, message: dict[str, Any]) -> Outcome:
    """Give the outcome: OpenClaw tells a command's status in the details, pi only the text."""
    content, details = message.get("content"), message.get("details")
    failed = message.get("isError") is True
    has_status = isinstance(details, dict) and "status" in details
    if call.tool.strip().lower() in SHELL_TOOLS and not has_status:
        return shell_outcome(content, failed=failed)
    if failed and not has_status:
        return Outcome.error(content)
    return Outcome.result({"content": content, "details": details})


def _tokens(usage: object) -> int:
    if not isinstance(usage, dict):
        return 0
    total = usage.get("totalTokens")
    if isinstance(total, int):
        return total
    counts = (usage.get(key) for key in _USAGE)
    return sum(count for count in counts if isinstance(count, int))
