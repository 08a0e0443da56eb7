"""Google's `generateContent` API, which Gemini CLI uses."""

from __future__ import annotations

import json
from typing import Any

from tests.agents.dialect import Dialect, Reply, Shown, Turn, as_events, as_json

__all__ = ["DIALECT"]


class Gemini(Dialect):
    """`:generateContent` and `:streamGenerateContent`."""

    def speaks(self, path: str) -> bool:
        return path.endswith("enerateContent")

    def last(self, body: dict[str, Any]) -> Any:
        return body.get("contents", [])[-1:]

    def shown(self, body: dict[str, Any]) -> list[Shown]:
        parts = [part for message in body["contents"] for part in message.get("parts", ())]
        answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return [Shown(str(answer.get("error", answer.get("output"))), "error" in answer) for answer in answers]

    def write(self, turn: Turn, body: dict[str, Any], path: str) -> Reply:
        text = turn.text
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            text = json.dumps({"next_speaker": "user", "reasoning": "done", "complexity_score": 1})
        calls = [{"functionCall": {"name": call.tool, "args": call.arguments}} for call in turn.asked]
        usage = {"promptTokenCount": turn.tokens, "candidatesTokenCount": 5, "totalTokenCount": turn.tokens + 5}
        parts: list[dict[str, Any]] = calls or [{"text": text}]
        content = {"role": "model", "parts": parts}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
        return as_events([whole], named=False) if "stream" in path else as_json(whole)


DIALECT = Gemini()
