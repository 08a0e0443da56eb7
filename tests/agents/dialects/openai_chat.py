"""OpenAI's chat completions API, which Qwen Code, Copilot CLI and opencode use."""

from __future__ import annotations

import json
from typing import Any

from tests.agents.dialect import Dialect, Reply, Shown, Turn, as_events, as_json, text_of

__all__ = ["DIALECT"]


class Chat(Dialect):
    """`/v1/chat/completions`."""

    def speaks(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def last(self, body: dict[str, Any]) -> Any:
        return body.get("messages", [])[-1:]

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        results = [message for message in body["messages"] if message.get("role") == "tool"]
        return [Shown(text_of(message.get("content")), is_error=False) for message in results]

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        calls = [
            {
                "id": call.id,
                "index": place,
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
            }
            for place, call in enumerate(turn.asked)
        ]
        said = {"role": "assistant", "content": None, "tool_calls": calls} if calls else {"content": turn.text}
        message = {"role": "assistant", **said}
        ended = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": turn.tokens, "completion_tokens": 5, "total_tokens": turn.tokens + 5}
        head = {"id": f"chatcmpl-{turn.number:04}", "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": ended}
            return as_json({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        head["object"] = "chat.completion.chunk"
        chunks = [
            {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": ended}], "usage": usage},
        ]
        return as_events([*chunks, "[DONE]"], named=False)


DIALECT = Chat()
