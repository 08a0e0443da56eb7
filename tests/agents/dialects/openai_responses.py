"""OpenAI's responses: Codex."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.dialect import Dialect, Reply, Shown, Turn, as_events, as_json, text_of

__all__ = ["DIALECT"]


class Responses(Dialect):
    """`/v1/responses`."""

    def speaks(self, path: str) -> bool:
        return path.endswith("/responses")

    def last(self, body: dict[str, Any]) -> Any:
        given = body.get("input")
        return given[-1:] if isinstance(given, list) else given

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        given = body["input"] if isinstance(body["input"], list) else []
        results = [item for item in given if item.get("type") == "function_call_output"]
        return [Shown(text_of(item.get("output")), is_error=False) for item in results]

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        items: list[dict[str, Any]] = [
            {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.tool,
                "arguments": json.dumps(call.arguments),
                "status": "completed",
            }
            for call in turn.asked
        ]
        said = [{"type": "output_text", "text": turn.text, "annotations": []}]
        message = {"type": "message", "id": f"m_{turn.number:04}", "role": "assistant", "status": "completed"}
        usage = {
            "input_tokens": turn.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.tokens + 5,
        }
        whole = {
            "id": f"resp_{turn.number:04}",
            "object": "response",
            "status": "completed",
            "model": body.get("model"),
            "output": items or [{**message, "content": said}],
            "usage": usage,
        }
        return as_events(_streamed(whole)) if body.get("stream") else as_json(whole)


def _streamed(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {"id": whole["id"], "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(whole["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


DIALECT = Responses()
