"""Codex CLI: rollout files in JSONL, `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.known_tools import TOOLS
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire import openai_responses
from wheelspin.wire.usage import tokens_in

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state")


class Codex(Reader):
    """
    Read Codex's rollouts.

    A line of the type `compacted` is a compaction; its `replacement_history` is the context that the model sees from
    then on and contains no new calls. Chunk ids, wall times and token counts are not part of a tool's outcome.
    """

    name = "codex"
    title = "Codex rollouts"
    tools = TOOLS.extended(plans=["update_plan"])

    def matches(self, head: Head) -> bool:
        """Return whether the file has lines of Codex's types with a payload."""
        return any(line.get("type") in _TYPES and isinstance(line.get("payload"), dict) for line in head.objects())

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events line by line."""
        calls = OpenCalls()
        prompts_are_events = False
        for line, entry in file.lines():
            payload = entry.get("payload")
            if not isinstance(payload, dict):
                continue
            kind = payload.get("type")
            match entry.get("type"):
                case "compacted":
                    yield Compacted(line)
                case "event_msg" if kind == "user_message":
                    prompts_are_events = True
                    yield UserMessage(line)
                case "event_msg" if kind == "token_count":
                    tokens = _tokens(payload)
                    if tokens:
                        yield TokensUsed(line, tokens)
                case "response_item" if kind in openai_responses.CALLS:
                    yield from calls.add(line, openai_responses.call_of(payload))
                case "response_item" if kind in openai_responses.OUTPUTS:
                    yield from calls.returned(line, payload.get("call_id"), payload, openai_responses.outcome_of)
                case "response_item" if kind == "message" and not prompts_are_events:
                    if openai_responses.is_prompt(payload):
                        yield UserMessage(line)


def _tokens(payload: dict[str, Any]) -> int:
    info = payload.get("info")
    return tokens_in(info.get("last_token_usage"), (), "total_tokens") if isinstance(info, dict) else 0
