"""The contract of a dialect: it writes a turn of the scripted model, and reads tool results from a request."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["Dialect", "Reply", "Shown", "ToolCalled", "Turn", "as_events", "as_json", "text_of"]


class ToolCalled(NamedTuple):
    """A tool call of the model."""

    id: str
    tool: str
    arguments: dict[str, Any]


class Turn(NamedTuple):
    """A message of the model: tool calls, or a text if there are none."""

    number: int
    asked: list[ToolCalled]
    text: str
    tokens: int
    """Input tokens that are reported for it."""


class Shown(NamedTuple):
    """A tool result as the model reads it."""

    text: str
    is_error: bool


class Reply(NamedTuple):
    """A response of the server."""

    content: bytes
    kind: str


class Dialect:
    """A dialect. Each is one file that defines `DIALECT`."""

    def speaks(self, path: str) -> bool:
        """Return whether a request to this path is for the model."""
        raise NotImplementedError

    def has_tools(self, body: dict[str, Any]) -> bool:
        """Return whether a request offers tools, as those of the task do."""
        return bool(body.get("tools"))

    def last(self, body: dict[str, Any]) -> Any:
        """Return the newest message of a request."""
        raise NotImplementedError

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        """Return all tool results in a request, oldest first."""
        raise NotImplementedError

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        """Return a turn as the response to a request."""
        raise NotImplementedError


def as_json(value: Any) -> Reply:
    """Return a response that is one JSON value."""
    return Reply(json.dumps(value).encode(), "application/json")


def as_events(events: Iterable[dict[str, Any] | str], *, named: bool = True) -> Reply:
    """Return a response that is a stream of events; `named` events begin with their type."""
    lines = []
    for event in events:
        head = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{head}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return Reply("".join(lines).encode(), "text/event-stream")


def text_of(content: Any) -> str:
    """Return the text of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in content or () if isinstance(block, dict))
