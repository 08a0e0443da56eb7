"""OpenAI's responses API, which Codex uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.dialect import Dialect, Reply, Shown, ToolCalled, Turn, as_events, as_json, text_of

__all__ = ["DIALECT"]

_OUTPUTS = ("function_call_output", "custom_tool_call_output")


class Responses(Dialect):
    """`/v1/responses`."""

    def speaks(self, path: str) -> bool:
        return path.endswith("/responses")

    def has_tools(self, body: dict[str, Any]) -> bool:
        return bool(_offered(body))

    def last(self, body: dict[str, Any]) -> Any:
        given = body.get("input")
        return given[-1:] if isinstance(given, list) else given

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        given = body["input"] if isinstance(body["input"], list) else []
        results = [item for item in given if item.get("type") in _OUTPUTS]
        return [Shown(text_of(item.get("output")), is_error=False) for item in results]

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        offered = {tool.get("name"): tool for tool in _offered(body)}
        items = [_call(call, offered.get(call.tool, {})) for call in turn.asked]
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
            "created_at": 1,
            "status": "completed",
            "model": body.get("model"),
            "output": items or [{**message, "content": said}],
            "usage": usage,
        }
        return as_events(_streamed(whole)) if body.get("stream") else as_json(whole)


def _offered(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools that a request offers: in a field of their own or in items of the input, some in namespaces."""
    given = body["input"] if isinstance(body.get("input"), list) else []
    listed = [*(body.get("tools") or []), *(tool for item in given for tool in item.get("tools") or [])]
    return [
        {**tool, "namespace": one["name"]} if one.get("type") == "namespace" else tool
        for one in listed
        for tool in (one["tools"] if one.get("type") == "namespace" else [one])
    ]


def _call(call: ToolCalled, tool: dict[str, Any]) -> dict[str, Any]:
    """Return a call as an item; a tool that takes free text gets the argument `input` unchanged."""
    item = {"id": f"fc_{call.id}", "call_id": call.id, "name": call.tool, "status": "completed"}
    if tool.get("type") == "custom":
        return {"type": "custom_tool_call", **item, "input": call.arguments["input"]}
    if "namespace" in tool:
        item["namespace"] = tool["namespace"]
    return {"type": "function_call", **item, "arguments": json.dumps(call.arguments)}


def _streamed(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {"id": whole["id"], "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(whole["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


DIALECT = Responses()
