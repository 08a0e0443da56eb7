"""The contract of a dialect: how a turn of the scripted model is written, and how the results of calls are read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["Dialect", "Reply", "Shown", "ToolCalled", "Turn", "as_events", "as_json", "text_of"]


class ToolCalled(NamedTuple):
    """A call that the model asks for."""

    id: str
    tool: str
    arguments: dict[str, Any]


class Turn(NamedTuple):
    """What the model says: calls, or a text where there are none."""

    number: int
    asked: list[ToolCalled]
    text: str
    tokens: int
    """Input tokens that it is said to have read."""


class Shown(NamedTuple):
    """A result of a call, as the model is shown it."""

    text: str
    is_error: bool


class Reply(NamedTuple):
    """What the server sends."""

    content: bytes
    kind: str


class Dialect:
    """A dialect. A member is one file with `DIALECT`."""

    def speaks(self, path: str) -> bool:
        """Tell whether a request to this path is one for the model."""
        raise NotImplementedError

    def has_tools(self, body: dict[str, Any]) -> bool:
        """Tell whether a request offers tools: those of the task itself do."""
        return bool(body.get("tools"))

    def last(self, body: dict[str, Any]) -> Any:
        """Give the newest message of a request."""
        raise NotImplementedError

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        """Give all results of calls in a request, the oldest first."""
        raise NotImplementedError

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        """Write a turn as the answer to a request."""
        raise NotImplementedError


def as_json(value: Any) -> Reply:
    """Give a reply in one piece."""
    return Reply(json.dumps(value).encode(), "application/json")


def as_events(events: Iterable[dict[str, Any] | str], *, named: bool = True) -> Reply:
    """Give a reply as a stream of events; `named` ones begin with their type."""
    lines = []
    for event in events:
        head = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{head}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return Reply("".join(lines).encode(), "text/event-stream")


def text_of(content: Any) -> str:
    """Give the text of a message's content: a text, or blocks with texts in them."""
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in content or () if isinstance(block, dict))
