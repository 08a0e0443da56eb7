"""The forms of a conversation in a request: OpenAI's chat and responses, and Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["SHAPES", "Call", "Shape"]


class Call(NamedTuple):
    """A tool call and its result."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: Any
    fails: bool = False


class Shape:
    """A form of conversation; its methods return messages or items."""

    name = "chat"
    key = "messages"
    marks_errors = False

    def prompt(self, text: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": text}]

    def asked(self, calls: Iterable[Call]) -> list[dict[str, Any]]:
        made = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
            }
            for call in calls
        ]
        return [{"role": "assistant", "content": None, "tool_calls": made}]

    def answered(self, calls: Iterable[Call]) -> list[dict[str, Any]]:
        return [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in calls]

    def compaction(self) -> list[dict[str, Any]]:
        """Return a compaction, as LiteLLM keeps Anthropic's blocks."""
        blocks = [{"type": "compaction", "content": "summary"}]
        return [{"role": "assistant", "content": "ok", "provider_specific_fields": {"compaction_blocks": blocks}}]

    def results(self, entries: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
        """Return the results in a conversation by the ids of their calls."""
        found: dict[str, list[Any]] = {}
        for entry in entries:
            if entry.get("role") == "tool":
                found.setdefault(entry["tool_call_id"], []).append(entry["content"])
        return found

    def step(self, *calls: Call) -> list[dict[str, Any]]:
        """Return a message of the model, and the results of its calls."""
        return [*self.asked(calls), *self.answered(calls)]


class _Messages(Shape):
    name = "messages"
    marks_errors = True

    def asked(self, calls: Iterable[Call]) -> list[dict[str, Any]]:
        uses = [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments} for call in calls]
        return [{"role": "assistant", "content": uses}]

    def answered(self, calls: Iterable[Call]) -> list[dict[str, Any]]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": call.result, "is_error": call.fails}
            for call in calls
        ]
        return [{"role": "user", "content": blocks}]

    def compaction(self) -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": [{"type": "compaction", "content": "summary"}]}]

    def results(self, entries: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for entry in entries:
            for block in entry["content"] if isinstance(entry["content"], list) else ():
                if block["type"] == "tool_result":
                    found.setdefault(block["tool_use_id"], []).append(block["content"])
        return found


class _Responses(Shape):
    name = "responses"
    key = "input"

    def asked(self, calls: Iterable[Call]) -> list[dict[str, Any]]:
        return [
            {"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": json.dumps(call.arguments)}
            for call in calls
        ]

    def answered(self, calls: Iterable[Call]) -> list[dict[str, Any]]:
        return [{"type": "function_call_output", "call_id": call.id, "output": call.result} for call in calls]

    def compaction(self) -> list[dict[str, Any]]:
        return [{"type": "compaction", "encrypted_content": "summary"}]

    def results(self, entries: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for entry in entries:
            if entry.get("type") == "function_call_output":
                found.setdefault(entry["call_id"], []).append(entry["output"])
        return found


SHAPES = (Shape(), _Messages(), _Responses())
