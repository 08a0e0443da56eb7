"""Anthropic's messages API, which Claude Code uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.dialect import Dialect, Reply, Shown, Turn, as_events, as_json, text_of

__all__ = ["DIALECT"]


class Anthropic(Dialect):
    """`/v1/messages`."""

    def speaks(self, path: str) -> bool:
        return path.endswith("/messages")

    def last(self, body: dict[str, Any]) -> Any:
        return body.get("messages", [])[-1:]

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
        return [
            Shown(text_of(block.get("content")), block.get("is_error") is True)
            for content in contents
            for block in content
            if block.get("type") == "tool_result"
        ]

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        whole = _whole(turn, str(body.get("model")))
        return as_events(_streamed(whole)) if body.get("stream") else as_json(whole)


def _whole(turn: Turn, model: str) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments} for call in turn.asked]
    usage = {"input_tokens": turn.tokens, "output_tokens": 5}
    return {
        "id": f"msg_{turn.number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": calls or [{"type": "text", "text": turn.text}],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {**usage, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }


def _streamed(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


DIALECT = Anthropic()
