"""OpenClaw and pi: sessions in JSONL, in `~/.openclaw/agents/<id>/sessions/` and `~/.pi/agent/sessions/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome
from wheelspin.wire.usage import tokens_in

_USAGE = ("input", "output", "cacheRead", "cacheWrite")


class OpenClaw(Reader):
    """
    Read sessions of OpenClaw and pi.

    A session is a tree: a user who goes back starts a new branch. All branches are read, in the order in which they
    were written, since the calls of an abandoned branch were made as well.
    """

    name = "openclaw"
    title = "OpenClaw and pi sessions"

    def matches(self, head: Head) -> bool:
        """Return whether the file has OpenClaw's header line, or messages with its roles."""
        if head.first is not None and head.first.get("type") == "session":
            return True
        roles = [_message(line).get("role") for line in head.objects() if line.get("type") == "message"]
        return "toolResult" in roles or ("assistant" in roles and "user" in roles)

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events line by line."""
        calls = OpenCalls()
        for line, entry in file.lines():
            message = entry.get("message")
            if type(message) is dict:
                role = message.get("role")
                if role == "assistant":
                    yield from _calls(line, message, calls)
                    tokens = tokens_in(message.get("usage"), _USAGE, "totalTokens")
                    if tokens:
                        yield TokensUsed(line, tokens)
                elif role == "toolResult":
                    yield from calls.returned(line, message.get("toolCallId"), message, _outcome)
                elif role == "user":
                    yield UserMessage(line)
            elif entry.get("type") == "compaction":
                yield Compacted(line)
            elif entry.get("type") == "reset":
                yield UserMessage(line)


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    message = entry.get("message")
    return message if isinstance(message, dict) else {}


def _calls(line: int, message: dict[str, Any], calls: OpenCalls) -> list[Event]:
    """Return the events of the calls in a message of the assistant."""
    content = message.get("content")
    events: list[Event] = []
    for block in content if type(content) is list else ():
        if type(block) is dict and block.get("type") == "toolCall":
            call_id, name = block.get("id"), block.get("name")
            call = ToolCall(
                name if type(name) is str else "",
                block.get("arguments"),
                id=call_id if type(call_id) is str else None,
            )
            events += calls.add(line, call)
    return events


def _outcome(call: ToolCall, message: dict[str, Any]) -> Outcome:
    """Return the outcome. OpenClaw records the status of a command in the details; pi records only the text."""
    content, details = message.get("content"), message.get("details")
    failed = message.get("isError") is True
    has_status = isinstance(details, dict) and "status" in details
    if call.tool.strip().lower() in SHELL_TOOLS and not has_status:
        return shell_outcome(content, failed=failed)
    if failed and not has_status:
        return Outcome.error(content)
    return Outcome.result({"content": content, "details": details})
